"""Options about reports: their format, and the files of runs, pods and pictures.

From arguments on a command line to a `ReportTarget`, which writes the reports. Missing libraries are reported before
the simulation starts.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from kubesched.common.extras import extra_module
from kubesched_lab.simulate.measuring.figures import Figures
from kubesched_lab.simulate.reports.plots import write_plots
from kubesched_lab.simulate.reports.pod_files import RunWriter, pods_file
from kubesched_lab.simulate.reports.writing import FORMS, form_of, write_report

F = TypeVar("F", bound=Callable[..., Any])


class ReportTarget(msgspec.Struct, frozen=True):
    """The destinations of reports."""

    form: str
    file: Path | None = None
    pods: Path | None = None
    plots: Path | None = None

    @contextmanager
    def pod_rows(self) -> Iterator[RunWriter | None]:
        """Open the file of pods, if one is requested."""
        if self.pods is None:
            yield None
        else:
            with pods_file(self.pods) as rows:
                yield rows

    def write(self, figures: Sequence[Figures], words: Sequence[str]) -> None:
        """Write pictures and the report; `words` is the command line."""
        if self.plots is not None:
            write_plots(figures, self.plots)
        write_report(figures, self.form, self.file, words)


def report_options(command: F) -> F:
    """Add the options about reports to a command, as its parameter `target`."""

    @click.option(
        "-o",
        "--output",
        type=click.Choice(FORMS),
        help="Format of the report. [default: the format of --file, or a table]",
    )
    @click.option(
        "--file",
        type=click.Path(path_type=Path),
        help="Write the report to a file: .json, .csv, .html or .parquet; with -o parquet also to a folder.",
    )
    @click.option(
        "--pods",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Write a record of each pod, a row a pod, to a file: .parquet, .csv or .jsonl.",
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
