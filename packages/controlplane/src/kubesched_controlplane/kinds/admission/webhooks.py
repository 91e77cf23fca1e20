"""The strategy of admission webhook configurations."""

# upstream: pkg/apis/admissionregistration/{v1/defaults.go,validation/validation.go},
# apiserver/pkg/util/webhook/validation.go (v1.36)

from urllib.parse import urlsplit

from kubesched.api.field_errors import as_json, child, duplicate, index, invalid, required
from kubesched.api.labels import subdomain_problems
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.admission.rules import condition_problems, rule_problems
from kubesched_controlplane.kinds.checks import (
    dns_1035_problems,
    label_selector_problems,
    one_of,
    port_problems,
    text_problems,
)
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.registry.strategy import StrategyContext

_TIMEOUT, _TIMEOUTS = 10, range(1, 31)
_HTTPS = 443
_REVIEWS = ("v1", "v1beta1")
_SIDE_EFFECTS = ("None", "NoneOnDryRun")
_POLICIES = {
    "failurePolicy": ("Fail", "Ignore"),
    "matchPolicy": ("Equivalent", "Exact"),
    "reinvocationPolicy": ("IfNeeded", "Never"),
}
_FORM = "; desired format: https://host[/path]"


class WebhookConfigurationStrategy(KindStrategy):
    """The strategy of validating and mutating webhook configurations; mutating ones have a reinvocationPolicy."""

    unconditional_update = False
    qualifies_finalizers = False
    has_generation = True

    def __init__(self, *, mutating: bool) -> None:
        self._defaults: Document = {"failurePolicy": "Fail", "matchPolicy": "Equivalent", "timeoutSeconds": _TIMEOUT}
        if mutating:
            self._defaults["reinvocationPolicy"] = "Never"

    def fill_in(self, document: Document, context: StrategyContext) -> None:
        """Set defaults."""
        for hook in document.get("webhooks") or ():
            for field, value in self._defaults.items():
                if hook.get(field) is None:
                    hook[field] = value
            for field in ("namespaceSelector", "objectSelector"):
                if hook.get(field) is None:
                    hook[field] = {}
            for rule in hook.get("rules") or ():
                if rule.get("scope") is None:
                    rule["scope"] = "*"
            service = (hook.get("clientConfig") or {}).get("service")
            if service is not None and service.get("port") is None:
                service["port"] = _HTTPS

    def prepare_update(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Set defaults, and raise the generation if the webhooks change."""
        super().prepare_update(new, old, context)
        if new.get("webhooks") != old.get("webhooks"):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a configuration."""
        problems = []
        names = set()
        for number, hook in enumerate(document.get("webhooks") or ()):
            path = index("webhooks", number)
            problems += _hook_problems(path, hook)
            problems += _review_problems(child(path, "admissionReviewVersions"), hook.get("admissionReviewVersions"))
            name = hook.get("name") or ""
            if name and name in names:
                problems.append(duplicate(child(path, "name"), name))
            names.add(name)
        return problems


def _hook_problems(path: str, hook: Document) -> list[str]:
    problems = _name_problems(child(path, "name"), hook.get("name") or "")
    for number, rule in enumerate(hook.get("rules") or ()):
        problems += rule_problems(index(child(path, "rules"), number), rule)
    for field, supported in _POLICIES.items():
        if field in hook:
            problems += one_of(child(path, field), hook[field], supported)
    here, effects = child(path, "sideEffects"), hook.get("sideEffects")
    if effects is None:
        problems.append(required(here, f"must specify one of {', '.join(_SIDE_EFFECTS)}"))
    else:
        problems += one_of(here, effects, _SIDE_EFFECTS)
    if hook["timeoutSeconds"] not in _TIMEOUTS:
        why = "the timeout value must be between 1 and 30 seconds"
        problems.append(invalid(child(path, "timeoutSeconds"), hook["timeoutSeconds"], why))
    for field in ("namespaceSelector", "objectSelector"):
        problems += label_selector_problems(child(path, field), hook[field])
    problems += client_problems(child(path, "clientConfig"), hook.get("clientConfig") or {})
    return problems + condition_problems(child(path, "matchConditions"), hook.get("matchConditions") or ())


def _name_problems(path: str, name: str) -> list[str]:
    if not name:
        return [required(path)]
    wrong = subdomain_problems(name)
    if wrong:
        return [invalid(path, name, ",".join(wrong))]
    if name.count(".") < 2:
        return [invalid(path, name, "should be a domain with at least three segments separated by dots")]
    return []


def _review_problems(path: str, versions: list[str] | None) -> list[str]:
    accepted = ", ".join(_REVIEWS)
    if not versions:
        return [required(path, f"must specify one of {accepted}")]
    problems = review_version_problems(path, versions)
    if not set(versions) & set(_REVIEWS):
        problems.append(invalid(path, as_json(versions), f"must include at least one of {accepted}"))
    return problems


def review_version_problems(path: str, versions: list[str]) -> list[str]:
    """Return the problems of single versions of reviews."""
    problems = []
    for number, version in enumerate(versions):
        here = index(path, number)
        if version in versions[:number]:
            problems.append(invalid(here, version, "duplicate version"))
            continue
        problems += text_problems(here, version, dns_1035_problems)
    return problems


def client_problems(path: str, client: Document) -> list[str]:
    """Return the problems of the address of a webhook."""
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        return [required(path, "exactly one of url or service is required")]
    if url is not None:
        return _url_problems(child(path, "url"), url)
    assert service is not None
    path = child(path, "service")
    problems = [required(child(path, field)) for field in ("name", "namespace") if not service.get(field)]
    number = _HTTPS if service.get("port") is None else service["port"]
    if wrong := port_problems("", number):
        why = wrong[0].partition(f"{number}: ")[2]
        problems.append(invalid(child(path, "port"), number, f"port is not valid: {why}"))
    return problems + _path_problems(child(path, "path"), service.get("path") or "")


def _url_problems(path: str, url: str) -> list[str]:
    try:
        parts = urlsplit(url)
    except ValueError as error:
        return [required(path, f"url must be a valid URL: {error}{_FORM}")]
    problems = []
    host = parts.netloc.rpartition("@")[2]
    if parts.scheme != "https":
        problems.append(invalid(path, parts.scheme, f"'https' is the only allowed URL scheme{_FORM}"))
    if not host:
        problems.append(invalid(path, host, f"host must be specified{_FORM}"))
    # differs (D-163): the reference repeats the user information, which may contain a password
    if "@" in parts.netloc:
        problems.append(invalid(path, "", "user information is not permitted in the URL"))
    if parts.fragment:
        problems.append(invalid(path, parts.fragment, "fragments are not permitted in the URL"))
    if parts.query:
        problems.append(invalid(path, parts.query, "query parameters are not permitted in the URL"))
    return problems


def _path_problems(path: str, text: str) -> list[str]:
    if text in ("", "/"):
        return []
    if text == "//":
        return [invalid(path, text, "segment[0] may not be empty")]
    problems = [] if text.startswith("/") else [invalid(path, text, "must start with a '/'")]
    for number, segment in enumerate(text[1:].removesuffix("/").split("/")):
        if not segment:
            problems.append(invalid(path, text, f"segment[{number}] may not be empty"))
        else:
            problems += [invalid(path, text, f"segment[{number}]: {why}") for why in subdomain_problems(segment)]
    return problems
