"""Credentials in texts, hidden before the texts are logged."""

import re

HIDDEN = "[hidden]"
_SECRETS = (
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL), HIDDEN),
    (re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"), HIDDEN),
    (re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{8,}"), rf"\1 {HIDDEN}"),
    (re.compile(r"://[^/\s:@]+:[^/\s@]+@"), f"://{HIDDEN}@"),
    (
        re.compile(
            r"(?i)\b(password|passwd|(?:[\w-]*[_-])?(?:token|secret|key-data))(['\"]?\s*[=:]\s*)['\"]?[^\s'\",;}]+"
        ),
        rf"\1\2{HIDDEN}",
    ),
)


def without_secrets(text: str) -> str:
    """Return a text in which everything that looks like a credential is hidden."""
    for pattern, shown in _SECRETS:
        text = pattern.sub(shown, text)
    return text
