"""DelayBench: every policy on a standard suite of problems, in the same worlds."""

from patientbandits.research.compare.cases import Case
from patientbandits.research.compare.comparison import Comparison, summary
from patientbandits.research.compare.contenders import Contender, contenders, feedback_of
from patientbandits.research.compare.delay_bench import DELAY_BENCH, SUITE_SEED, suite
from patientbandits.research.compare.frozen import write_frozen
from patientbandits.research.compare.run import run
from patientbandits.research.compare.selection import FIRST_SUITE, SUITES, with_study
from patientbandits.research.compare.tuned import tuned_contenders

__all__ = [
    "DELAY_BENCH",
    "FIRST_SUITE",
    "SUITES",
    "SUITE_SEED",
    "Case",
    "Comparison",
    "Contender",
    "contenders",
    "feedback_of",
    "run",
    "suite",
    "summary",
    "tuned_contenders",
    "with_study",
    "write_frozen",
]
