import pytest

from soulgraph.runtime.telemetry_words import without_words
from soulgraph.soul.preferences import Decision

IDS = {"session_id": "s", "soul_id": "soul_1", "turn_id": "turn_1"}


@pytest.mark.parametrize("key", ["other:tell me of moss", "address:Tin Man", "topic:my ex", "whatever"])
def test_keys_and_sources_made_of_a_users_words_are_called_other(key):
    decision = Decision(key, "tell me of moss", "explicit", ["tell me of moss", "again"]).to_dict()
    fields = {**IDS, "writeback_decision": decision, "sources": ["slot:3", f"preference:{key}", "SOUL.md"]}
    assert without_words("persona.preference.persisted", fields) == {
        **IDS,
        "writeback_decision": {
            "key": "other",
            "verdict": "persist",
            "reason": "explicit",
            "confidence": 0.9,
            "evidence_count": 2,
        },
        "sources": ["slot:3", "preference:other", "SOUL.md"],
    }


@pytest.mark.parametrize("key", ["address", "mode", "tone", "reply_length"])
def test_keys_of_ours_are_told(key):
    told = without_words("turn.completed", {**IDS, "sources": [f"preference:{key}"]})
    assert told == {**IDS, "sources": [f"preference:{key}"]}


@pytest.mark.parametrize(
    ("event", "fields", "told"),
    [
        ("life.spoke", {"reason": "they await moss"}, {}),
        ("life.silent", {"reason": "they sleep", "silenced_by": "model"}, {"silenced_by": "model"}),
        ("life.silent", {"reason": "moss: 400", "silenced_by": "model_refused"}, {"silenced_by": "model_refused"}),
        (
            "life.silent",
            {"reason": "its gate is closed", "silenced_by": "rule"},
            {"reason": "its gate is closed", "silenced_by": "rule"},
        ),
        ("memory.refused", {"reason": "small_talk"}, {"reason": "small_talk"}),
        ("persona.mode.changed", {"source": "user", "evidence": "be rational"}, {"source": "user"}),
        ("persona.context.built", {"memory_problem": "events: 400, moss"}, {"memory_problem": "events"}),
        ("persona.context.built", {"memory_problem": ""}, {"memory_problem": ""}),
    ],
)
def test_reasons_of_ours_are_told_and_those_of_models_are_not(event, fields, told):
    assert without_words(event, fields) == told
