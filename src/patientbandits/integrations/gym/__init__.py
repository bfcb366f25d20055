"""A problem as an environment of Gymnasium. Importing this package registers it.

import gymnasium
import patientbandits.integrations.gym

environment = gymnasium.make("patientbandits/DelayedBandit-v0", problem=problem)
"""

from patientbandits.integrations.gym.environment import ENVIRONMENT_ID as ENVIRONMENT_ID
from patientbandits.integrations.gym.environment import Arrival as Arrival
from patientbandits.integrations.gym.environment import DelayedBandit as DelayedBandit
from patientbandits.integrations.gym.environment import register_environment

register_environment()
