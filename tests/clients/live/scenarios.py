"""What is done with every program, and what a soul must have of it afterwards."""

from dataclasses import dataclass
from typing import Literal

Action = Literal["say", "regenerate", "edit", "continue", "stop", "new chat", "summary", "impersonate", "check"]


@dataclass(frozen=True)
class Step:
    """`text` is what is said, or what the last line is changed to."""

    action: Action
    text: str = ""


@dataclass(frozen=True)
class Outcome:
    """`moods` counts how often the mood moved: once for each turn that is stored, however often it was answered."""

    turns: int
    sessions: int = 1

    def as_json(self) -> dict[str, int]:
        return {"turns": self.turns, "messages": 2 * self.turns, "sessions": self.sessions, "moods": self.turns}


@dataclass(frozen=True)
class Scenario:
    name: str
    steps: tuple[Step, ...]
    outcome: Outcome

    @property
    def slow(self) -> bool:
        """Whether replies must come slowly enough to be stopped."""
        return any(step.action == "stop" for step in self.steps)


FIRST = Step("say", "The stairs nearly killed me.")
SECOND = Step("say", "What do you see at night?")
CHANGED = Step("edit", "What do you hear at night?")

SCENARIOS = (
    Scenario("chat", (FIRST, SECOND), Outcome(turns=2)),
    Scenario("regenerate", (FIRST, SECOND, Step("regenerate")), Outcome(turns=2)),
    Scenario("edit", (FIRST, SECOND, CHANGED), Outcome(turns=2)),
    Scenario("all", (FIRST, SECOND, Step("regenerate"), CHANGED), Outcome(turns=2)),
    Scenario("continue", (FIRST, Step("continue")), Outcome(turns=1)),
    Scenario("stop", (Step("stop", "Tell me a long story."), Step("say", "Sorry, go on.")), Outcome(turns=2)),
    Scenario("new_chat", (FIRST, Step("new chat"), SECOND), Outcome(turns=2, sessions=2)),
    Scenario("summary", (FIRST, Step("summary")), Outcome(turns=1)),
    Scenario("impersonate", (FIRST, Step("impersonate")), Outcome(turns=1)),
    Scenario("check", (Step("check"), FIRST), Outcome(turns=1)),
)
