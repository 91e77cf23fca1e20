"""One meaning for one file: the page and `kubesched simulate` place the pods of a scenario alike."""

import asyncio
from pathlib import Path

import msgspec
import pytest
from packages.lab.tests.page.simulation.test_looking_back import PACKED
from packages.lab.tests.page.simulation.test_page_simulation import a_scenario, go_to, shown

from kubesched.core.assembly import load_config
from kubesched.core.framework.building.registry import Registry
from kubesched.testing import a_node, a_pod
from kubesched_lab.page.files.scenario_lines import read_scenario, scenario_lines
from kubesched_lab.page.simulation.scenario import Moment, PageScenario, SimulatedConfiguration, UserAction
from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.measuring.pod_log import PodLog
from kubesched_lab.simulate.simulation import Run, simulate
from kubesched_lab.simulate.traces.reading import read_traces
from kubesched_lab.simulate.traces.trace import ObjectPut, PodArrival
from kubesched_lab.simulate.traces.trace_writing import write_trace

WRONG = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparallelism: -1\n"


def a_change(text: str = PACKED) -> PageScenario:
    """Pods arrive one after the other; after the fourth one they are packed, and later spread again."""
    nodes = [ObjectPut(0.0, a_node(f"n{each}", cpu="8", memory="16Gi")) for each in range(4)]
    pods = [PodArrival(each + 1.0, a_pod(f"p{each}", cpu="1", memory="1Gi")) for each in range(12)]
    actions = (
        UserAction(Moment(4.5), "Pack", (), SimulatedConfiguration(text, load_config(PACKED))),
        UserAction(Moment(9.5), "Spread again", (), SimulatedConfiguration("", load_config())),
    )
    return msgspec.structs.replace(a_scenario(*nodes, *pods), actions=actions)


def saved(scenario: PageScenario, folder: Path) -> Path:
    file = folder / "scenario.jsonl"
    file.write_bytes(b"".join(scenario_lines(scenario)))
    return file


def of_page(scenario: PageScenario) -> dict[str, str]:
    async def story() -> dict[str, str]:
        async with shown(scenario) as state:
            found = await go_to(state, 100.0)
            names = [*found["nodes"]["name"], ""]
            return {name: names[row] for name, row in zip(found["pods"]["name"], found["pods"]["node"], strict=True)}

    return asyncio.run(story())


def of_simulate(file: Path) -> dict[str, str]:
    log = PodLog()
    simulate(Run(read_traces([str(file)]), load_config(), Registry()), pod_log=log)
    return {record.name: record.node for record in log.records}


def test_another_configuration_in_a_scenario_is_put_in_force_by_simulate_as_by_the_page(tmp_path: Path) -> None:
    file = saved(a_change(), tmp_path)
    again = read_scenario(file, lambda text: load_config(text or None), None)
    assert again is not None
    placements = of_simulate(file)
    assert placements == of_page(a_change()) == of_page(again)
    # it makes a difference: the fifth to the ninth pod are packed
    assert len({placements[f"p{each}"] for each in range(4)}) == 4
    assert len({placements[f"p{each}"] for each in range(4, 9)}) == 1


def test_a_scenario_as_a_plain_trace_keeps_its_configurations(tmp_path: Path) -> None:
    file = saved(a_change(), tmp_path)
    trace, plain = read_traces([str(file)]), tmp_path / "plain.jsonl"
    write_trace(trace, 0, plain)
    placements = of_simulate(file)
    assert of_simulate(plain) == placements
    assert of_page(PageScenario(read_traces([str(plain)]), SimulatedConfiguration("", load_config()))) == placements


def test_a_configuration_that_cannot_be_read_is_told_with_its_time(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"scenario.jsonl, at 4.5 s: `configuration`: .*parallelism"):
        of_simulate(saved(a_change(WRONG), tmp_path))
