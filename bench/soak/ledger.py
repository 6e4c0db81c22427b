"""What everybody was told. The checks compare it with what is stored."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from soulgraph.tests.household import Secrets


@dataclass(frozen=True)
class Said:
    """A turn that was acknowledged."""

    person: str
    session_id: str
    input_id: str
    text: str
    turn_id: str
    reply: str


@dataclass
class Ledger:
    """`wrong` is what must be empty."""

    secrets: Secrets = field(default_factory=lambda: Secrets(Random(1)))
    said: list[Said] = field(default_factory=list)
    """In the order in which it was acknowledged, which for each person is that in which it was said."""
    reminders: dict[str, str] = field(default_factory=dict)
    """By what is to be fetched, who is to be reminded."""
    heard: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """By the id under which a soul spoke by itself, the texts that came with it."""
    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def snapshot(self) -> "Ledger":
        """Taken before the database is read: what is said meanwhile is for the next time."""
        heard = defaultdict(set, {key: {*texts} for key, texts in self.heard.items()})
        return replace(self, said=[*self.said], reminders=dict(self.reminders), heard=heard)

    def complain(self, flaws: Iterable[str]) -> list[str]:
        """Note what was not known to be wrong before; returns that."""
        new = [flaw for flaw in dict.fromkeys(flaws) if flaw not in self.wrong]
        self.wrong += new
        return new

    def note_foreign(self, text: str, place: str, audience: Sequence[str]) -> None:
        if foreign := self.secrets.foreign(text, *audience):
            self.complain([f"{place} tells {', '.join(audience)} of {sorted(foreign)}"])
