"""Slices of the addresses behind services."""

# upstream: api/discovery/v1/types.go (v1.36)

TYPES = """
string: AddressType

EndpointSlice kind: addressType=4! AddressType, endpoints=2! []Endpoint atomic optional
    ports=3! []EndpointPort atomic optional
Endpoint: addresses=1! []string set, conditions=2 EndpointConditions, hostname=3 *string, targetRef=4 *ObjectReference
    deprecatedTopology=5 map[string]string, nodeName=6 *string, zone=7 *string, hints=8 *EndpointHints
EndpointConditions: ready=1 *bool, serving=2 *bool, terminating=3 *bool
EndpointHints: forZones=1 []ForZone atomic, forNodes=2 []ForNode atomic
ForZone: name=1!
ForNode: name=1!
EndpointPort atomic: name=1 *string, protocol=2 *Protocol, port=3 *int32, appProtocol=4 *string
"""
