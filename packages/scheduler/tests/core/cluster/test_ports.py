"""Host ports in use: by row, number, protocol and address; what is free again leaves nothing behind."""

from kubesched.core.cluster.pod_info import HostPort
from kubesched.core.cluster.ports import HostPorts

WEB = HostPort("0.0.0.0", "TCP", 80)
LOCAL = HostPort("127.0.0.1", "TCP", 80)
DNS = HostPort("0.0.0.0", "UDP", 53)


def test_a_port_is_used_until_it_is_freed() -> None:
    ports = HostPorts()
    ports.add(1, [WEB, DNS], 1)
    ports.add(1, [LOCAL], 1)
    ports.add(2, [WEB], 1)
    assert ports.users(LOCAL) == {1: {"0.0.0.0", "127.0.0.1"}, 2: {"0.0.0.0"}}
    assert ports.used_on(1) == {WEB, LOCAL, DNS}
    ports.add(1, [WEB], -1)
    assert ports.users(WEB) == {1: {"127.0.0.1"}, 2: {"0.0.0.0"}}
    ports.add(1, [LOCAL, DNS], -1)
    ports.add(2, [WEB], -1)
    assert (ports.users(WEB), ports.users(DNS), ports.used_on(1)) == ({}, {}, set())


def test_freeing_what_nobody_uses_does_no_harm() -> None:
    ports = HostPorts()
    ports.add(1, [WEB], -1)
    assert ports.users(WEB) == {}
