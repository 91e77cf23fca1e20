"""Extenders: whether each is reachable, trusted, and answers.

From a configuration to findings. The probe asks about a pod that does not exist and an empty list of nodes, so that an
extender has no decision to make. Binding and preemption are not tested.
"""

import time
from collections.abc import Sequence

from kubesched.api.meta import ObjectMeta
from kubesched.api.pods import Container, Pod, PodSpec
from kubesched.client.extenders import HttpExtenderClient
from kubesched.config.redacting import without_password
from kubesched.config.types import Extender
from kubesched.core.framework.values.extenders import (
    ExtenderArgs,
    ExtenderFilterArgs,
    ExtenderPrioritizeArgs,
)
from kubesched.doctor.findings import Finding, fail, ok, warn
from kubesched.errors import KubeschedError

PROBE = Pod(
    metadata=ObjectMeta(name="kubesched-doctor-probe", namespace="default", uid="kubesched-doctor-probe"),
    spec=PodSpec(containers=(Container(name="probe"),)),
)


async def check_extenders(extenders: Sequence[Extender]) -> list[Finding]:
    """Return findings about each extender's answer to a probe."""
    findings: list[Finding] = []
    for extender in extenders:
        address = without_password(extender.url_prefix)
        if address.startswith("http:"):
            findings.append(warn("extenders", f"{address}: without TLS", "serve it over HTTPS and set enableHTTPS"))
        findings.append(await _probed(extender, address))
    return findings


async def _probed(extender: Extender, address: str) -> Finding:
    question: ExtenderArgs
    if extender.filter_verb:
        question = ExtenderFilterArgs(extender, PROBE, ())
    elif extender.prioritize_verb:
        question = ExtenderPrioritizeArgs(extender, PROBE, ())
    else:
        return ok("extenders", f"{address}: it only binds or preempts, which is not tested")
    began = time.monotonic()
    try:
        client = HttpExtenderClient([extender], lambda name: None)
        try:
            result = await client.ask(question)
        finally:
            await client.close()
    except KubeschedError as error:
        return fail("extenders", f"{address}: {error}", "fix its tlsConfig")
    if result.error:
        level = warn if extender.ignorable else fail
        return level("extenders", f"{address}: {result.error}", _fix(result.error))
    return ok("extenders", f"{address}: answered in {(time.monotonic() - began) * 1000:.0f} ms")


def _fix(problem: str) -> str:
    """Return the fix for an extender that does not answer as expected."""
    if "certificate" in problem.lower() or "SSL" in problem:
        return "fix its tlsConfig: caFile or caData of the CA of its certificate, and serverName as in the certificate"
    if "cannot be reached" in problem or "did not answer" in problem:
        return "check that it runs, and that this machine reaches it"
    return "check its log, and that it serves urlPrefix and the verbs"
