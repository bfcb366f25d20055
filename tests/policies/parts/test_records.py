"""Records of zeros, by the axes that their fields name."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from patientbandits.policies.parts.records import ArmFloats, PullArms, zeros


class Counts(NamedTuple):
    seen: ArmFloats
    arm_of: PullArms
    table: Annotated[NDArray[np.int16], "arm", "bin"]
    last: NDArray[np.int64]
    """a single number"""


def test_each_array_has_its_axes_and_its_kind_of_number() -> None:
    record = zeros(Counts, arm=3, pull=5, bin=2)
    kinds = {name: (array.shape, array.dtype) for name, array in record._asdict().items()}
    assert kinds == {
        "seen": ((3,), np.dtype(np.float64)),
        "arm_of": ((5,), np.dtype(np.int32)),
        "table": ((3, 2), np.dtype(np.int16)),
        "last": ((1,), np.dtype(np.int64)),
    }
    assert not any(array.any() for array in record)


def test_records_share_no_array() -> None:
    first = zeros(Counts, arm=1, pull=1, bin=1)
    first.last[0] = 7
    assert zeros(Counts, arm=1, pull=1, bin=1).last[0] == 0


class Both(NamedTuple):
    counts: Counts
    total: NDArray[np.float64]


def test_a_record_may_hold_another_one() -> None:
    record = zeros(Both, arm=2, pull=1, bin=3)
    assert isinstance(record.counts, Counts)
    assert record.counts.table.shape == (2, 3)
    assert record.total.shape == (1,)
