"""The state of an experiment's policy: memory, snapshots, shares of the arms."""

from typing import TYPE_CHECKING

from patientbandits._util.exports import lazy_exports

if TYPE_CHECKING:
    from patientbandits.live.policy.compiling import FROM_INPUT as FROM_INPUT
    from patientbandits.live.policy.compiling import OwnProcess as OwnProcess
    from patientbandits.live.policy.kept_arms import GivenLine as GivenLine
    from patientbandits.live.policy.kept_arms import Regimes as Regimes
    from patientbandits.live.policy.memory import PolicyMemory as PolicyMemory
    from patientbandits.live.policy.memory import Room as Room
    from patientbandits.live.policy.memory import have_compiled as have_compiled
    from patientbandits.live.policy.memory import is_sealed as is_sealed
    from patientbandits.live.policy.memory import opened as opened
    from patientbandits.live.policy.memory import saved_arrays as saved_arrays
    from patientbandits.live.policy.memory import warm as warm
    from patientbandits.live.policy.state import PolicyState as PolicyState
    from patientbandits.live.policy.weights import cached_weights as cached_weights
    from patientbandits.live.policy.weights import weights_of as weights_of

__all__, __getattr__, __dir__ = lazy_exports(__name__)
