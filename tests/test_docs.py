"""What the documents say is true: their examples run, their numbers are the code's."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tools.site_pages import generated

import patientbandits
from patientbandits.policies import POLICIES
from patientbandits.problems.delays import LAWS
from patientbandits.research import compare

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES += sorted((ROOT / "docs" / "service").glob("*.md"))
FOR_CONTRIBUTORS = [ROOT / f"{name}.md" for name in ("CONTRIBUTING", "SECURITY", "CHANGELOG")]
EXAMPLE = re.compile(r"<!-- example: (\w+) -->\n```(\w+)\n(.*?)```", re.DOTALL)
EXAMPLES = {
    name: (kind, text) for page in PAGES for name, kind, text in EXAMPLE.findall(page.read_text())
}


def test_all_examples_are_marked() -> None:
    fences = sum(
        len(re.findall(r"^```(?:python|toml)$", page.read_text(), re.MULTILINE)) for page in PAGES
    )
    assert fences == len(EXAMPLES) >= 5


@pytest.mark.parametrize("name", [name for name, (kind, _) in EXAMPLES.items() if kind == "python"])
@pytest.mark.slow
def test_example_runs(name: str, tmp_path: Path) -> None:
    (tmp_path / "example.py").write_text(EXAMPLES[name][1])
    done = subprocess.run(
        [sys.executable, "-W", "error", "example.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    promised = re.findall(r'^print\(.*\)  # "(.*)"$', EXAMPLES[name][1], re.MULTILINE)
    assert [words for words in promised if words not in done.stdout] == []


def test_the_policy_example_is_short() -> None:
    assert len([line for line in EXAMPLES["policy"][1].splitlines() if line.strip()]) <= 25


def test_the_study_example_runs(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(EXAMPLES["study"][1])
    command = [sys.executable, "-m", "patientbandits", "simulate", "study.toml", "--runs", "5"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_links_lead_somewhere() -> None:
    """To a file, or to a page that the site makes; tests/test_site.py follows them there."""
    made = generated()
    for page in [*PAGES, *FOR_CONTRIBUTORS]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            assert target in made or (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_paper_cites_what_is_in_its_bibliography() -> None:
    folder = ROOT / "docs" / "paper"
    text = (folder / "paper.md").read_text()
    listed = set(re.findall(r"^@\w+\{(\w+),", (folder / "paper.bib").read_text(), re.MULTILINE))
    assert set(re.findall(r"(?<!\w)@(\w+)", text)) == listed
    for heading in ("Summary", "Statement of need", "Functionality", "References"):
        assert f"# {heading}\n" in text
    assert [line for line in text.splitlines() if len(line) > 100] == []


def prose(text: str) -> list[str]:
    """The lines of a page that are neither code nor a row of a table."""
    lines = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE).splitlines()
    return [line for line in lines if not line.startswith(("    ", "|"))]


def test_prose_is_found() -> None:
    page = "words\n```text\ncode\n```\n| a | b |\n    make\n- item\n"
    assert prose(page) == ["words", "", "- item"]


@pytest.mark.parametrize("page", [*PAGES, *FOR_CONTRIBUTORS], ids=lambda page: page.name)
def test_lines_of_prose_have_at_most_100_characters(page: Path) -> None:
    assert [line for line in prose(page.read_text()) if len(line) > 100] == []


def targets_named(page: Path) -> set[str]:
    return set(re.findall(r"(?:^    |`)make ([\w-]+)", page.read_text(), re.MULTILINE))


def test_commands_of_the_pages_are_make_targets() -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert targets_named(ROOT / "README.md") >= {"reproduce", "test", "compare", "bench"}
    guide = targets_named(ROOT / "CONTRIBUTING.md")
    assert guide >= {"check", "format", "quick", "test", "bench", "bench-live", "torture", "lock"}
    for target in guide | targets_named(ROOT / "README.md"):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    assert "make test" in (ROOT / ".ci" / "run").read_text()


def rooms_named(guide: str) -> set[str]:
    """Read the first column of the first table of rooms; a folder ends with a slash."""
    table, *_ = re.findall(r"^\| room \|.*?\n((?:\|.*\n)+)", guide, re.MULTILINE)
    first_cells = [row.split("|")[1] for row in table.splitlines()]
    return set(re.findall(r"`([^`]+)`", " ".join(first_cells)))


def rooms_in(package: Path) -> set[str]:
    """Folders and modules of the package, but for those of a package's own that begin with _."""
    folders = {f"{path.parent.name}/" for path in package.glob("*/__init__.py")}
    modules = {path.stem for path in package.glob("[!_]*.py")}
    return folders | modules


def test_the_rooms_of_the_guide_are_those_of_the_source() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text()
    assert rooms_named(guide) == rooms_in(Path(patientbandits.__file__).parent)


def test_rooms_are_found(tmp_path: Path) -> None:
    (tmp_path / "cli").mkdir()
    for name in ("__init__.py", "rng.py", "cli/__init__.py", "cli/main.py"):
        (tmp_path / name).touch()
    assert rooms_in(tmp_path) == {"cli/", "rng"}
    table = "| room | what |\n|---|---|\n| `cli/`, `rng` | `other` |\n\n| `more` | |\n"
    assert rooms_named(table) == {"cli/", "rng"}


