"""`python -m kubesched`."""

from kubesched.console import kubesched

kubesched()
