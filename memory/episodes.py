"""Episodes as a source of recall: the messages of a soul's own conversations, each found with its neighbours."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

import numpy as np

from soulgraph.memory.index import Candidates
from soulgraph.memory.index_cache import IndexCache
from soulgraph.memory.ranking import EPISODES, Floats, usefulness_bonus
from soulgraph.memory.source import Audience, Query
from soulgraph.memory.spreading import RANKING, Ranking
from soulgraph.senses.grounding import is_question, says_nothing
from soulgraph.senses.question import read_question
from soulgraph.senses.tokenizer import terms_of
from soulgraph.stores.episodes import StoredMessage
from soulgraph.stores.records import Message
from soulgraph.stores.stores import Stores, Transaction

_REPEATED_SHARE = 0.6  # share of an earlier message's terms from which a reply counts as its repetition
_REPETITION_SCORE = 0.5  # highest score of a repetition, as a share of the score of what it repeats
_MIN_SHARED_TERMS = 2  # terms that a reply shares with a message it repeats
_EXTRA_CANDIDATES = 8  # beyond k, because the usefulness bonus and the repetition penalty change the order


@dataclass(frozen=True, slots=True)
class RecalledEpisode:
    """A message with the lines of its session that are shown with it."""

    message: Message
    around: tuple[Message, ...]
    score: float
    doubtful: bool = False
    """Whether it is probably not about whom the question names."""

    @property
    def source_id(self) -> str:
        return str(self.message.message_id)

    @property
    def lines(self) -> list[Message]:
        """All of it, in the order in which it was said."""
        return sorted((self.message, *self.around), key=lambda message: message.message_id)


class Episodes:
    kind = "episode"

    def __init__(self, stores: Stores, model: str, ranking: Ranking = RANKING) -> None:
        self._stores = stores
        self._indexes = IndexCache(stores, model, ranking)

    async def search(self, query: Query) -> list[RecalledEpisode]:
        question = read_question(query.text, datetime.fromtimestamp(query.now, self._stores.zone))
        # What was deleted or taken back is still in the cached index: then the index is read again, once.
        for _ in range(2):
            candidates = await self._indexes.search(query, question, query.k + _EXTRA_CANDIDATES)
            messages = await self._load_messages(query.soul_id, candidates, query.audience)
            if all(message_id in messages for message_id in candidates.message_ids):
                break
            self.forget_index(query.soul_id)
        return _best(candidates, messages, query.k)

    async def texts(self, soul_id: str, ids: Collection[str]) -> dict[str, str]:
        async with self._stores.read() as tx:
            messages = await tx.episodes.messages(soul_id, [int(message_id) for message_id in ids])
        return {str(message_id): one.message.content for message_id, one in messages.items()}

    async def note_use(self, tx: Transaction, recalled: Collection[str], useful: Collection[str], now: float) -> None:
        await tx.episodes.recalled([int(message_id) for message_id in recalled], now)
        await tx.episodes.useful([int(message_id) for message_id in useful])

    def forget_index(self, soul_id: str) -> None:
        self._indexes.drop(soul_id)

    async def close(self) -> None:
        await self._indexes.close()

    async def _load_messages(
        self, soul_id: str, candidates: Candidates, audience: Audience
    ) -> dict[int, StoredMessage]:
        """The candidates and their lines by id; those that were deleted or taken back are missing."""
        ids = {*candidates.message_ids, *chain.from_iterable(candidates.around)}
        async with self._stores.read() as tx:
            return await tx.episodes.messages(soul_id, ids, audience)


def tells(episode: RecalledEpisode) -> bool:
    """Whether anybody could learn from it: not from a greeting or laughter, but from a bare answer to a question."""
    before = [line for line in episode.around if line.message_id < episode.message.message_id]
    answers = bool(before) and is_question(before[-1].content) and episode.message.role == "user"
    return answers or not says_nothing(episode.message.content)


def passages_of(
    episodes: Iterable[RecalledEpisode], count: int, shown: Iterable[Message] = ()
) -> list[tuple[RecalledEpisode, list[Message]]]:
    """Up to `count` episodes that are not shown yet, each with those of its lines that are not."""
    known = {message.original for message in shown}
    passages: list[tuple[RecalledEpisode, list[Message]]] = []
    for episode in episodes:
        if len(passages) == count:
            break
        if episode.message.original not in known:
            lines = [line for line in episode.lines if line.original not in known]
            known |= {line.original for line in lines}
            passages.append((episode, lines))
    return passages


def _best(candidates: Candidates, messages: dict[int, StoredMessage], k: int) -> list[RecalledEpisode]:
    """The k best candidates after the usefulness bonus and the repetition penalty, with their lines.

    A message that forks of its session have too is found once.
    """
    positions = [n for n, message_id in enumerate(candidates.message_ids) if message_id in messages]
    found = [messages[candidates.message_ids[n]] for n in positions]
    bonus = usefulness_bonus(np.array([one.useful for one in found], np.float32), EPISODES)
    scores = _penalise_repetitions([one.message for one in found], candidates.scores[positions] + bonus)
    best = {found[n].message.original: n for n in np.argsort(scores, kind="stable")}  # of copies the best one
    order = sorted(best.values(), key=lambda n: -scores[n])[:k]
    return [_recalled_episode(messages, candidates, positions[n], float(scores[n])) for n in order]


def _penalise_repetitions(messages: Sequence[Message], scores: Floats) -> Floats:
    """Lower the score of a reply that repeats an earlier message: it adds nothing, and may stem from recalling it."""
    terms = [set(terms_of(message.content)) for message in messages]
    lowered = scores.copy()
    for n, reply in enumerate(messages):
        for m, earlier in enumerate(messages):
            if reply.role != "user" and earlier.message_id < reply.message_id and _repeats(terms[n], terms[m]):
                lowered[n] = min(lowered[n], scores[m] * _REPETITION_SCORE)
    return lowered


def _repeats(terms: set[str], earlier: set[str]) -> bool:
    return len(terms & earlier) >= max(_MIN_SHARED_TERMS, _REPEATED_SHARE * len(earlier))


def _recalled_episode(
    messages: dict[int, StoredMessage], candidates: Candidates, position: int, score: float
) -> RecalledEpisode:
    message = messages[candidates.message_ids[position]].message
    around = tuple(messages[one].message for one in candidates.around[position] if one in messages)
    return RecalledEpisode(message, around, round(score, 4), candidates.doubtful)
