"""Policies: the paper's, its baselines, and what to derive your own from.

How to write one: `patientbandits.policies.base`. To add one to the package: its file, and its line
here, in the order in which policies are listed.
"""
# ruff: noqa: I001

from patientbandits.policies.base import Arm as Arm, Policy as Policy
from patientbandits.policies.patient_thompson import PatientThompson as PatientThompson
from patientbandits.policies.calendar_thompson import CalendarThompson as CalendarThompson
from patientbandits.policies.guarded import GuardedThompson as GuardedThompson
from patientbandits.policies.patient_kl import PatientKL as PatientKL
from patientbandits.policies.patient import PatientBandits as PatientBandits
from patientbandits.policies.patient import ScheduledPatientBandits as ScheduledPatientBandits
from patientbandits.policies.adaptive import AdaptPatientBandits as AdaptPatientBandits
from patientbandits.policies.ducb import DUCB as DUCB
from patientbandits.policies.ducb import DKLUCB as DKLUCB
from patientbandits.policies.bootstrapped import BootstrappedThompson as BootstrappedThompson
from patientbandits.policies.d_ts import DTS as DTS
from patientbandits.policies.d_ts_bayes import DTSBayes as DTSBayes
from patientbandits.policies.window_thompson import WindowThompson as WindowThompson
from patientbandits.policies.signal_thompson import SignalThompson as SignalThompson
from patientbandits.policies.oracle import OracleThompson as OracleThompson
from patientbandits.policies.otf_linucb import OTFLinUCB as OTFLinUCB
from patientbandits.policies.otf_lints import OTFLinTS as OTFLinTS
from patientbandits.policies.undelayed import UCB1 as UCB1
from patientbandits.policies.undelayed import KLUCB as KLUCB
from patientbandits.policies.undelayed import MOSS as MOSS
from patientbandits.policies.undelayed import Thompson as Thompson
from patientbandits.policies.top_two import TopTwoThompson as TopTwoThompson
from patientbandits.policies.floor_mixture import FloorMixture as FloorMixture
from patientbandits.policies.undelayed import Uniform as Uniform
from patientbandits.policies.reported import DelayedUCB1 as DelayedUCB1
from patientbandits.policies.qpmd import QPMD as QPMD
from patientbandits.policies.reported import SuccessiveElimination as SuccessiveElimination
from patientbandits.policies.phased_elimination import PhasedElimination as PhasedElimination
from patientbandits.policies.reported import OptimisticElimination as OptimisticElimination
from patientbandits.policies.delayed_exp3 import DelayedEXP3 as DelayedEXP3
from patientbandits.policies.reported import ArrivedThompson as ArrivedThompson

POLICIES: dict[str, type[Policy]] = {
    name: kind
    for name, kind in globals().items()
    if isinstance(kind, type) and issubclass(kind, Policy) and kind is not Policy
}
"""The policies by name, as files and the command line name them."""

RENAMED = {"ToldThompson": "OracleThompson"}
"""old names: files with them are read for ever"""

__all__ = ["POLICIES", "Arm", "Policy", *POLICIES]
