"""What is in use, from the allocations of claims."""

from kubesched.api.devices import AllocationResult, DeviceAllocationResult, DeviceRequestAllocationResult
from kubesched.core.devices import AllocatedState, DeviceFeatures, PoolId

FEATURES = DeviceFeatures()
POOL = PoolId("gpu.example.com", "p")


def allocation(*devices: str, pool: str = "p", **fields: object) -> AllocationResult:
    """Return an allocation of devices of a pool."""
    results = tuple(
        DeviceRequestAllocationResult(request="r", driver=POOL.driver, pool=pool, device=device, **fields)  # type: ignore[arg-type]
        for device in devices
    )
    return AllocationResult(devices=DeviceAllocationResult(results=results))


def test_devices_are_in_use_as_long_as_a_claim_holds_them() -> None:
    """A device that two claims hold is free when both let go, in whatever order they came."""
    state = AllocatedState(FEATURES)
    state.put("a", allocation("d0", "d1"))
    state.put("b", allocation("d1"))
    use = state.use_of(POOL)
    assert use is not None
    assert set(use.dedicated) == {"d0", "d1"}
    state.put("a", None)
    assert set(use.dedicated) == {"d1"}
    state.put("b", None)
    assert state.use_of(POOL) is None


def test_the_same_allocation_twice_changes_nothing() -> None:
    """Telling an allocation again is no change; another one under the key replaces it."""
    state = AllocatedState(FEATURES)
    first = allocation("d0")
    state.put("a", first)
    version = state.version
    state.put("a", first)
    assert (state.version, state.get("a")) == (version, first)
    state.put("a", allocation("d1"))
    use = state.use_of(POOL)
    assert use is not None
    assert set(use.dedicated) == {"d1"}


def test_admin_access_uses_nothing() -> None:
    """Devices that are only looked at stay free."""
    state = AllocatedState(FEATURES)
    state.put("a", allocation("d0", admin_access=True))
    assert state.use_of(POOL) is None


def test_shares_consume_capacity_together() -> None:
    """The capacity of shares adds up and is given back; without the feature a share takes the whole device."""
    shares = [allocation("d0", share_id=str(i), consumed_capacity={"memory": "1Gi"}) for i in range(2)]
    state = AllocatedState(FEATURES)
    for i, share in enumerate(shares):
        state.put(i, share)
    use = state.use_of(POOL)
    assert use is not None
    assert not use.dedicated
    assert use.touches("d0")
    assert use.capacity == {"d0": {"memory": 2 * 2**30 * 10**9}}
    state.put(0, None)
    assert use.capacity == {"d0": {"memory": 2**30 * 10**9}}
    state.put(1, None)
    assert state.use_of(POOL) is None
    whole = AllocatedState(DeviceFeatures(consumable_capacity=False))
    whole.put("a", shares[0])
    use = whole.use_of(POOL)
    assert use is not None
    assert "d0" in use.dedicated


def test_changes_are_remembered_for_a_while() -> None:
    """Pools that changed since a version are known, unless that is too long ago."""
    state = AllocatedState(FEATURES)
    state.put("a", allocation("d0"))
    version = state.version
    assert state.pools_changed_since(version) == set()
    state.put("b", allocation("d0", pool="q"))
    assert state.pools_changed_since(version) == {PoolId("gpu.example.com", "q")}
    for i in range(5000):
        state.put("b", allocation("d0", pool=f"q{i % 2}"))
    assert state.pools_changed_since(version) is None
    assert state.pools_changed_since(state.version) == set()
