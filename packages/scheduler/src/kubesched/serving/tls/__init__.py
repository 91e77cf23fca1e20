"""In: certificate and key files, which may change. Out: TLS sessions for asyncio, with the client's certificate chain.
Never: a restart for a renewed certificate.
"""
