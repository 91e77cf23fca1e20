"""Events as events.k8s.io has them."""

# upstream: api/events/v1/types.go (v1.36)

TYPES = """
Event kind: +TypeMeta, metadata! ObjectMeta optional, eventTime! MicroTime, series *EventSeries, reportingController
    reportingInstance, action, reason, regarding ObjectReference, related *ObjectReference, note, type
    deprecatedSource EventSource, deprecatedFirstTimestamp Time, deprecatedLastTimestamp Time, deprecatedCount int32
EventSeries: count! int32, lastObservedTime! MicroTime
"""
