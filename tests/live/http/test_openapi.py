"""The service against its own description: whatever is sent, only what is described comes back,
and never a 5xx."""

from __future__ import annotations

import json
import os

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import CHECKS
from service import Running

from patientbandits import live
from patientbandits.live.http.routes import document
from patientbandits.live.operations.keys import new_token, token_hash

pytestmark = pytest.mark.slow

KEY = new_token(["admin"])
"""known before the server starts: requests are written down when tests are collected"""

EXAMPLES = int(os.environ.get("SCHEMA_EXAMPLES", "25"))
"""per operation and mode"""


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    db = tmp_path_factory.mktemp("schema") / "shop.db"
    with live.open(str(db)) as shop:
        hashed = token_hash(KEY)
        with shop.store.transaction():
            shop.store.add_key(id=hashed[:12], hash=hashed, note="", scopes="admin", created=0)
    with Running(db, key=KEY) as server:
        made = server.api.post("/v1/experiments", json={"name": "a", "arms": ["x", "y"]})
        assert made.status_code == 201
        yield server


ACCEPTED = ["2xx", 401, 403, 404, 409]
STATE = [
    {
        "include-name": name,
        "checks": {"positive_data_acceptance": {"expected-statuses": [*ACCEPTED, 422]}},
    }
    for name in (
        "POST /v1/experiments",
        "PATCH /v1/experiments/{name}",
        "POST /v1/experiments/{name}/conversions",
        "POST /v1/experiments/{name}/decisions",
        "POST /v1/experiments/{name}/exposures",
        "POST /v1/experiments/{name}/quarantine",
        "POST /v1/experiments/{name}/retractions",
        "POST /v1/track",
        "POST /v1/webhooks",
    )
]
"""The rules for a policy's parameters, for arms that must exist, for what an order says together
(either id or unit), for a key that came before with another unit, for who or when is kept out, for
times (not in the future) and for addresses are more than a schema can say."""

REFUSED = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429, "5xx"]
"""Schemathesis' own, and 413: some of what it sends is longer than a body may be."""

schema = schemathesis.openapi.from_dict(
    json.loads(document()),
    config=schemathesis.Config.from_dict(
        {
            "operations": STATE,
            "checks": {"negative_data_rejection": {"expected-statuses": REFUSED}},
        }
    ),
)


@schema.auth()
class Bearer:
    def get(self, case, context):
        return KEY

    def set(self, case, data, context):
        case.headers = {**(case.headers or {}), "Authorization": f"Bearer {data}"}


@schema.hook
def map_path_parameters(context, path_parameters):
    """Half of the requests go to an experiment that is there."""
    if (
        path_parameters
        and isinstance(path_parameters.get("name"), str)
        and len(path_parameters["name"]) % 2
    ):
        return {**path_parameters, "name": "a"}
    return path_parameters


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_only_what_is_described(case, running):
    case.call_and_validate(base_url=running.url)


def test_all_checks_are_on():
    assert {
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_schema_conformance",
        "negative_data_rejection",
        "ignored_auth",
        "unsupported_method",
    } <= set(CHECKS.get_all_names())
