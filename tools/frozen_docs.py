"""Puts the table of DelayBench's frozen numbers into docs/compare.md, between its two marks."""

from __future__ import annotations

from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
TABLE = DOCS / "data" / "delay-bench-1" / "summary.md"
PAGE = DOCS / "compare.md"
BEGIN = "<!-- frozen -->\n"
END = "<!-- end of frozen -->\n"


def with_table(page: str, table: str) -> str:
    """The page with this table instead of the one it has."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def main() -> None:
    PAGE.write_text(with_table(PAGE.read_text(), TABLE.read_text()))


if __name__ == "__main__":
    main()
