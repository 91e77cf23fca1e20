"""The destination and the format of a report.

From `-o`, `--file` and figures to standard output or files. The suffix of a file sets the format.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from kubesched.common.extras import extra_module
from kubesched.common.files import writing_problem
from kubesched.errors import KubeschedError
from kubesched_lab.simulate.measuring.figures import Figures
from kubesched_lab.simulate.reports.html_page import as_html
from kubesched_lab.simulate.reports.parquet_files import write_parquet
from kubesched_lab.simulate.reports.texts import as_csv, as_json, as_table

FORMS = ("table", "json", "csv", "html", "parquet")
_FORM_OF = {".json": "json", ".csv": "csv", ".html": "html", ".htm": "html", ".parquet": "parquet"}


def form_of(output: str | None, file: Path | None) -> str:
    """Return the format of a report; raises KubeschedError if the suffix of its file contradicts it.

    A missing library is reported here, before the simulation starts.
    """
    said = _FORM_OF.get(file.suffix) if file is not None else None
    if output and said and output != said:
        raise KubeschedError(f"--file {file} is for {said}, and -o says {output}: leave out -o, or rename the file")
    form = output or said or "table"
    if form == "parquet" and file is None:
        raise KubeschedError("-o parquet needs --file FOLDER or --file NAME.parquet")
    if form == "parquet":
        extra_module("pyarrow", "parquet", "Parquet")
    elif file is not None and (problem := writing_problem(file)):
        raise KubeschedError(f"--file {file}: {problem}")
    return form


def write_report(figures: Sequence[Figures], form: str, file: Path | None, words: Sequence[str]) -> None:
    """Write a report to a file, or to standard output; `words` is the command line. Raises KubeschedError."""
    try:
        if form == "parquet":
            assert file is not None
            write_parquet(figures, file)
        elif form == "table":
            _write_table(figures, file)
        else:
            text = _text(figures, form, words)
            if file is None:
                click.echo(text, nl=False)
            else:
                file.write_text(text, encoding="utf-8")
    except OSError as error:
        if file is None:
            raise
        raise KubeschedError(f"--file {file}: {error.strerror or error}") from None


def _text(figures: Sequence[Figures], form: str, words: Sequence[str]) -> str:
    if form == "html":
        return as_html(figures, words)
    return as_json(figures) if form == "json" else as_csv(figures)


def _write_table(figures: Sequence[Figures], file: Path | None) -> None:
    if file is None:
        Console(width=None if sys.stdout.isatty() else 120).print(as_table(figures))
        return
    with file.open("w", encoding="utf-8") as opened:
        Console(file=opened, width=120).print(as_table(figures))
