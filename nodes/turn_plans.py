"""The plans that a turn deals with, and what is said of them: by the offline voice itself, and to a model."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from soulgraph.soul.language import Lang
from soulgraph.stores.records import Plan
from soulgraph.voices.plan_words import PlanLine, heard_line, noted_line, plan_line


@dataclass(frozen=True, slots=True)
class Change:
    """A plan as it is from now on, and what has happened to it."""

    line: PlanLine
    plan: Plan


@dataclass(frozen=True, slots=True)
class TurnPlans:
    """`new` and `changed` are to be stored; `waiting` was due while nobody was there; `over` may be asked about."""

    here: datetime
    zone: tzinfo | None
    new: Sequence[Plan] = ()
    changed: Sequence[Change] = ()
    waiting: Sequence[Plan] = ()
    ahead: Sequence[Plan] = ()
    over: Sequence[Plan] = ()

    @property
    def heeds(self) -> bool:
        """Whether the soul was asked for something that it does itself."""
        return bool(self.changed) or any(plan.kind == "reminder" for plan in self.new)

    def question(self, lang: Lang) -> str:
        """What to ask before something can be kept; empty if nothing is open."""
        unsure = next((plan for plan in self.new if plan.status == "unsure"), None)
        if unsure is None:
            return ""
        return self._line("ask_when" if unsure.due is None else "ask_sure", unsure, lang)

    def said(self, lang: Lang) -> list[str]:
        """Sentences that confirm what was noted or changed, as the soul says them."""
        noted = [noted_line(plan, self.here, lang, self.zone) for plan in self.new if plan.status == "open"]
        return [*(self._line(one.line, one.plan, lang) for one in self.changed), *noted]

    def first(self, lang: Lang) -> list[str]:
        """Sentences that say what is overdue."""
        return [self._line("first", plan, lang) for plan in self.waiting]

    def told(self, lang: Lang) -> list[str]:
        """The same for a model: what it has to say, and to confirm."""
        changed = [self._line(one.line, one.plan, lang) for one in self.changed]
        noted = [noted_line(plan, self.here, lang, self.zone) for plan in self.new if plan.status == "open"]
        waiting = [self._line("waiting", plan, lang) for plan in self.waiting]
        confirmed = [heard_line(lines, lang, lines is noted) for lines in (changed, noted) if lines]
        return [*waiting, *confirmed]

    def shown(self, lang: Lang) -> dict[str, str]:
        """What lies ahead and what is over, by plan."""
        over = {plan.plan_id: self._line("over", plan, lang) for plan in self.over}
        return over | {plan.plan_id: self._line("ahead", plan, lang) for plan in self.ahead}

    def _line(self, line: PlanLine, plan: Plan, lang: Lang) -> str:
        return plan_line(line, plan, self.here, lang, self.zone)
