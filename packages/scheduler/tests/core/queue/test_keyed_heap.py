"""A heap by name: the first of it are those that would be popped next, whatever was moved and removed before."""

from hypothesis import given
from hypothesis import strategies as st

from kubesched.core.queue.keyed_heap import KeyedHeap

STEPS = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.one_of(st.none(), st.integers(0, 5))), max_size=200)


@given(STEPS, st.integers(0, 10))
def test_the_first_are_those_that_are_popped_next(steps: list[tuple[str, int | None]], limit: int) -> None:
    heap: KeyedHeap[str] = KeyedHeap()
    for name, key in steps:
        if key is None:
            heap.remove(name)
        else:
            heap.put(name, key, name)
    first = heap.first(limit)
    assert len(heap.first(100)) == len(heap), "nothing is removed by looking"
    popped = [heap.pop() for _ in range(min(limit, len(heap)))]
    assert first == popped
