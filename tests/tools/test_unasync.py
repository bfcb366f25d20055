"""The client for programs that wait is generated, and up to date."""

from __future__ import annotations

import pytest
from tools import unasync


def test_the_generated_client_is_up_to_date():
    generated = unasync.synchronous(unasync.SOURCE.read_text("utf-8"))
    assert unasync.TARGET.read_text("utf-8") == generated
    assert "async" not in generated.partition('"""\n')[2].replace("asynchronous.py", "")
    assert "await" not in generated


def test_a_change_of_the_source_alone_is_noticed(tmp_path, monkeypatch, capsys):
    source = tmp_path / "asynchronous.py"
    source.write_text(
        unasync.SOURCE.read_text("utf-8").replace("async def alias", "async def join")
    )
    monkeypatch.setattr(unasync, "SOURCE", source)
    assert unasync.main(["--check"]) == 1
    assert "not up to date" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("async def f():\n    await g()\n", "def f():\n    g()\n"),
        (
            "async def f():\n    async for x in y:\n        z(x)\n",
            "def f():\n    for x in y:\n        z(x)\n",
        ),
        ("class AsyncClient:\n    pass\n", "class Client:\n    pass\n"),
    ],
)
def test_rules(source, expected):
    assert unasync.synchronous(source) == expected
