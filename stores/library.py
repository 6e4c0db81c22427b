"""Fills an empty library with the presets that ship with the package."""

from soulgraph.library.shipped import presets
from soulgraph.stores.presets import Presets
from soulgraph.stores.records import Json
from soulgraph.stores.stores import Transaction


async def stock(tx: Transaction, now: float) -> None:
    """Add the shipped characters if there are none, and the shipped backgrounds if there are none."""
    await _fill_if_empty(tx.characters, presets("characters"), now)
    await _fill_if_empty(tx.backgrounds, presets("backgrounds"), now)


async def _fill_if_empty(repository: Presets, shipped: list[Json], now: float) -> None:
    if await repository.all():
        return
    for data in shipped:
        await repository.put(data["id"], data["name"], data, now)
