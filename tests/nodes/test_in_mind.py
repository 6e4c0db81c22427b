"""How a prompt tells facts."""

from soulgraph.memory.facts import RecalledFact
from soulgraph.nodes.in_mind import facts_in_mind, told
from soulgraph.stores.records import Message
from soulgraph.tests.stores.samples import NOW, fact

RECENT = Message(7, "sess_1", "turn_1", "user", "I live in Bristol.", False, None, NOW)


def test_a_fact_says_who_told_it_when_and_until_when_it_was_so():
    names = {"user_1": "Ann"}
    assert told(fact(), names, "en") == "Ann told you on 2027-01-15: Ann lives in Bristol."
    past = fact(valid_to=NOW + 86_400)
    assert told(past, names, "en").endswith("Ann lives in Bristol. (until 2027-01-16)")
    assert told(past, {}, "zh") == "对方在2027-01-15告诉过你：Ann lives in Bristol.（到2027-01-16为止）"


def test_what_stands_in_the_conversation_anyway_is_not_told_again():
    shown = RecalledFact(fact("a", message_ids=[RECENT.message_id]), 1.0)
    older = RecalledFact(fact("b", message_ids=[RECENT.message_id, 999]), 0.9)
    written = RecalledFact(fact("c", message_ids=[]), 0.8)
    lines = facts_in_mind([shown, older, written], [RECENT], 1, {}, "en")
    assert [one.id for one in lines] == ["b"]
    assert [one.id for one in facts_in_mind([shown, older, written], [RECENT], 9, {}, "en")] == ["b", "c"]
