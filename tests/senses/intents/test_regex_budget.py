"""One budget for all patterns of a catalog that are searched for an utterance: of intents, of slots, and in answers."""

import asyncio
from datetime import datetime

import pytest

from soulgraph.senses.intents.answers import answer_to
from soulgraph.senses.intents.catalog import Intent
from soulgraph.senses.intents.compiled_catalog import CompiledCatalog
from soulgraph.senses.intents.decision import MatchedIntent
from soulgraph.senses.intents.filter import IntentFilter
from soulgraph.senses.intents.patterns import REACH, RegexBudget
from soulgraph.senses.intents.utterance import ParsedUtterance

NOW = datetime(2026, 11, 16, 15, 30)
HOSTILE = "a" * REACH
MAX_SEARCHES = 50
"""More than fit into a budget: each that takes too long costs at least 2.5 ms of 50."""


def evil(number: int) -> Intent:
    pattern = f"(a|a)*[xy]{{1,{number + 1}}}"
    slot = {"name": "x", "required": True, "regex": pattern}
    match = {"keywords_any": ["aaa"], "regex_any": [pattern]}
    return Intent.model_validate({"id": f"evil_{number}", "name": "evil", "match": match, "slots": [slot]})


def asked_about(intent: Intent) -> MatchedIntent:
    return MatchedIntent(
        intent_id=intent.id,
        intent_name=intent.name,
        confidence=1.0,
        parameters={},
        status="need_clarification",
        question="which?",
        why="keyword",
    )


@pytest.fixture
def searches(monkeypatch):
    """The patterns that were really searched for."""
    found = []
    search = RegexBudget.search

    def noted(self, source, text):
        if self.left > 0:
            found.append(source)
        return search(self, source, text)

    monkeypatch.setattr(RegexBudget, "search", noted)
    return found


def test_a_thousand_patterns_that_explode_cost_one_budget(searches):
    catalog = CompiledCatalog([evil(n) for n in range(1000)])
    asyncio.run(IntentFilter(None).filter(HOSTILE, catalog, NOW))
    assert len(searches) <= MAX_SEARCHES


def test_so_do_those_of_all_slots_that_an_utterance_may_answer(searches):
    intents = [evil(n) for n in range(60)]
    asked = [asked_about(intent) for intent in intents]
    asyncio.run(IntentFilter(None).filter(HOSTILE, CompiledCatalog(intents), NOW, asked))
    assert len(searches) <= MAX_SEARCHES


def test_an_answer_is_read_within_the_budget_of_its_utterance():
    slot = {"name": "room", "required": True, "regex": "(客厅|卧室)"}
    intent = Intent.model_validate({"id": "lamp", "name": "lamp", "match": {}, "slots": [slot, {"name": "x"}]})
    catalog, asked = CompiledCatalog([intent]), [asked_about(intent)]
    fresh, spent = ParsedUtterance.of("卧室"), ParsedUtterance.of("卧室")
    spent.budget.left = 0
    assert answer_to(asked, fresh, catalog, NOW).intents[0].parameters == {"room": "卧室"}
    found = answer_to(asked, spent, catalog, NOW)
    assert found is None or found.intents[0].parameters == {"room": "卧室"}
