"""What the first turn needs and the start does not: read while nobody waits for it, a piece at a time on a thread."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from soulgraph.runtime.background import in_background
from soulgraph.senses.appraisal.lexicon import lexicon as appraisal_lexicon
from soulgraph.senses.common_words import is_common
from soulgraph.senses.emotion.lexicon import lexicon
from soulgraph.senses.permissions.permission import permission_in
from soulgraph.senses.tokenizer import index_terms
from soulgraph.soul.patterns import compile_pending

_AFTER_S = 1.0  # what is left of the start goes first

STEPS: tuple[Callable[[], object], ...] = (
    lexicon,
    appraisal_lexicon,
    lambda: permission_in(""),
    lambda: index_terms("你好"),
    lambda: is_common("hello"),
    compile_pending,
)


@asynccontextmanager
async def warming_up(after_s: float = _AFTER_S) -> AsyncIterator[None]:
    """Begin soon, and leave off when the block ends."""
    async with in_background(_warm_up(after_s), "warm-up", "failed: the first turns take longer"):
        yield


async def _warm_up(after_s: float) -> None:
    await asyncio.sleep(after_s)
    for step in STEPS:
        await asyncio.to_thread(step)
