"""Options about reports: their form, and the files of runs, pods and pictures.

From words on a command line to a `ReportTarget`, which writes them. What would be missing at the end is told before
anything is simulated.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from kubesched.common.extras import extra_module
from kubesched.simulate.measuring.figures import Figures
from kubesched.simulate.reports.plots import write_plots
from kubesched.simulate.reports.pod_files import RunWriter, pods_file
from kubesched.simulate.reports.writing import FORMS, form_of, write_report

F = TypeVar("F", bound=Callable[..., Any])


class ReportTarget(msgspec.Struct, frozen=True):
    """Where reports go."""

    form: str
    file: Path | None = None
    pods: Path | None = None
    plots: Path | None = None

    @contextmanager
    def pod_rows(self) -> Iterator[RunWriter | None]:
        """Open the file of pods, if there is to be one."""
        if self.pods is None:
            yield None
        else:
            with pods_file(self.pods) as rows:
                yield rows

    def write(self, figures: Sequence[Figures], words: Sequence[str]) -> None:
        """Write pictures and the report; `words` are those of the command."""
        if self.plots is not None:
            write_plots(figures, self.plots)
        write_report(figures, self.form, self.file, words)


def report_options(command: F) -> F:
    """Give a command the options about reports, as its parameter `target`."""

    @click.option(
        "-o",
        "--output",
        type=click.Choice(FORMS),
        help="The form of the report. [default: what --file ends in, or a table]",
    )
    @click.option(
        "--file",
        type=click.Path(path_type=Path),
        help="Write the report to a file: .json, .csv, .html or .parquet; with -o parquet also to a folder.",
    )
    @click.option(
        "--pods",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Write what became of each pod, a row a pod, to a file: .parquet, .csv or .jsonl.",
    )
    @click.option(
        "--plots",
        type=click.Path(path_type=Path, file_okay=False),
        help="Write pictures, as PNG and SVG, into a folder.",
    )
    @functools.wraps(command)
    def with_target(
        *args: Any, output: str | None, file: Path | None, pods: Path | None, plots: Path | None, **kwargs: Any
    ) -> Any:
        form = form_of(output, file)
        if plots is not None:
            extra_module("matplotlib", "plots", "--plots")
        return command(*args, target=ReportTarget(form, file, pods, plots), **kwargs)

    return with_target  # type: ignore[return-value]
