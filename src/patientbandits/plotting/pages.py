"""Self-contained pages: one look, every picture inside, nothing loaded from elsewhere."""

from __future__ import annotations

import base64
import platform
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from patientbandits._version import __version__


def render_page(template: str, figures: Path, **values: Any) -> str:
    """The page of ``template``, a path inside the package that extends plotting/page.html.j2.

    It is given ``values``, the versions in use, and as ``pictures`` every SVG file in the folder
    ``figures``, by name.
    """
    import jinja2
    import numba

    package = files("patientbandits")
    environment = jinja2.Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        loader=jinja2.FunctionLoader(lambda name: package.joinpath(*name.split("/")).read_text()),
    )
    environment.filters["percent"] = lambda value, digits=1: f"{100 * value:.{digits}f} %"
    pictures = {
        path.stem: base64.b64encode(path.read_bytes()).decode() for path in figures.glob("*.svg")
    }
    versions = {
        "patientbandits": __version__,
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "numba": numba.__version__,
    }
    return environment.get_template(template).render(pictures=pictures, versions=versions, **values)
