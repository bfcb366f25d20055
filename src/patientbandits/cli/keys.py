"""Keys of the service: create, list, revoke."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from patientbandits.cli.shop import opened_shop, show
from patientbandits.live.names import SCOPES

if TYPE_CHECKING:
    from patientbandits.live.http.answers import KeyAnswer


def add_key_commands(commands: Any, database: argparse.ArgumentParser) -> None:
    """keys ACTION"""
    actions = commands.add_parser(
        "keys", help="create, list or revoke keys of the service"
    ).add_subparsers(required=True, metavar="ACTION")
    action = actions.add_parser("create", parents=[database], help="a new one, shown once")
    action.add_argument(
        "--scope",
        action="append",
        required=True,
        choices=SCOPES,
        help="what it may be used for; repeat for more",
    )
    action.add_argument("--note", default="", help="what it is for, to know it again")
    action.set_defaults(run=run_create_key)
    action = actions.add_parser(
        "list", parents=[database], help="all of them, without their secrets"
    )
    action.set_defaults(run=run_list_keys)
    action = actions.add_parser("revoke", parents=[database], help="refuse it from now on")
    action.add_argument("id", metavar="ID")
    action.set_defaults(run=run_revoke_key)


def run_create_key(options: argparse.Namespace) -> None:
    from patientbandits.live.operations import Keyring

    with opened_shop(options, create=True) as shop:
        token = Keyring(shop.store, shop.journal).create(options.scope, options.note)
    show(options, {"key": token}, [token])


def run_list_keys(options: argparse.Namespace) -> None:
    from patientbandits.live.http.answers import key_answer
    from patientbandits.live.operations import Keyring

    with opened_shop(options) as shop:
        found = [key_answer(key) for key in Keyring(shop.store, shop.journal).all()]
    lines = [key_line(key) for key in found]
    show(options, found, lines or ["no key yet"])


def key_line(key: KeyAnswer) -> str:
    note = f"revoked {key.note}" if key.revoked else key.note
    return f"{key.id}  {','.join(key.scopes)}  {key.created}  {note}"


def run_revoke_key(options: argparse.Namespace) -> None:
    from patientbandits.live.operations import Keyring

    with opened_shop(options) as shop:
        Keyring(shop.store, shop.journal).revoke(options.id)
    show(options, {"revoked": options.id}, [f"revoked {options.id}"])
