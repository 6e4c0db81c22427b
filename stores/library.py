"""The presets that ship with the package, put on every shelf of the library that is empty at the start."""

import json
from importlib.resources import files

from soulgraph.stores.presets import Presets
from soulgraph.stores.stores import Transaction


async def stock(tx: Transaction, now: float) -> None:
    for shelf, repository in (("characters", tx.characters), ("backgrounds", tx.backgrounds)):
        if not await repository.all():
            await _fill(shelf, repository, now)


async def _fill(shelf: str, repository: Presets, now: float) -> None:
    for file in (files("soulgraph.library") / shelf).iterdir():
        data = json.loads(file.read_text("utf-8"))
        await repository.put(data["id"], data["name"], data, now)
