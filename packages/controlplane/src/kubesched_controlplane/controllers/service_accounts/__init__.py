"""The controllers of service accounts: defaults of every namespace, and token secrets."""
