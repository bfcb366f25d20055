"""What others published about late rewards, played again: findings, our numbers, verdicts."""

from patientbandits.field.papers import PAPERS as PAPERS
from patientbandits.field.run import play_field as play_field
