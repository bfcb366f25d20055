"""An SQLite file has one server."""

from __future__ import annotations

import pytest
from histories import busy
from service import Running, command

from patientbandits import live
from patientbandits.errors import InputError
from patientbandits.live.operations.backups import backup, restore

pytestmark = pytest.mark.slow


def test_a_second_server_is_refused(tmp_path):
    path = tmp_path / "shop.db"
    with Running(path, "--no-keys") as server:
        second = command("serve", "--db", path, "--port", "0", "--no-keys")
        assert second.returncode == 2
        assert "another process serves" in second.stderr
        assert server.api.get("/readyz").status_code == 200
        assert command("experiments", "list", "--db", path).returncode == 0, "others may ask"
    with Running(path, "--no-keys") as server:
        assert server.api.get("/readyz").status_code == 200


def test_nothing_is_restored_under_a_server(tmp_path, clock):
    with live.open(str(tmp_path / "from.db"), clock=clock) as shop:
        busy(shop, clock)
        backup(shop.store, str(tmp_path / "copy.db"))
    path = tmp_path / "shop.db"
    with Running(path, "--no-keys"), pytest.raises(InputError, match="another process serves"):
        restore(str(tmp_path / "copy.db"), str(path))
    assert restore(str(tmp_path / "copy.db"), str(path)) > 0


def test_units_are_not_hashed_under_a_server(tmp_path):
    """Which would go on with names in the clear."""
    path = tmp_path / "shop.db"
    live.open(str(path), units="clear").close()
    with Running(path, "--no-keys"):
        refused = command("units", "hashed", "--db", path)
    assert refused.returncode == 2
    assert "another process serves" in refused.stderr
    with live.open(str(path)) as shop:
        assert shop.journal.names.way == "clear"
