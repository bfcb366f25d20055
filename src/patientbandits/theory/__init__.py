"""The paper's theorems as functions, and three of our own (B, C and E). Proofs: docs/theory.md.

``form="printed"`` is what the paper states, ``form="corrected"`` (default) what is true: in the
proof of Theorem 2, 16 L / gap^2 should be 32 L / gap^2 and the second term, 4 (4/gap)^x, can be had
smaller than printed; Theorem 4 holds with twice its constant. Logarithms are natural;
L = log(2 K T^3); a ^ b is the minimum, a v b the maximum.
"""

from patientbandits.theory.adaptive import adaptive_bound as adaptive_bound
from patientbandits.theory.adaptive import adaptive_penalty as adaptive_penalty
from patientbandits.theory.adaptive import adaptive_rate as adaptive_rate
from patientbandits.theory.adaptive import adaptive_start as adaptive_start
from patientbandits.theory.adaptive import alpha_interval as alpha_interval
from patientbandits.theory.blind import bad_rounds_bound as bad_rounds_bound
from patientbandits.theory.blind import blind_pulls_bound as blind_pulls_bound
from patientbandits.theory.blind import patience as patience
from patientbandits.theory.lower import frontier_bound as frontier_bound
from patientbandits.theory.lower import lower_bound as lower_bound
from patientbandits.theory.lower import no_adaptation_bound as no_adaptation_bound
from patientbandits.theory.lower import waiting_bound as waiting_bound
from patientbandits.theory.lower import window_bound as window_bound
from patientbandits.theory.upper import FORMS as FORMS
from patientbandits.theory.upper import confidence_width as confidence_width
from patientbandits.theory.upper import gap_dependent_bound as gap_dependent_bound
from patientbandits.theory.upper import minimax_bound as minimax_bound
from patientbandits.theory.upper import schedule_bound as schedule_bound
