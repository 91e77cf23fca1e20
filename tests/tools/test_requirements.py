"""What `make lock` locks: what all distributions need from elsewhere."""

import re
import tomllib

from tests.support.packages import DISTRIBUTIONS, ROOT

from kubesched.common.distributions import DISTRIBUTIONS as BY_PACKAGE
from tools.requirements import PARTS, requirements


def names(lines: list[str]) -> set[str]:
    return {re.split(r"[^\w.-]", line)[0].lower().replace("_", "-") for line in lines}


def test_the_lock_has_all_of_them() -> None:
    assert PARTS == DISTRIBUTIONS
    lock = (ROOT / "requirements.lock").read_text().lower()
    runtime = (ROOT / "requirements-runtime.lock").read_text().lower()
    assert [name for name in names(requirements(["dev"])) if f"\n{name}==" not in f"\n{lock}"] == []
    assert [name for name in names(requirements()) if f"\n{name}==" not in f"\n{runtime}"] == []


def test_extras_bring_what_the_extras_that_they_name_bring() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(extras["simulate"]) <= set(requirements(["dev"]))
    assert not any(line.startswith("kubesched") for line in requirements(["dev"]))


def test_every_package_above_the_scheduler_is_known_with_its_distribution() -> None:
    assert {f"kubesched-{name}": f"kubesched_{name}" for name in DISTRIBUTIONS[1:]} == {
        distribution: package for package, distribution in BY_PACKAGE.items()
    }
