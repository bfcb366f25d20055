"""Names: of experiments, units and keys, as text that people may write."""

from __future__ import annotations

import pytest

import patientbandits as pb
from patientbandits import live
from patientbandits.live.names import experiment_name, printable_text

UCB = pb.UCB1()


@pytest.mark.parametrize("bad", ["", "x" * 201, "a\nb", "a\0b", "\ud800", 7, b"u", True])
def test_units_and_keys_that_are_none(shop, bad):
    button = shop.experiment("button", ["a"], policy=UCB)
    for call in (lambda: button.decide(unit=bad), lambda: button.decide(key=bad)):
        with pytest.raises(live.RefusedError):
            call()
    assert button.decide(unit="ü 🙂 %s ? ' \" \\ {}", key="% ?? %(x)s $1").arm == "a"
    assert button.decide(unit="ü 🙂 %s ? ' \" \\ {}", key="% ?? %(x)s $1").duplicate


@pytest.mark.parametrize("name", ["a", "A-1", "0.b_c", "x" * 100])
def test_names_of_experiments(name):
    assert experiment_name(name) == name


@pytest.mark.parametrize("name", ["", "a b", "/", "-a", ".a", "ä", "x" * 101, "a\n", 7, None])
def test_names_that_do_not_fit_a_path(name):
    with pytest.raises(live.RefusedError, match=r"^experiment: a name must be"):
        experiment_name(name)


def test_printable_text():
    """Of every category but controls and surrogates; tags and marks are written by people too."""
    for text in ("a", "x" * 200, " ", "\u200d", "\U000e0041", "\u00ad"):
        assert printable_text("key: note", text) == text
    for text in ("", "x" * 201, "a\tb", "\x7f", "\udc00", b"a", None):
        with pytest.raises(live.RefusedError, match=r"^key: note must be 1 to 200 printable"):
            printable_text("key: note", text)
