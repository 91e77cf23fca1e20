"""The controllers of Endpoints, EndpointSlices and the addresses of services."""
