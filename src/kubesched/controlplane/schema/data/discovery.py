"""Slices of the addresses behind services."""

# upstream: api/discovery/v1/types.go (v1.36)

TYPES = """
string: AddressType

EndpointSlice kind: addressType! AddressType, endpoints! []Endpoint atomic optional
    ports! []EndpointPort atomic optional
Endpoint: addresses! []string set, conditions EndpointConditions, hostname *string, targetRef *ObjectReference
    deprecatedTopology map[string]string, nodeName *string, zone *string, hints *EndpointHints
EndpointConditions: ready *bool, serving *bool, terminating *bool
EndpointHints: forZones []ForZone atomic, forNodes []ForNode atomic
ForZone: name!
ForNode: name!
EndpointPort atomic: name *string, protocol *Protocol, port *int32, appProtocol *string
"""
