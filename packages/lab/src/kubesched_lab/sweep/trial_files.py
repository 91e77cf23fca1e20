"""The files and reports of a search.

    trials.jsonl    the objective and the importance of each field; then the trials so far, one a line
    best.yaml       the best configuration so far, for `kubesched run --config`

From trials to files in the folder of results, and to a table, CSV or JSON.
"""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from rich.table import Table

from kubesched_lab.sweep.errors import SweepError
from kubesched_lab.sweep.field_paths import short_names
from kubesched_lab.sweep.tuning import BASE, LEAST_TRIALS, ConfigSearch, TuneTrial, ranked
from kubesched_lab.sweep.whole_files import whole_file

TRIALS, BEST = "trials.jsonl", "best.yaml"
SHOWN = 10


class SearchHeader(msgspec.Struct, frozen=True):
    """The objective of a search, and the share of the variation that each field explains."""

    objective: str = ""
    minimise: bool = True
    importance: dict[str, float] = {}


class FoundTrials(msgspec.Struct, frozen=True):
    """The state of a search in a folder."""

    header: SearchHeader
    trials: list[TuneTrial]

    @property
    def ranked(self) -> list[TuneTrial]:
        """Return the successful trials, the best first."""
        return ranked(self.trials, minimise=self.header.minimise)


def read_search(folder: Path) -> FoundTrials:
    """Return the search in a folder, without trials if it has none; raises SweepError."""
    path = folder / TRIALS
    try:
        header, *lines = path.read_bytes().splitlines()
        trials = [msgspec.json.decode(line, type=TuneTrial) for line in lines]
        return FoundTrials(msgspec.json.decode(header, type=SearchHeader), trials)
    except FileNotFoundError:
        return FoundTrials(SearchHeader(), [])
    except (OSError, ValueError) as error:
        raise SweepError(f"{path}: cannot be read ({error}); delete it to have it written again") from None


def write_search(folder: Path, search: ConfigSearch, trials: Sequence[TuneTrial]) -> None:
    """Write the trials so far and the best configuration among them; raises SweepError."""
    header = SearchHeader(search.objective, bool(search.spec.minimise), search.importance())
    with whole_file(folder / TRIALS) as file:
        file.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in (header, *trials)))
    best = ranked(trials, minimise=header.minimise)
    if best:
        with whole_file(folder / BEST) as file:
            file.write_bytes(search.config_of(best[0]))


def check_same(before: Sequence[TuneTrial], now: Sequence[TuneTrial], folder: Path) -> None:
    """Raise SweepError if the repeated trials of a search differ from those on disk."""
    for old, new in zip(before, now, strict=False):
        if old.parameters != new.parameters:
            raise SweepError(
                f"{folder / TRIALS}: {old.name} tried other values (was it another version of Optuna?): "
                "name another folder, or go on with --force"
            )


def best_so_far(search: ConfigSearch, trials: Sequence[TuneTrial]) -> str:
    """Return the best trial and the unchanged configuration, in a few words."""
    best = ranked(trials, minimise=bool(search.spec.minimise))
    if not best:
        return "all have failed"
    as_it_is = next((f", {BASE}: {each.objective:.6g}" for each in best[1:] if each.name == BASE), "")
    return f"{search.objective}: {best[0].objective:.6g} ({best[0].name}{as_it_is})"


def trials_table(found: FoundTrials) -> Table:
    """Return a table of the best trials, the best first, and of the unchanged configuration."""
    best, importance = found.ranked, found.header.importance
    names = short_names(_paths(best))
    count = sum(each.name != BASE for each in best)
    table = Table(title=f"{count} trials: {found.header.objective}", title_justify="left", caption_justify="left")
    table.add_column("trial")
    table.add_column("objective", justify="right")
    for name in names.values():
        table.add_column(name, justify="right", overflow="fold")
    for trial in [*best[:SHOWN], *(each for each in best[SHOWN:] if each.name == BASE)]:
        values = [_shown(trial.parameters[path]) if path in trial.parameters else "" for path in names]
        table.add_row(trial.name, f"{trial.objective:.6g}", *values)
    if importance:
        table.add_section()
        table.add_row("importance", "", *(f"{importance.get(path, 0):.0%}" for path in names))
    elif count < LEAST_TRIALS:
        table.caption = (
            f"The importance of fields is left out: {count} trials, and fewer than {LEAST_TRIALS} show chance."
        )
    return table


def trials_csv(found: FoundTrials) -> str:
    """Return all trials, the best first."""
    paths = _paths(found.ranked)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["trial", "objective", *paths])
    for trial in found.ranked:
        writer.writerow([trial.name, trial.objective, *(_shown(trial.parameters.get(path, "")) for path in paths)])
    return text.getvalue()


def trials_json(found: FoundTrials) -> str:
    """Return all trials as JSON: the best first, then the failed ones, and the importance of each field."""
    header, trials = msgspec.to_builtins(found.header), msgspec.to_builtins(found.ranked)
    failed = [each.name for each in found.trials if each.objective is None]
    return json.dumps({**header, "trials": trials, "failed": failed}, indent=1, ensure_ascii=False) + "\n"


def _paths(trials: Sequence[TuneTrial]) -> list[str]:
    return list(dict.fromkeys(path for trial in trials for path in trial.parameters))


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
