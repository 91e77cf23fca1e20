"""Definitions of further kinds."""

# upstream: apiextensions-apiserver/pkg/apis/apiextensions/v1/{types,types_jsonschema}.go (v1.36)

TYPES = """
string: ConversionStrategyType, ResourceScope, ConditionStatus, CustomResourceDefinitionConditionType
string: JSONSchemaURL, FieldValueErrorReason

CustomResourceDefinition kind: spec=2! CustomResourceDefinitionSpec, status=3 CustomResourceDefinitionStatus
CustomResourceDefinitionSpec: group=1!, names=3! CustomResourceDefinitionNames, scope=4! ResourceScope
    versions=7! []CustomResourceDefinitionVersion atomic, conversion=9 *CustomResourceConversion
    preserveUnknownFields=10 bool
CustomResourceDefinitionNames: plural=1!, singular=2, shortNames=3 []string atomic, kind=4!, listKind=5
    categories=6 []string atomic
CustomResourceConversion: strategy=1! ConversionStrategyType, webhook=2 *WebhookConversion
WebhookConversion: clientConfig=2 *WebhookClientConfig, conversionReviewVersions=3! []string atomic
WebhookClientConfig: url=3 *string, service=1 *ServiceReference, caBundle=2 bytes
ServiceReference: namespace=1!, name=2!, path=3 *string, port=4 *int32
CustomResourceDefinitionVersion: name=1!, served=2! bool, storage=3! bool, deprecated=7 bool
    deprecationWarning=8 *string, schema=4 *CustomResourceValidation, subresources=5 *CustomResourceSubresources
    additionalPrinterColumns=6 []CustomResourceColumnDefinition atomic, selectableFields=9 []SelectableField atomic
SelectableField: jsonPath=1!
CustomResourceColumnDefinition: name=1!, type=2!, format=3, description=4, priority=5 int32, jsonPath=6!
CustomResourceValidation: openAPIV3Schema=1 *JSONSchemaProps
CustomResourceSubresources: status=1 *CustomResourceSubresourceStatus, scale=2 *CustomResourceSubresourceScale
CustomResourceSubresourceStatus:
CustomResourceSubresourceScale: specReplicasPath=1!, statusReplicasPath=2!, labelSelectorPath=3 *string
CustomResourceDefinitionStatus: conditions=1! []CustomResourceDefinitionCondition map(type) optional
    acceptedNames=2! CustomResourceDefinitionNames optional, storedVersions=3! []string atomic optional
    observedGeneration=4 int64
CustomResourceDefinitionCondition: type=1! CustomResourceDefinitionConditionType, status=2! ConditionStatus
    lastTransitionTime=3 Time, reason=4, message=5, observedGeneration=6 int64

JSONSchemaProps: id=1, $schema=2 JSONSchemaURL, $ref=3 *string, description=4, type=5, format=6, title=7
    default=8 *JSON, maximum=9 *float64, exclusiveMaximum=10 bool, minimum=11 *float64, exclusiveMinimum=12 bool
    maxLength=13 *int64, minLength=14 *int64, pattern=15, maxItems=16 *int64, minItems=17 *int64, uniqueItems=18 bool
    multipleOf=19 *float64, enum=20 []JSON atomic, maxProperties=21 *int64, minProperties=22 *int64
    required=23 []string atomic, items=24 *JSONSchemaPropsOrArray, allOf=25 []JSONSchemaProps atomic
    oneOf=26 []JSONSchemaProps atomic, anyOf=27 []JSONSchemaProps atomic, not=28 *JSONSchemaProps
    properties=29 map[string]JSONSchemaProps, additionalProperties=30 *JSONSchemaPropsOrBool
    patternProperties=31 map[string]JSONSchemaProps, dependencies=32 map[string]JSONSchemaPropsOrStringArray
    additionalItems=33 *JSONSchemaPropsOrBool, definitions=34 map[string]JSONSchemaProps
    externalDocs=35 *ExternalDocumentation, example=36 *JSON, nullable=37 bool
    x-kubernetes-preserve-unknown-fields=38 *bool, x-kubernetes-embedded-resource=39 bool
    x-kubernetes-int-or-string=40 bool, x-kubernetes-list-map-keys=41 []string atomic
    x-kubernetes-list-type=42 *string, x-kubernetes-map-type=43 *string
    x-kubernetes-validations=44 []ValidationRule by(rule)
ValidationRule: rule=1!, message=2, messageExpression=3, reason=4 *FieldValueErrorReason, fieldPath=5
    optionalOldSelf=6 *bool
ExternalDocumentation: description=1, url=2
"""
