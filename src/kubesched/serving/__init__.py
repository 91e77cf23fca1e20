"""In: observations of a running scheduler, and requests over HTTPS. Out: metrics, health, configuration, profiles.
Never: a change of what the scheduler does, or a page for a user who may not read it.
`metrics/`, `pages/`: what is served; `auth/`: authentication and authorization; `tls/`: certificates and handshakes.
"""
