"""Endpoints: where the pods of services are to be found."""
