"""Whether a tag may become a release: every file that names the version must name the same one.

    python tools/release.py v1.2.3

Prints what disagrees, one line each, and ends with exit code 1 if anything does.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]


def found(path: Path, pattern: str) -> str | None:
    """What the group of ``pattern`` matches in a file, if it does."""
    match = re.search(pattern, path.read_text("utf-8"), re.MULTILINE)
    if match is None:
        return None
    return match.group(1)


def disagreements(root: Path, tag: str) -> list[str]:
    """One line for each file that does not agree with the tag."""
    version = tag.removeprefix("v")
    date = found(root / "CHANGELOG.md", rf"^## {re.escape(version)} \((\d{{4}}-\d\d-\d\d)\)$")
    wanted = [
        ("src/patientbandits/_version.py", r'^__version__ = "(.*)"$', version),
        ("CITATION.cff", r"^version: (.*)$", version),
        ("CITATION.cff", r"^date-released: (.*)$", date),
    ]
    lines = []
    if date is None:
        lines.append(f"CHANGELOG.md: needs the heading '## {version} (YYYY-MM-DD)'.")
    for name, pattern, value in wanted:
        there = found(root / name, pattern)
        if value is not None and there != value:
            lines.append(f"{name}: must name {value}, as the tag {tag} does; got {there}.")
    return lines


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 1 or not re.fullmatch(r"v\d+\.\d+\.\d+\S*", arguments[0]):
        print(f"release.py: one tag is needed, as v1.2.3; got {' '.join(arguments)}.")
        return 2
    lines = disagreements(ROOT, arguments[0])
    print("\n".join(lines) or f"{arguments[0]} may be released.")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