def paths_named(guide: str) -> set[str]:
    """Collect the files and folders that are named by a path."""
    return set(re.findall(r"`((?:[\w.]+/)+(?:\w+\.\w+(?:\.j2)?)?)`", guide))


def names_placed(guide: str) -> set[tuple[str, str]]:
    """Collect the names that stand before their file: `NAME` (`a/b.py`), `NAME` in `a/b.py`."""
    return set(re.findall(r"`([\w.]+)`s?\s+(?:in\s+|\()`((?:\w+/)+\w+\.\w+)`", guide))


def place_of(path: str) -> Path:
    """Find a path of the guide: below the package, one of its rooms, or the project."""
    package = Path(patientbandits.__file__).parent
    places = [folder / path for folder in (package, package / "live", package / "inference")]
    return next((place for place in places if place.exists()), ROOT / path)


def test_paths_and_names_of_the_guide_are_where_it_says() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text()
    missing = {path for path in paths_named(guide) if not place_of(path).exists()}
    assert {path for path in missing if not list(ROOT.glob(f"src/**/{path}"))} == set()
    assert len(names_placed(guide)) >= 10
    for name, path in names_placed(guide):
        assert re.search(rf"\b{name}\b", place_of(path).read_text()), f"{path} has no {name}"


def test_paths_and_names_are_collected() -> None:
    guide = "`ONE` (`live/one.py`), `Two`s in\n`live/two.py`, in `live/http/` and `file.py`"
    assert paths_named(guide) == {"live/one.py", "live/two.py", "live/http/"}
    assert names_placed(guide) == {("ONE", "live/one.py"), ("Two", "live/two.py")}


def files_of_the_walks(design: str) -> list[set[str]]:
    """Collect the files and folders that each of the walks names."""
    (walks,) = re.findall(r"^## Four walks\n(.*?)^## ", design, re.MULTILINE | re.DOTALL)
    return [set(re.findall(r"`([\w/]+(?:\.py|/))`", walk)) for walk in walks.split("\n\n**")[1:]]


def test_the_walks_pass_through_files_that_exist() -> None:
    walks = files_of_the_walks((ROOT / "docs/design.md").read_text())
    package = Path(patientbandits.__file__).parent
    assert len(walks) == 4
    for walk in walks:
        assert 4 <= len(walk) <= 12, "short, and still a walk"
        assert [path for path in sorted(walk) if not (package / path).exists()] == []


def test_files_of_walks_are_read() -> None:
    page = (
        "## Four walks\n\n`no.py`\n\n**One.** `bandit.py`, `engine/run.py`\n\n**Two.** "
        "`live/store/`, `cors.py` and `pb.name`\n\n## Else\n\n`else.py`\n"
    )
    assert files_of_the_walks(page) == [
        {"bandit.py", "engine/run.py"},
        {"live/store/", "cors.py"},
    ]


def test_pages_count_the_problems_of_the_suite() -> None:
    """DelayBench 1 is N problems, the N problems of DelayBench 1: wherever it is said."""
    pages = [*PAGES, *FOR_CONTRIBUTORS]
    counted = r"DelayBench\s+1(?:\s+is|:)\s+(\d+)\s+problems|(\d+)\s+problems\s+of\s+DelayBench\s+1"
    said = [found for page in pages for found in re.findall(counted, page.read_text())]
    assert len(said) >= 4
    assert {first or second for first, second in said} == {str(len(compare.suite()))}


def test_every_public_name_is_there_and_typed() -> None:
    for name in patientbandits.__all__:
        assert getattr(patientbandits, name) is not None
    source = Path(patientbandits.__file__).read_text()
    typed = set(
        re.findall(r"^    from patientbandits\S* import (\w+) as \1$", source, re.MULTILINE)
    )
    assert typed == set(patientbandits.__all__) - {"__version__"}
    assert (Path(patientbandits.__file__).parent / "py.typed").exists()


def test_every_policy_and_law_is_a_public_name() -> None:
    missing = {*POLICIES, *LAWS} - set(patientbandits.__all__)
    assert missing == set(), "each needs a line in src/patientbandits/__init__.py"


def test_changelog_has_the_version() -> None:
    assert f"## {patientbandits.__version__}" in (ROOT / "CHANGELOG.md").read_text()
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dynamic"] == ["version"]


def test_lock_files_name_no_host() -> None:
    for lock in ROOT.glob("requirements*.lock"):
        assert "://" not in lock.read_text()


def test_supported_pythons_are_named_alike() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    prefix = "Programming Language :: Python :: "
    named = [line.removeprefix(prefix) for line in project["classifiers"] if prefix in line]
    pythons = [version for version in named if "." in version]
    (matrix,) = re.findall(r"python: \[(.*)\]", (ROOT / ".github/workflows/checks.yml").read_text())
    assert re.findall(r'"(.*?)"', matrix) == pythons
    assert project["requires-python"] == f">={pythons[0]}"
    guide = (ROOT / "CONTRIBUTING.md").read_text()
    assert f"Python {pythons[0]} to {pythons[-1]}" in guide
