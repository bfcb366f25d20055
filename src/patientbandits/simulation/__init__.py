"""Playing a policy on a problem, once or in sweeps, and what comes of it."""

from typing import TYPE_CHECKING

from patientbandits._util.exports import lazy_exports

if TYPE_CHECKING:
    from patientbandits.simulation.bandit import Bandit as Bandit
    from patientbandits.simulation.bandit import Pull as Pull
    from patientbandits.simulation.result import Difference as Difference
    from patientbandits.simulation.result import Result as Result
    from patientbandits.simulation.simulation import pulls_over_time as pulls_over_time
    from patientbandits.simulation.simulation import simulate as simulate
    from patientbandits.simulation.sweeps import Progress as Progress
    from patientbandits.simulation.sweeps import Simulation as Simulation
    from patientbandits.simulation.sweeps import Start as Start
    from patientbandits.simulation.sweeps import executor as executor
    from patientbandits.simulation.sweeps import progress_from as progress_from
    from patientbandits.simulation.sweeps import rounds_of as rounds_of
    from patientbandits.simulation.sweeps import sweep as sweep

__all__, __getattr__, __dir__ = lazy_exports(__name__)
