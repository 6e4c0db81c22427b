"""A model that tells everything it sees, and is now and then slow, cut off, away, or talks nonsense."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from soulgraph.tests.household import Gossip, Secrets
from soulgraph.tests.stub_openai import Reply, Request, StubOpenAI

_GARBAGE = ("", "<html>502</html>", '{"choices": []}', "data: {\n\n", "<narrative>", "null")
HANGS_S = 8.0
"""Longer than servers wait for it."""


class MoodyModel(StubOpenAI):
    """Every prompt is looked at: all it tells must be for one audience."""

    def __init__(self, secrets: Secrets, random: Random) -> None:
        super().__init__()
        self.calm = True
        self.away = False
        self.audiences: list[Sequence[str]] = []
        self.moods: Counter[str] = Counter()
        self.leaks: list[str] = []
        self._secrets = secrets
        self._random = random
        Gossip(secrets, random).attach(self)
        self._when = {b'"Spoken"': _remind, **self._when}

    def _reply(self, request: Request) -> Reply:
        self.requests.clear()  # nobody asks for them, and an hour of prompts is large
        self._check(request)
        reply = super()._reply(request)
        if self.away:
            return Reply(status=503, text="away")
        mood = "calm" if self.calm else self._mood()
        self.moods[mood] += 1
        return self._in_mood(mood, reply)

    def _mood(self) -> str:
        moods = {"calm": 85, "slow": 6, "busy": 2, "failing": 2, "garbage": 2, "cut off": 2, "hanging": 1}
        return self._random.choices([*moods], [*moods.values()])[0]

    def _in_mood(self, mood: str, reply: Reply) -> Reply:
        match mood:
            case "slow":
                return replace(reply, delay_s=self._random.uniform(0.2, 2))
            case "busy":
                return Reply(status=429, retry_after_s=1)
            case "failing":
                return Reply(status=500)
            case "garbage":
                return Reply(garbage=self._random.choice(_GARBAGE))
            case "cut off":
                return replace(reply, cut_after=self._random.randrange(4))
            case "hanging":
                return replace(reply, delay_s=HANGS_S)
        return reply

    def _check(self, request: Request) -> None:
        if unexplained := self._secrets.unexplained(request.raw.decode(), self.audiences):
            whose = {word: sorted(self._secrets.known_to[word]) for word in sorted(unexplained)}
            self.leaks.append(f"prompt with {whose}")


def _remind(body: Any) -> Reply:
    """Word for word, so that it names what it is about."""
    said = json.dumps(body["messages"], ensure_ascii=False)
    errand = said.partition("fetch the ")[2][:9]
    return Reply(text=json.dumps({"text": f"It is time to fetch the {errand}."}))
