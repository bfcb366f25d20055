"""The papers, by name."""

from __future__ import annotations

from collections.abc import Callable

from patientbandits.research.field.finding import PublishedPaper
from patientbandits.research.field.gigli_2024 import bootstrap_paper
from patientbandits.research.field.lancewicki_2021 import unrestricted_paper
from patientbandits.research.field.vernade_2017 import conversions_paper
from patientbandits.research.field.vernade_2020 import linear_paper
from patientbandits.research.field.wang_2022 import dts_paper

PAPERS: dict[str, Callable[[], PublishedPaper]] = {
    "vernade-2017": conversions_paper,
    "vernade-2020": linear_paper,
    "lancewicki-2021": unrestricted_paper,
    "wang-2022": dts_paper,
    "gigli-2024": bootstrap_paper,
}
"""name -> the paper, in the order in which they appeared"""
