"""What the documentation's site has beside docs/*.md: a hook of mkdocs.

The reference, one page for each group of public names, from docstrings and examples; notebooks; the
pages for contributors. Links that lead out of docs/ in the repository lead to these pages here.
"""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path
from types import ModuleType
from typing import Any

from mkdocs.structure.files import File, Files
from tools.benchmark_pages import benchmark_page, results_page

import patientbandits as pb
from patientbandits import live, theory
from patientbandits._util.exports import public_names
from patientbandits.problems import catalogue as problems

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "docs" / "examples" / "reference.py"
NOTEBOOKS = ROOT / "notebooks"
FROM_ROOT = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
}
"""pages of the repository -> their place on the site"""

HOMES = {
    "problems": "The setting",
    "problems.delays": "Delays",
    "problems.rewards": "Rewards",
    "policies": "Policies",
    "simulation": "Simulations and results",
    "errors": "Simulations and results",
    "simulation.bandit": "Your own loop",
    "inference": "Your own loop",
    "theory": "Theory",
    "live": "Live",
    "integrations": "In other tools",
    "analysis": "Your own data",
}
"""Rooms, and modules in them, by the page of the reference that has their names."""


def examples() -> dict[str, str]:
    """Public name -> the example of it."""
    parts = re.split(r"^# %% (.+)$", EXAMPLES.read_text(), flags=re.MULTILINE)
    return {name: text.strip() for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def reference_names() -> dict[str, str]:
    """Map each name after `pb.` to the place that defines it: all that there is to look up."""
    places = {name: place_of(getattr(pb, name)) for name in public_names("patientbandits")}
    places["problems"] = "patientbandits.problems.catalogue"
    places["theory"] = "patientbandits.theory"
    for prefix, module in (("problems", problems), ("theory", theory)):
        for name in functions_of(module):
            places[f"{prefix}.{name}"] = place_of(getattr(module, name))
    for name in public_names("patientbandits.live"):
        places[f"live.{name}"] = place_of(getattr(live, name))
    places["gym.DelayedBandit"] = "patientbandits.integrations.gym.DelayedBandit"
    return places


def place_of(thing: Any) -> str:
    """Return the full name of a class, function or module where it is defined, not imported."""
    if isinstance(thing, ModuleType):
        return thing.__name__
    return f"{thing.__module__}.{thing.__qualname__}"


def functions_of(module: Any) -> list[str]:
    """The functions that the module, or the package, defines."""
    own = module.__name__
    found = []
    for name, value in vars(module).items():
        home = getattr(value, "__module__", "")
        if callable(value) and not isinstance(value, type) and home.startswith(own):
            found.append(name)
    return sorted(found)


def page_of(path: str) -> str:
    """Name the page of the reference for what is defined at ``path``: the longest match counts."""
    parts = path.split(".")[1:]
    homes = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next(HOMES[home] for home in homes if home in HOMES)


def file_of(page: str) -> str:
    return f"reference/{page.lower().replace(' ', '-')}.md"


def reference_pages() -> dict[str, str]:
    """File -> text."""
    shown = examples()
    pages: dict[str, list[str]] = {}
    for name, path in reference_names().items():
        lines = pages.setdefault(page_of(path), [])
        lines += [entry(name, path), "```python", "import patientbandits as pb", ""]
        lines += [shown.get(name, ""), "```", ""]
    return {file_of(page): "\n".join([f"# {page}", "", *lines]) for page, lines in pages.items()}


def shown_name(name: str) -> str:
    """As users write it."""
    return name if name.startswith("live.") else f"pb.{name}"


def entry(name: str, path: str) -> str:
    """What mkdocstrings makes of the docstring, under a short name that links can use."""
    shown = shown_name(name)
    return f"""<a id="{anchor(name)}"></a>

::: {path}
    options:
      heading: {shown}
      toc_label: {shown}
"""


def anchor(name: str) -> str:
    """Of a name on its page: `pb.UCB1` is at #pbucb1."""
    return shown_name(name).replace(".", "").lower()


def notebook_page(path: Path) -> str:
    """Its cells as a page."""
    parts = []
    for cell in json.loads(path.read_text())["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
    name = f"`notebooks/{path.name}` in the repository"
    return "\n\n".join([*parts, f"*This page is {name}, where it can be run.*"])


def generated() -> dict[str, str]:
    """File -> text of all pages that are not in docs/."""
    pages = reference_pages()
    pages["benchmark.md"] = benchmark_page()
    pages["benchmark-results.md"] = results_page()
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        pages[f"notebooks/{path.stem}.md"] = notebook_page(path)
    for name, place in FROM_ROOT.items():
        pages[place] = (ROOT / name).read_text().replace("](docs/", "](")
    return pages


def pages_in(nav: Any) -> list[str]:
    """The files that a navigation names."""
    if isinstance(nav, str):
        return [nav]
    if isinstance(nav, dict):
        nav = list(nav.values())
    return [name for part in nav for name in pages_in(part)]


def on_config(config: Any) -> Any:
    """mkdocs: a page of docs/ that mkdocs.yml does not name is shown at the end, not left out."""
    named = pages_in(config.nav)
    others = sorted(path.name for path in (ROOT / "docs").glob("*.md") if path.name not in named)
    if others:
        config.nav.append({"More": others})
    return config


def on_files(files: Files, config: Any) -> Files:
    """mkdocs: the pages that are not in docs/."""
    for place, text in generated().items():
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """mkdocs: links that lead to a file of the repository lead to its page."""
    here = posixpath.dirname(page.file.src_uri)
    return re.sub(
        r"\[([^\]]*)\]\(([^)#\s]+)(#[^)]*)?\)",
        lambda match: link(match[1], match[2], match[3] or "", here),
        markdown,
    )


def link(words: str, target: str, place: str, here: str) -> str:
    """A link of the repository as the site has it; what is not on the site is named instead."""
    if target.startswith("../") and moved(target, here) == target and here == "":
        return f"{words} (`{target.removeprefix('../')}` in the repository)"
    return f"[{words}]({moved(target, here)}{place})"


def moved(target: str, here: str) -> str:
    """Where a link of the repository leads on the site."""
    name = target.removeprefix("../")
    if name == "README.md":
        place = "index.md"
    elif name in FROM_ROOT:
        place = FROM_ROOT[name]
    elif name.startswith("notebooks/"):
        place = name.replace(".ipynb", ".md")
    else:
        return target
    return posixpath.relpath(place, here or ".")
