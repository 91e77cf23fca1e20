"""Extenders: whether each can be reached, is trusted, and answers.

From a configuration to findings. The probe is a question about a pod that does not exist and no node: an extender has
nothing to decide; binding and preemption are not asked.
"""

import time
from collections.abc import Sequence

from kubesched.api.meta import ObjectMeta
from kubesched.api.pods import Container, Pod, PodSpec
from kubesched.client.extenders import HttpExtenderClient
from kubesched.config.redacting import without_password
from kubesched.config.types import Extender
from kubesched.core.framework.extenders import (
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
    """Return what each extender says to a probe."""
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
        return ok("extenders", f"{address}: it only binds or preempts, which is not tried")
    began = time.monotonic()
    try:
        client = HttpExtenderClient([extender], lambda name: None)
        try:
            result = await client.ask(question)
        finally:
            await client.close()
    except KubeschedError as error:
        return fail("extenders", f"{address}: {error}", "mend its tlsConfig")
    if result.error:
        level = warn if extender.ignorable else fail
        return level("extenders", f"{address}: {result.error}", _fix(result.error))
    return ok("extenders", f"{address}: answered in {(time.monotonic() - began) * 1000:.0f} ms")


def _fix(problem: str) -> str:
    """Return what to do about an extender that cannot be used."""
    if "certificate" in problem.lower() or "SSL" in problem:
        return (
            "mend its tlsConfig: caFile or caData of who signed its certificate, and serverName as the certificate says"
        )
    if "cannot be reached" in problem or "did not answer" in problem:
        return "see that it runs, and that this machine reaches it"
    return "see its log, and that urlPrefix and the verbs are those that it serves"
