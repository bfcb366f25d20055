"""The lines of the log, their chain and their ids."""

from typing import TYPE_CHECKING

from patientbandits._util.exports import lazy_exports

if TYPE_CHECKING:
    from patientbandits.live.log.age_classes import EDGES as EDGES
    from patientbandits.live.log.age_classes import class_of as class_of
    from patientbandits.live.log.age_classes import made_between as made_between
    from patientbandits.live.log.age_classes import seconds_of_class as seconds_of_class
    from patientbandits.live.log.decision_lines import Attention as Attention
    from patientbandits.live.log.decision_lines import chosen_line as chosen_line
    from patientbandits.live.log.decision_lines import decision_line as decision_line
    from patientbandits.live.log.decision_lines import is_open as is_open
    from patientbandits.live.log.decision_lines import is_told as is_told
    from patientbandits.live.log.ids import Era as Era
    from patientbandits.live.log.ids import Signer as Signer
    from patientbandits.live.log.ids import begun_era as begun_era
    from patientbandits.live.log.ids import eras_text as eras_text
    from patientbandits.live.log.ids import stored_eras as stored_eras
    from patientbandits.live.log.line import KINDS as KINDS
    from patientbandits.live.log.line import MILLIONTHS as MILLIONTHS
    from patientbandits.live.log.line import Decided as Decided
    from patientbandits.live.log.line import DecisionColumns as DecisionColumns
    from patientbandits.live.log.line import LogLine as LogLine
    from patientbandits.live.log.line import chained as chained
    from patientbandits.live.log.line import chained_decisions as chained_decisions
    from patientbandits.live.log.line import linked as linked
    from patientbandits.live.log.line import linked_with_names as linked_with_names
    from patientbandits.live.log.line import names_are_chained as names_are_chained
    from patientbandits.live.log.line import names_are_hashed_in as names_are_hashed_in
    from patientbandits.live.log.line import resealed as resealed
    from patientbandits.live.log.stored_records import Experiment as Experiment
    from patientbandits.live.log.stored_records import Snapshot as Snapshot
    from patientbandits.live.log.stored_records import StoredKey as StoredKey

__all__, __getattr__, __dir__ = lazy_exports(__name__)
