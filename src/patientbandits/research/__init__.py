"""Study files, the paper's experiments, DelayBench, and what others published, played again."""

from typing import TYPE_CHECKING

from patientbandits._util.exports import lazy_exports

if TYPE_CHECKING:
    from patientbandits.research.study import Study as Study
    from patientbandits.research.study import read_study as read_study
    from patientbandits.research.study import run_study as run_study

__all__, __getattr__, __dir__ = lazy_exports(__name__)
