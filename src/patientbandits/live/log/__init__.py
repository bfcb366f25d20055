"""The records of a database, and the log's rows and their chain."""

from typing import TYPE_CHECKING

from patientbandits._util.exports import lazy_exports

if TYPE_CHECKING:
    from patientbandits.live.log.age_classes import EDGES as EDGES
    from patientbandits.live.log.age_classes import class_of as class_of
    from patientbandits.live.log.age_classes import made_between as made_between
    from patientbandits.live.log.age_classes import seconds_of_class as seconds_of_class
    from patientbandits.live.log.chain import CHAIN_BYTES as CHAIN_BYTES
    from patientbandits.live.log.chain import LineRow as LineRow
    from patientbandits.live.log.chain import chained as chained
    from patientbandits.live.log.chain import chained_decisions as chained_decisions
    from patientbandits.live.log.chain import decided_of as decided_of
    from patientbandits.live.log.chain import decision_columns as decision_columns
    from patientbandits.live.log.chain import line_of as line_of
    from patientbandits.live.log.chain import linked as linked
    from patientbandits.live.log.chain import linked_with_names as linked_with_names
    from patientbandits.live.log.chain import names_are_chained as names_are_chained
    from patientbandits.live.log.chain import names_are_hashed_in as names_are_hashed_in
    from patientbandits.live.log.chain import resealed as resealed
    from patientbandits.live.log.chain import row_of as row_of
    from patientbandits.live.log.records import KINDS as KINDS
    from patientbandits.live.log.records import MILLIONTHS as MILLIONTHS
    from patientbandits.live.log.records import AliasLine as AliasLine
    from patientbandits.live.log.records import AssignmentLine as AssignmentLine
    from patientbandits.live.log.records import ChangeLine as ChangeLine
    from patientbandits.live.log.records import ConversionLine as ConversionLine
    from patientbandits.live.log.records import CreditLine as CreditLine
    from patientbandits.live.log.records import Decided as Decided
    from patientbandits.live.log.records import DecisionColumns as DecisionColumns
    from patientbandits.live.log.records import DecisionLine as DecisionLine
    from patientbandits.live.log.records import Experiment as Experiment
    from patientbandits.live.log.records import ExposureLine as ExposureLine
    from patientbandits.live.log.records import GoalLine as GoalLine
    from patientbandits.live.log.records import Line as Line
    from patientbandits.live.log.records import Naming as Naming
    from patientbandits.live.log.records import OpenDecision as OpenDecision
    from patientbandits.live.log.records import OrderLine as OrderLine
    from patientbandits.live.log.records import OutcomeLine as OutcomeLine
    from patientbandits.live.log.records import RetractionLine as RetractionLine
    from patientbandits.live.log.records import Snapshot as Snapshot
    from patientbandits.live.log.records import StoredKey as StoredKey
    from patientbandits.live.log.records import UnitGoalLine as UnitGoalLine
    from patientbandits.live.log.records import WithdrawalLine as WithdrawalLine

__all__, __getattr__, __dir__ = lazy_exports(__name__)
