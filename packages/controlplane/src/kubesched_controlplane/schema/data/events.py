"""Events as events.k8s.io has them."""

# upstream: api/events/v1/types.go (v1.36)

TYPES = """
Event kind: +TypeMeta, metadata=1! ObjectMeta optional, eventTime=2! MicroTime, series=3 *EventSeries
    reportingController=4, reportingInstance=5, action=6, reason=7, regarding=8 ObjectReference
    related=9 *ObjectReference, note=10, type=11, deprecatedSource=12 EventSource, deprecatedFirstTimestamp=13 Time
    deprecatedLastTimestamp=14 Time, deprecatedCount=15 int32
EventSeries: count=1! int32, lastObservedTime=2! MicroTime
"""
