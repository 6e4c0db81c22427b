"""The presets that ship with the package, put into every part of the library that is empty at the start."""

from soulgraph.library.shipped import presets
from soulgraph.stores.presets import Presets
from soulgraph.stores.records import Json
from soulgraph.stores.stores import Transaction


async def stock(tx: Transaction, now: float) -> None:
    await _fill(tx.characters, presets("characters"), now)
    await _fill(tx.backgrounds, presets("backgrounds"), now)


async def _fill(repository: Presets, shipped: list[Json], now: float) -> None:
    if await repository.all():
        return
    for data in shipped:
        await repository.put(data["id"], data["name"], data, now)
