"""The distribution by itself: nothing is installed beside it but what it asks for."""

from __future__ import annotations

import subprocess
import sys
import venv
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

FOLDER = Path(__file__).parents[1]
ABSENT = ("patientbandits", "numba", "numpy", "matplotlib", "llvmlite")

FIRST_DECISION = """
import importlib.util
import sys

from patientbandits_client import AsyncClient, Client
from patientbandits_client.errors import NotFoundError

url, key, *absent = sys.argv[1:]
assert not [name for name in absent if importlib.util.find_spec(name)]
with Client(url, key) as shop:
    checkout = shop.experiment("light", ["control", "blue"])
    decision = checkout.decide(unit="visitor-42")
    assert checkout.decide(unit="visitor-42").id == decision.id
    assert checkout.convert(unit="visitor-42", order="A-1").counted
    try:
        shop.open("none").decide()
    except NotFoundError as error:
        assert error.status == 404
    print(decision.arm, checkout.report()["arms"][0]["arm"])
"""


def needed(name: str) -> dict[str, Distribution]:
    """The installed distributions that ``name`` needs to run, itself left out."""
    closure: dict[str, Distribution] = {}
    waiting = [name]
    while waiting:
        for line in distribution(waiting.pop()).requires or ():
            requirement = Requirement(line)
            if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
                continue
            if requirement.name not in closure:
                closure[requirement.name] = distribution(requirement.name)
                waiting.append(requirement.name)
    return closure


def copy(installed: Distribution, site: Path) -> None:
    """Install what is installed here in another environment too: no index is asked."""
    for file in installed.files or ():
        if ".." in file.parts or file.suffix == ".pyc":
            continue  # scripts
        target = site / file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(Path(file.locate()).read_bytes())


def run(*command: object) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def light(tmp_path_factory):
    """The Python of a fresh environment with the wheel and what it needs."""
    folder = tmp_path_factory.mktemp("light")
    pip = ("-m", "pip", "--disable-pip-version-check")
    run(sys.executable, *pip, "wheel", "--no-deps", "--no-build-isolation", "-w", folder, FOLDER)
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv/bin/python"
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    for installed in needed("patientbandits-client").values():
        copy(installed, site)
    (wheel,) = folder.glob("*.whl")
    run(sys.executable, *pip, "--python", python, "install", "--no-index", wheel)
    run(sys.executable, *pip, "--python", python, "check")
    return python


def test_it_needs_no_compiler():
    names = {name.lower() for name in needed("patientbandits-client")}
    assert {"httpx", "msgspec"} <= names
    assert not names & set(ABSENT)


@pytest.mark.slow
def test_a_decision_without_the_library(light, running):
    program = light.parent / "first_decision.py"
    program.write_text(FIRST_DECISION)
    arms = run(light, "-I", program, running.url, running.key, *ABSENT).split()
    assert set(arms) <= {"control", "blue"}
    assert len(arms) == 2


def test_the_licence_is_the_projects():
    assert (FOLDER / "LICENSE").read_text() == (FOLDER.parent / "LICENSE").read_text()
