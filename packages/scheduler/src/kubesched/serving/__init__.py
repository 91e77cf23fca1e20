"""In: observations of a running scheduler, and requests over HTTPS. Out: metrics, health, configuration, profiles.
Never: a change of the scheduler's behaviour, or a page for a user who may not read it. `metrics/`, `pages/`:
the contents; `auth/`: authentication and authorization; `tls/`: certificates and handshakes.
"""
