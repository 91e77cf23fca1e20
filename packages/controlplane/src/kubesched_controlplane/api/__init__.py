"""The vocabulary of the API: resources, requests, statuses, query options."""
