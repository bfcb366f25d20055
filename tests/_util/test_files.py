"""Files: whole or not at all, with checksums, as CSV and as JSON."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from patientbandits._util.files import (
    CHECKSUM_LENGTH,
    TEMPORARY,
    checksum,
    json_default,
    write_atomically,
    write_csv,
)


def test_a_failed_write_leaves_the_old_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "table.csv"
    write_atomically(path, b"old")

    def full(*arguments: object) -> None:
        assert list(tmp_path.glob(TEMPORARY)), "written beside it"
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="no space"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert not list(tmp_path.glob(TEMPORARY))


def test_tables_have_six_digits(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    write_csv(path, ["name", "value"], [("a,b", 1 / 3), ("c", 7)])
    assert path.read_text() == 'name,value\n"a,b",0.333333\nc,7\n'


def test_checksums_tell_contents_apart() -> None:
    assert len(checksum(b"one")) == CHECKSUM_LENGTH
    assert checksum(b"one") != checksum(b"two")


def test_numpy_numbers_are_numbers_in_json() -> None:
    assert json.loads(json.dumps([np.float64(0.5), np.int64(3)], default=json_default)) == [0.5, 3]
    with pytest.raises(TypeError, match="has no place in a file"):
        json.dumps(object(), default=json_default)
