"""The strategy of ServiceCIDRs and IPAddresses."""

# upstream: pkg/apis/networking/validation/validation.go, pkg/registry/networking/{servicecidr,ipaddress} (v1.36)

from ipaddress import ip_address, ip_network

from kubesched.api.field_errors import as_json, index, invalid, required
from kubesched.api.go_text import quote
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.object_meta import IMMUTABLE
from kubesched_controlplane.api.times import timestamp
from kubesched_controlplane.kinds.kind_strategy import KindStrategy
from kubesched_controlplane.kinds.marks import Fields, Marks
from kubesched_controlplane.registry.strategy import StrategyContext

MARKS = Marks()
_NO_NETWORK = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
_NO_ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
_ONE_EACH = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"


class ServiceCIDRStrategy(KindStrategy):
    """The strategy of ServiceCIDRs."""

    has_generation = True
    status_keeps_metadata = True

    def prepare_create(self, new: Document, context: StrategyContext) -> None:
        """Set defaults and the condition Ready."""
        super().prepare_create(new, context)
        ready = {"type": "Ready", "status": "True", "reason": "", "message": "Kubernetes Service CIDR is ready"}
        new["status"] = {"conditions": [{**ready, "lastTransitionTime": timestamp(context.now)}]}

    def problems(self, document: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a ServiceCIDR."""
        spec = document.get("spec") or {}
        networks, path = spec.get("cidrs") or [], "spec.cidrs"
        if not networks:
            return [required(path, "at least one CIDR required")]
        if len(networks) > 2:
            return [invalid(path, as_json(spec), "may only hold up to 2 values")]
        problems = []
        families = set()
        for number, text in enumerate(networks):
            here = index(path, number)
            try:
                network = ip_network(text, strict=False)
            except ValueError:
                problems.append(invalid(here, text, _NO_NETWORK))
                continue
            families.add(network.version)
            if str(network.network_address) != str(ip_address(text.partition("/")[0])):
                problems.append(invalid(here, text, "must not have bits set beyond the prefix length"))
            elif str(network) != text:
                problems.append(invalid(here, text, f"must be in canonical form ({quote(str(network))})"))
        if len(networks) == 2 and len(families) == 1 and not problems:
            problems.append(invalid(path, as_json(networks), _ONE_EACH))
        return problems

    def validate_update(self, new: Document, old: Document, context: StrategyContext) -> list[str]:
        """Return the problems of a change: only a network of the other IP family may be added."""
        now, then = ((each.get("spec") or {}).get("cidrs") or [] for each in (new, old))
        if len(now) == len(then):
            changed = [number for number, text in enumerate(now) if text != then[number]]
            return [invalid(index("spec.cidrs", number), now[number], IMMUTABLE) for number in changed]
        if (len(then), len(now)) != (1, 2):
            return [invalid("spec.cidrs", as_json(now), IMMUTABLE)]
        problems = [] if now[0] == then[0] else [invalid("spec.cidrs[0]", now[0], IMMUTABLE)]
        return problems + self.problems(new, context)


class IPAddressStrategy(KindStrategy):
    """The strategy of IPAddresses."""

    marks = MARKS

    has_generation = True

    def name_problems(self, name: str) -> tuple[str, ...]:
        """Return the problems of a name, which must be an IP address in canonical form."""
        try:
            found = ip_address(name)
        except ValueError:
            return (_NO_ADDRESS,)
        return () if str(found) == name else (f"must be in canonical form ({quote(str(found))})",)


@MARKS.rule("ParentReference")
def _parent_problems(path: str, parent: Document, fields: Fields) -> list[str]:
    return fields("group", "resource", "name", "namespace")
