"""Plugins and libraries log with standard `logging`, and the lines are the scheduler's: klog's text or JSON."""

import io
import json
import logging
import re
from typing import Any

import pytest

from kubesched.run.klog.formats import FORMATTERS
from kubesched.run.klog.logs import Logs
from kubesched.run.klog.options import LogOptions, parse_vmodule
from kubesched.testing import a_cluster, a_node, a_pod

POD = a_cluster(a_node("n1")).reader.read(a_pod("small"))


class Process:
    """The log of a process, with all that was written."""

    def __init__(self, **options: Any) -> None:
        self._errors = io.StringIO()
        self._logs = Logs(LogOptions(**options), errors=self._errors)

    def __enter__(self) -> "Process":
        return self

    def __exit__(self, *problem: object) -> None:
        self._logs.close()

    @property
    def lines(self) -> list[str]:
        self._logs.flush()
        return self._errors.getvalue().splitlines()


def test_a_plugin_logs_in_the_format_of_the_scheduler_with_its_file_and_line() -> None:
    with Process() as process:
        logging.getLogger("my_plugin").warning("rack %s is crowded", "r1")
        (line,) = process.lines
    head, _, rest = line.partition("] ")
    assert re.fullmatch(r"W\d{4} [\d:.]{15} +\d+ test_other_loggers\.py:\d+", head)
    assert rest == '"rack r1 is crowded" logger="my_plugin"'


@pytest.mark.parametrize(
    ("verbosity", "written"),
    [
        (0, ["error", "warning", "info"]),
        (3, ["error", "warning", "info", "between"]),
        (4, ["error", "warning", "info", "between", "debug"]),
        (5, ["error", "warning", "info", "between", "debug", "below debug"]),
    ],
)
def test_levels_of_a_plugin_have_a_verbosity(verbosity: int, written: list[str]) -> None:
    logger = logging.getLogger("my_plugin")
    with Process(verbosity=verbosity) as process:
        logger.error("error")
        logger.warning("warning")
        logger.info("info")
        logger.log(15, "between")
        logger.debug("debug")
        logger.log(9, "below debug")
        lines = [line for line in process.lines if "my_plugin" in line]
    assert [line.split('"')[1] for line in lines] == written
    assert "".join(line[0] for line in lines) == "EW" + "I" * (len(written) - 2)


def test_a_module_of_a_plugin_has_a_verbosity_of_its_own() -> None:
    with Process(modules=parse_vmodule("test_other_loggers=4")) as process:
        logging.getLogger("my_plugin").debug("seen")
        logging.getLogger("my_plugin").log(9, "not seen")
        assert [line.split('"')[1] for line in process.lines if "my_plugin" in line] == ["seen"]


def test_extra_values_and_exceptions_of_a_plugin_are_keys_and_values() -> None:
    with Process() as process:
        try:
            raise LookupError("no such rack")
        except LookupError:
            logging.getLogger("my_plugin").exception("it failed", extra={"pod": POD, "racks": ["r1"]})
        text = "\n".join(process.lines)
    assert "test_other_loggers.py" in text
    assert '"it failed" err="LookupError: no such rack" logger="my_plugin" pod="default/small" racks=' in text
    assert "\n\tLookupError: no such rack\n" in text


def test_a_plugin_logs_as_json() -> None:
    with Process(format="json") as process:
        logging.getLogger("my_plugin").info("%d racks", 2, extra={"pod": POD})
        (line,) = process.lines
    found = json.loads(line)
    assert (found["logger"], found["msg"], found["v"]) == ("my_plugin", "2 racks", 0)
    assert found["pod"] == {"name": "small", "namespace": "default"}
    assert re.fullmatch(r"klog/test_other_loggers\.py:\d+", found["caller"])


def test_a_message_that_cannot_be_formatted_is_written_as_it_is() -> None:
    record = logging.makeLogRecord({"name": "my_plugin", "levelno": 30, "msg": "%d racks", "args": ("two",)})
    assert "\"%d racks ('two',)\"" in FORMATTERS["text"]().format(record)


def test_secrets_of_plugins_are_not_written() -> None:
    secret = "s3cr3tvalue0123456789"
    with Process() as process:
        logging.getLogger("my_plugin").info("Authorization: Bearer %s", secret)
        logging.getLogger("my_plugin").info("m", extra={"body": {"id_token": secret}})
        logging.getLogger("my_plugin").error("m", exc_info=ValueError(f"password={secret}"))
        written = "\n".join(process.lines)
    assert secret not in written
    assert written.count("[hidden]") >= 3


def test_standard_logging_is_as_before_once_the_log_is_closed() -> None:
    root = logging.getLogger()
    before = root.level, list(root.handlers)
    with Process(verbosity=9):
        assert (root.level, root.handlers) != before
    assert (root.level, root.handlers) == before
