"""Bindings of roles, and configurations of webhooks, in tables."""

# upstream: pkg/printers/internalversion/printers.go, pkg/apis/rbac/helpers.go (SubjectsStrings) (v1.36)

from datetime import datetime

from kubesched_controlplane.representation.tables.printing import Cells, Document, Printer, age, columns, name


def _binding(binding: Document, now: datetime) -> Cells:
    role = binding.get("roleRef") or {}
    subjects: dict[str, list[str]] = {"User": [], "Group": [], "ServiceAccount": []}
    for subject in binding.get("subjects") or ():
        who = subject.get("name", "")
        if subject.get("kind") == "ServiceAccount":
            who = f"{subject.get('namespace', '')}/{who}"
        subjects.setdefault(subject.get("kind", ""), []).append(who)
    shown = (", ".join(subjects[kind]) for kind in ("User", "Group", "ServiceAccount"))
    return [name(binding), f"{role.get('kind', '')}/{role.get('name', '')}", age(binding, now), *shown]


ROLE_BINDING_PRINTER = Printer(columns("Name, Role, Age | Users, Groups, ServiceAccounts"), _binding)
WEBHOOK_CONFIGURATION_PRINTER = Printer(
    columns("Name, Webhooks:integer, Age"),
    lambda found, now: [name(found), len(found.get("webhooks") or ()), age(found, now)],
)
