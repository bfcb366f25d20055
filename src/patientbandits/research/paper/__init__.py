"""The paper's experiments, run again, and its claims, checked.

Each experiment is one file that holds all there is to say about it: problem, curves, claims, panels
and text. `report` lists these files in its order, carries them out and writes the page. A new
experiment is a file with a class derived from `experiment.PaperExperiment`, and its line in
`report.FILES`.
"""

from typing import TYPE_CHECKING

from patientbandits._util.exports import lazy_exports

if TYPE_CHECKING:
    from patientbandits.research.paper.claims import verdict as verdict
    from patientbandits.research.paper.curve import patient as patient
    from patientbandits.research.paper.figures3_4_ducb import D_UCB_TAIL as D_UCB_TAIL
    from patientbandits.research.paper.figures3_4_ducb import WINDOWS as WINDOWS
    from patientbandits.research.paper.report import NAMES as NAMES
    from patientbandits.research.paper.report import reproduce as reproduce
    from patientbandits.research.paper.section8_adaptive import (
        ADAPTIVE_ALPHA_FLOOR as ADAPTIVE_ALPHA_FLOOR,
    )
    from patientbandits.research.paper.section8_adaptive import ADAPTIVE_C as ADAPTIVE_C
    from patientbandits.research.paper.section8_adaptive import (
        ADAPTIVE_MEAN_FLOOR as ADAPTIVE_MEAN_FLOOR,
    )
    from patientbandits.research.paper.section8_adaptive import NEAREST_PENALTY as NEAREST_PENALTY
    from patientbandits.research.paper.section8_adaptive import NEAREST_RATIO as NEAREST_RATIO

__all__, __getattr__, __dir__ = lazy_exports(__name__)
