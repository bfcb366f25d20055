"""Every policy on a standard suite of problems, in the same worlds: `run`, and its parts."""

from patientbandits.compare.comparison import Comparison
from patientbandits.compare.contenders import Contender, contenders
from patientbandits.compare.delay_bench import suite
from patientbandits.compare.run import run
from patientbandits.compare.suite import Case

__all__ = ["Case", "Comparison", "Contender", "contenders", "run", "suite"]
