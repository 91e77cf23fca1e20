"""The strategy of admission webhook configurations."""

# upstream: pkg/apis/admissionregistration/{v1/defaults.go,validation/validation.go},
# apiserver/pkg/util/webhook/validation.go (v1.36)

from urllib.parse import urlsplit

from kubesched.api.field_errors import as_json, child, duplicate, index, invalid, required
from kubesched.api.labels import subdomain_problems
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.admission.rules import MARKS, condition_problems
from kubesched_controlplane.kinds.checks import dns_1035_problems, port_problems, text_problems
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.kinds.marks import Fields
from kubesched_controlplane.registry.strategy import StrategyContext

_HTTPS = 443
_REVIEWS = ("v1", "v1beta1")
_FORM = "; desired format: https://host[/path]"


class WebhookConfigurationStrategy(KindStrategy):
    """The strategy of validating and mutating webhook configurations."""

    marks = MARKS
    unconditional_update = False
    qualifies_finalizers = False
    has_generation = True

    def prepare_update(self, new: Document, old: Document, context: StrategyContext) -> None:
        """Set defaults, and raise the generation if the webhooks change."""
        super().prepare_update(new, old, context)
        if new.get("webhooks") != old.get("webhooks"):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1


@MARKS.rule("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
def _configuration_problems(path: str, document: Document, fields: Fields) -> list[str]:
    problems = []
    names = set()
    for number, hook in enumerate(document.get("webhooks") or ()):
        problems += fields.item("webhooks", number)
        name = hook.get("name") or ""
        if name and name in names:
            problems.append(duplicate(child(index("webhooks", number), "name"), name))
        names.add(name)
    return problems


@MARKS.rule("ValidatingWebhook", "MutatingWebhook")
def _hook_problems(path: str, hook: Document, fields: Fields) -> list[str]:
    problems = fields("name", "rules", "failurePolicy", "matchPolicy", "reinvocationPolicy", "sideEffects")
    problems += fields("timeoutSeconds", "namespaceSelector", "objectSelector", "clientConfig")
    problems += condition_problems(child(path, "matchConditions"), hook.get("matchConditions") or ())
    versions = hook.get("admissionReviewVersions")
    return problems + _review_problems(child(path, "admissionReviewVersions"), versions)


@MARKS.rule("WebhookClientConfig")
def _client_problems(path: str, client: Document, fields: Fields) -> list[str]:
    return client_problems(path, client)


@MARKS.format("hook")
def _name_problems(path: str, name: str) -> list[str]:
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
