"""The documentation as a site: complete, its links lead somewhere, its examples run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from tools.docstrings import as_markdown
from tools.site_pages import ROOT, anchor, examples, link, moved, page_of, pages_in, reference_names

import patientbandits
from patientbandits import live
from patientbandits.research.compare.delay_bench import suite

pytestmark = pytest.mark.slow

LOADING = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
"""elements that make a browser load something, and where from"""

EXAMPLES = examples()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as `make docs` does, in strict mode."""
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "-d", str(out)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=600, env=os.environ
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return out


class PageReader(HTMLParser):
    """The ids of a page, where it links to, and what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if found.get("id"):
            self.ids.add(str(found["id"]))
        if tag == "a" and found.get("href"):
            self.links.append(str(found["href"]))
        if tag in LOADING and found.get(LOADING[tag]):
            self.loads.append(str(found[LOADING[tag]]))


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, PageReader]:
    found = {path: PageReader(path) for path in site.rglob("*.html") if path.name != "404.html"}
    assert len(found) > 30
    return found


def test_nothing_is_loaded_from_elsewhere(site: Path, pages: dict[Path, PageReader]) -> None:
    for path, page in pages.items():
        for target in page.loads:
            assert not urlsplit(target).netloc, f"{path.name}: {target}"
            assert (path.parent / unquote(urlsplit(target).path)).exists(), f"{path}: {target}"
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\(\s*['\"]?(https?:)?//", sheet.read_text()), sheet.name


def test_links_of_the_site_lead_somewhere(pages: dict[Path, PageReader]) -> None:
    """Anchors too. Links to other sites are not followed."""
    dead = []
    for path, page in pages.items():
        for href in page.links:
            target = urlsplit(href)
            if target.scheme or target.netloc:
                continue
            other = (path.parent / unquote(target.path)).resolve() if target.path else path
            if other.is_dir():
                other /= "index.html"
            if not other.exists():
                dead.append((path.name, href))
            elif target.fragment and other.suffix == ".html":
                anchor = unquote(target.fragment)
                if anchor not in pages[other].ids and not anchor.startswith("__"):
                    dead.append((path.name, href))
    assert dead == []


def test_every_public_name_is_in_the_reference(pages: dict[Path, PageReader]) -> None:
    by_name = {path.relative_to(path.parents[1]).as_posix(): page for path, page in pages.items()}
    names = reference_names()
    assert set(patientbandits.__all__) - {"__version__"} <= set(names)
    assert {f"live.{name}" for name in live.__all__} <= set(names)
    for name, path in names.items():
        file = f"reference/{page_of(path).lower().replace(' ', '-')}.html"
        assert {anchor(name), path} <= by_name[file].ids, name


def test_every_public_name_has_an_example_that_names_it() -> None:
    names = reference_names()
    assert set(EXAMPLES) == set(names)
    for name in names:
        assert name.split(".")[-1] in EXAMPLES[name], name


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_of_the_reference(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code = f"import patientbandits as pb\n\n{EXAMPLES[name]}"
    exec(compile(code, f"example of {name}", "exec"), {"__name__": "example"})


def test_every_problem_of_the_benchmark_is_listed(site: Path) -> None:
    page = (site / "benchmark.html").read_text()
    assert all(f"<td>{case.name}</td>" in page for case in suite())


def test_a_docstring_keeps_its_form() -> None:
    text = "a^b * c_d <x> of `some_name`\n\nlaw     the delay\nwindow  m\n\n    indented"
    assert as_markdown(text) == (
        "a^b \\* c\\_d &lt;x&gt; of `some_name`\n\n"
        "```text\nlaw     the delay\nwindow  m\n```\n\n```text\n    indented\n```"
    )


def test_pages_of_the_navigation_are_found() -> None:
    nav = [{"Home": "index.md"}, {"Theory": ["a.md", {"More": [{"B": "b.md"}]}]}]
    assert pages_in(nav) == ["index.md", "a.md", "b.md"]


def test_links_out_of_the_docs_lead_to_pages() -> None:
    assert moved("../README.md", "") == "index.md"
    assert moved("../CONTRIBUTING.md", "reference") == "../contributing.md"
    assert moved("../notebooks/your-own-data.ipynb", "") == "notebooks/your-own-data.md"
    assert moved("theory.md", "") == "theory.md"
    assert link("a recipe", "../deploy", "", "") == "a recipe (`deploy` in the repository)"
    assert link("words", "notation.md", "#words", "") == "[words](notation.md#words)"
