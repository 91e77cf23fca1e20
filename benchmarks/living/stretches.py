"""How long is measured, and at which rates."""

import sys

import msgspec


class Stretches(msgspec.Struct, frozen=True, kw_only=True):
    """The stretches of a benchmark: one for each rate, each after a warm-up."""

    rates: tuple[float, ...]
    warm: float
    seconds: float
    # how long pods may wait when no more are created
    patience: float
    # seconds between printed lines of memory; 0: none
    memory_every: float = 0.0

    def tell_memory(self, name: str, seconds: float, mebibytes: float, before: float) -> None:
        """Print the memory of a subject if a line is due between two moments of a stretch."""
        if self.memory_every and seconds // self.memory_every > before // self.memory_every:
            print(f"{name}  {seconds:.0f} s  {mebibytes:.1f} MiB", flush=True)


def note(line: str) -> None:
    """Print what goes on."""
    print(line, file=sys.stderr, flush=True)
