"""``python -m patientbandits.cli``: the same as ``python -m patientbandits``."""

import sys

from patientbandits.cli import main

sys.exit(main())
