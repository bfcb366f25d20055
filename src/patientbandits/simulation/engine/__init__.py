"""The compiled engine: worlds, arrivals, episodes, lanes, replays, and the cache of their code."""

from typing import TYPE_CHECKING

from patientbandits._util.exports import lazy_exports

if TYPE_CHECKING:
    from patientbandits.simulation.engine.replay import CONVERSION as CONVERSION
    from patientbandits.simulation.engine.replay import DECISION as DECISION
    from patientbandits.simulation.engine.replay import EVENT as EVENT
    from patientbandits.simulation.engine.replay import MANY_EVENTS as MANY_EVENTS
    from patientbandits.simulation.engine.replay import MILLIONTHS as MILLIONTHS
    from patientbandits.simulation.engine.replay import RETRACTION as RETRACTION
    from patientbandits.simulation.engine.replay import UNDECIDED as UNDECIDED
    from patientbandits.simulation.engine.replay import ArmTally as ArmTally
    from patientbandits.simulation.engine.replay import ReplayState as ReplayState
    from patientbandits.simulation.engine.replay import chance_for as chance_for
    from patientbandits.simulation.engine.replay import program_of as program_of
    from patientbandits.simulation.engine.run import Job as Job
    from patientbandits.simulation.engine.run import code_digest as code_digest
    from patientbandits.simulation.engine.run import play as play
    from patientbandits.simulation.engine.scratch import Block as Block
    from patientbandits.simulation.engine.shares import NO_SHARES as NO_SHARES
    from patientbandits.simulation.engine.shares import ShareBook as ShareBook
    from patientbandits.simulation.engine.shares import lead_of as lead_of
    from patientbandits.simulation.engine.shares import mixed_share as mixed_share
    from patientbandits.simulation.engine.shares import turn_page as turn_page
    from patientbandits.simulation.engine.worlds import any_report as any_report
    from patientbandits.simulation.engine.worlds import heard_after as heard_after
    from patientbandits.simulation.engine.worlds import row_of as row_of
    from patientbandits.simulation.engine.worlds import signal_delay as signal_delay
    from patientbandits.simulation.engine.worlds import world_of as world_of

__all__, __getattr__, __dir__ = lazy_exports(__name__)
