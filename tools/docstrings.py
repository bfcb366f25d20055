"""Docstrings for the reference: prose stays prose, formulas and columns keep their form.

Docstrings here are plain text. Read as Markdown, a^b and a * b would become something else, and
columns would run together. A paragraph with more than one space between words, or indented, is
shown as it is; in all others signs that Markdown would read are taken literally.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

FORM = re.compile(r"\S {2,}\S|^ +\S", re.MULTILINE)
CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)


def as_markdown(text: str) -> str:
    """The docstring, to be read as Markdown."""
    return "\n\n".join(paragraph(part) for part in re.split(r"\n\s*\n", text.strip("\n")))


def paragraph(text: str) -> str:
    if FORM.search(text):
        return f"```text\n{text}\n```"
    parts = []
    end = 0
    for code in CODE.finditer(text):
        parts += [literal(text[end : code.start()]), f"`{code[2]}`"]
        end = code.end()
    return "".join([*parts, literal(text[end:])])


def literal(text: str) -> str:
    """With every sign that Markdown would read escaped."""
    escaped = re.sub(r"([\\*_\[\]#{}])", r"\\\1", text)
    return escaped.replace("<", "&lt;").replace(">", "&gt;")


class PlainDocstrings(Extension):
    """For mkdocstrings."""

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)
