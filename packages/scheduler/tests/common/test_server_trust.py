"""Servers whose certificates Go accepts are trusted."""

import ssl

from kubesched.common.server_trust import trusting_context


def test_certificates_are_verified_but_not_more_strictly_than_by_go() -> None:
    context = trusting_context()
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert not context.verify_flags & ssl.VERIFY_X509_STRICT
