"""Copies of a whole database."""

from __future__ import annotations

import pytest
from histories import busy

from patientbandits import live
from patientbandits.errors import InputError
from patientbandits.live.operations.backups import backup, restore
from patientbandits.live.operations.checks import check


def everything(store):
    with store.reading() as reader:
        tables = {
            name: sorted(map(str, reader.rows(f"SELECT * FROM {name}")))
            for name in ("experiments", "log", "keys")
        }
        return tables | {"secret": reader.fact("secret")}


@pytest.mark.parametrize("target", ["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def test_a_backup_restored_is_the_same_database(shop, clock, fresh, tmp_path, target):
    button, made = busy(shop, clock)
    file, other = str(tmp_path / "copy" / "backup.db"), fresh(target)
    (tmp_path / "copy").mkdir()
    assert backup(shop.store, file) == shop.store.head(1)
    assert [path.name for path in (tmp_path / "copy").iterdir()] == ["backup.db"]
    button.change(paused=False)
    button.decide()  # after the backup
    assert restore(file, other) == shop.store.head(1) - 2
    with live.open(other, clock=clock) as again:
        assert everything(again.store)["secret"] == everything(shop.store)["secret"]
        assert not check(again.store)["wrong"]
        twin = again.open("button")
        assert twin.convert(made[2].id, 0.52) == (True, True)
        twin.change(paused=False)
        assert twin.decide().arm in ("blue", "=1+1")
    with pytest.raises(InputError, match="must be empty"):
        restore(file, other)
    with pytest.raises(InputError, match="must not exist"):
        backup(shop.store, file)
