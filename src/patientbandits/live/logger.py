"""Where the live service's log lines go: nowhere, unless the program says so."""

from __future__ import annotations

import logging

LOGGER = logging.getLogger("patientbandits.live")
LOGGER.addHandler(logging.NullHandler())
