"""Policies: the paper's, its baselines, and what to derive your own from. See `patientbandits.policies.base`."""

from patientbandits.policies.adaptive import AdaptPatientBandits
from patientbandits.policies.arrived import ArrivedThompson, DelayedUCB1, SuccessiveElimination
from patientbandits.policies.base import Arm, Policy
from patientbandits.policies.bootstrapped import BootstrappedThompson
from patientbandits.policies.ducb import DKLUCB, DUCB
from patientbandits.policies.guarded import GuardedThompson
from patientbandits.policies.otf import OTFLinUCB
from patientbandits.policies.patient import PatientBandits, ScheduledPatientBandits
from patientbandits.policies.patient_kl import PatientKL
from patientbandits.policies.patient_thompson import PatientThompson
from patientbandits.policies.queued import QPMD
from patientbandits.policies.simple import KLUCB, MOSS, UCB1, Thompson, Uniform

POLICIES: dict[str, type[Policy]] = {
    policy.__name__: policy
    for policy in (
        PatientThompson,
        GuardedThompson,
        PatientKL,
        PatientBandits,
        ScheduledPatientBandits,
        AdaptPatientBandits,
        DUCB,
        DKLUCB,
        BootstrappedThompson,
        OTFLinUCB,
        UCB1,
        KLUCB,
        MOSS,
        Thompson,
        Uniform,
        DelayedUCB1,
        QPMD,
        SuccessiveElimination,
        ArrivedThompson,
    )
}

__all__ = [
    "DKLUCB",
    "DUCB",
    "KLUCB",
    "MOSS",
    "POLICIES",
    "QPMD",
    "UCB1",
    "AdaptPatientBandits",
    "Arm",
    "ArrivedThompson",
    "BootstrappedThompson",
    "DelayedUCB1",
    "GuardedThompson",
    "OTFLinUCB",
    "PatientBandits",
    "PatientKL",
    "PatientThompson",
    "Policy",
    "ScheduledPatientBandits",
    "SuccessiveElimination",
    "Thompson",
    "Uniform",
]
