"""The command line as it is where the extras for other programs are not installed."""

from __future__ import annotations

import sys

for name in ("opentelemetry", "httpx", "openfeature", "requests"):
    sys.modules[name] = None  # to import it fails

from patientbandits.cli import main  # noqa: E402 - after that

sys.exit(main())
