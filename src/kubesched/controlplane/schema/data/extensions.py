"""Definitions of further kinds."""

# upstream: apiextensions-apiserver/pkg/apis/apiextensions/v1/{types,types_jsonschema}.go (v1.36)

TYPES = """
string: ConversionStrategyType, ResourceScope, ConditionStatus, CustomResourceDefinitionConditionType
string: JSONSchemaURL, FieldValueErrorReason

CustomResourceDefinition kind: spec! CustomResourceDefinitionSpec, status CustomResourceDefinitionStatus
CustomResourceDefinitionSpec: group!, names! CustomResourceDefinitionNames, scope! ResourceScope
    versions! []CustomResourceDefinitionVersion atomic, conversion *CustomResourceConversion
    preserveUnknownFields bool
CustomResourceDefinitionNames: plural!, singular, shortNames []string atomic, kind!, listKind
    categories []string atomic
CustomResourceConversion: strategy! ConversionStrategyType, webhook *WebhookConversion
WebhookConversion: clientConfig *WebhookClientConfig, conversionReviewVersions! []string atomic
WebhookClientConfig: url *string, service *ServiceReference, caBundle bytes
ServiceReference: namespace!, name!, path *string, port *int32
CustomResourceDefinitionVersion: name!, served! bool, storage! bool, deprecated bool, deprecationWarning *string
    schema *CustomResourceValidation, subresources *CustomResourceSubresources
    additionalPrinterColumns []CustomResourceColumnDefinition atomic, selectableFields []SelectableField atomic
SelectableField: jsonPath!
CustomResourceColumnDefinition: name!, type!, format, description, priority int32, jsonPath!
CustomResourceValidation: openAPIV3Schema *JSONSchemaProps
CustomResourceSubresources: status *CustomResourceSubresourceStatus, scale *CustomResourceSubresourceScale
CustomResourceSubresourceStatus:
CustomResourceSubresourceScale: specReplicasPath!, statusReplicasPath!, labelSelectorPath *string
CustomResourceDefinitionStatus: conditions! []CustomResourceDefinitionCondition map(type) optional
    acceptedNames! CustomResourceDefinitionNames optional, storedVersions! []string atomic optional
    observedGeneration int64
CustomResourceDefinitionCondition: type! CustomResourceDefinitionConditionType, status! ConditionStatus
    lastTransitionTime Time, reason, message, observedGeneration int64

JSONSchemaProps: id, $schema JSONSchemaURL, $ref *string, description, type, format, title, default *Any
    maximum *float64, exclusiveMaximum bool, minimum *float64, exclusiveMinimum bool
    maxLength *int64, minLength *int64, pattern, maxItems *int64, minItems *int64, uniqueItems bool
    multipleOf *float64, enum []Any atomic, maxProperties *int64, minProperties *int64
    required []string atomic, items *JSONSchemaPropsOrArray
    allOf []JSONSchemaProps atomic, oneOf []JSONSchemaProps atomic
    anyOf []JSONSchemaProps atomic, not *JSONSchemaProps, properties map[string]JSONSchemaProps
    additionalProperties *JSONSchemaPropsOrBool, patternProperties map[string]JSONSchemaProps
    dependencies map[string]JSONSchemaPropsOrStringArray, additionalItems *JSONSchemaPropsOrBool
    definitions map[string]JSONSchemaProps, externalDocs *ExternalDocumentation
    example *Any, nullable bool, x-kubernetes-preserve-unknown-fields *bool
    x-kubernetes-embedded-resource bool, x-kubernetes-int-or-string bool
    x-kubernetes-list-map-keys []string atomic, x-kubernetes-list-type *string, x-kubernetes-map-type *string
    x-kubernetes-validations []ValidationRule by(rule)
ValidationRule: rule!, message, messageExpression, reason *FieldValueErrorReason, fieldPath, optionalOldSelf *bool
ExternalDocumentation: description, url
"""
