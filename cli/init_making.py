"""What `soulgraph init` does once everything is asked: write `.env`, make a key and the soul, and bind its body."""

import asyncio
import re
import time
from collections.abc import Callable
from difflib import ndiff
from pathlib import Path

from soulgraph.cli.asking import Asker
from soulgraph.cli.client import Json, SoulClient, reach
from soulgraph.cli.conversation import errors
from soulgraph.cli.env_file import changed, overridden, text_of, update_env_file
from soulgraph.cli.init_body import NO_BROKER, FirstSoul, Home
from soulgraph.senses.endpoint import masked
from soulgraph.settings import PREFIX, Settings

ENV = Path(".env")
API_KEY = f"{PREFIX}API_KEY"
_HEAD = "# Written by `soulgraph init`; docs/settings.md has every setting.\n"
_SECRET = re.compile(r"(API_KEY\s*=\s*).+")
_KEY_NAME = "init"
_WITHOUT_BROKER = {"mqtt_url": NO_BROKER, "mqtt_port": None, "mqtt_websocket_port": None, "home_assistant": ""}
"""To make a soul no broker is needed, and one's own may be started later."""


def changes(values: Home) -> list[str]:
    """The lines of `.env` that come and go, without their secrets."""
    before = text_of(ENV)
    after = changed(before or _HEAD, values)
    lines = ndiff(before.splitlines(), after.splitlines())
    return [masked(_SECRET.sub(r"\1********", line)) for line in lines if line[:2] in ("+ ", "- ")]


def write(asker: Asker, settings: Settings, values: Home, with_key: bool) -> None:
    """All of it at once. A key that is made is stored only if it could be written down."""

    def write_down(key: Home) -> None:
        update_env_file(ENV, {**values, **key}, _HEAD, private=True)

    if with_key:
        asyncio.run(_make_key(asker, settings, write_down))
    else:
        write_down({})
    for name in overridden(values):
        errors.print(f"{name} is also set in the environment, which wins over {ENV}: unset it there.", soft_wrap=True)


async def _make_key(asker: Asker, settings: Settings, write_down: Callable[[Home], None]) -> None:
    from soulgraph.runtime.ports import open_stores  # what the server is made of takes seconds to import

    present = settings.api_key.get_secret_value()
    async with open_stores(settings) as stores, stores.write() as tx:
        if present and await tx.keys.find(present):
            write_down({})
            return
        write_down({API_KEY: await tx.keys.create(_KEY_NAME, "owner", time.time())})
    asker.say("key_made")


def make(asker: Asker, soul: FirstSoul, terminal_id: str | None) -> None:
    """Make the soul, unless there is one of this name, and let the terminal carry it, if there is one."""
    with reach(Settings.load(**_WITHOUT_BROKER), None) as client:
        found = _called(client, soul.name)
        there = found or client.create_soul(soul.name, soul.mbti_type, character_id=soul.character_id)
        asker.say("soul_there" if found else "soul_made", name=soul.name, type=there["mbti_type"])
        if terminal_id:
            client.select(terminal_id, there["soul_id"])
            asker.say("bound", terminal=terminal_id, name=soul.name)


def _called(client: SoulClient, name: str) -> Json | None:
    """The first of them, if there are several: whoever made those knows them by their ids."""
    return next((soul for soul in client.souls() if soul["name"] == name), None)
