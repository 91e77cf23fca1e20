"""The words of the API: resources, requests, statuses, query options."""
