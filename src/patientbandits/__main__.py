"""``python -m patientbandits``: the command line."""

import sys

from patientbandits.cli import main

sys.exit(main())
