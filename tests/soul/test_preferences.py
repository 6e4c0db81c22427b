import json
from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulgraph.soul.preference_words import KNOWN_PREFERENCES
from soulgraph.soul.preferences import Decision, answer_in, decide, decide_later, new_guard, question
from soulgraph.soul.signals import Signal, signals_in

SHORT, LONG, TALK = "简短一点", "详细一点", "今天下雨了"
SCOLD = "不要再叫我主人了"


def talk(*texts, state=None, mode="hybrid"):
    """The guard after a conversation, and the decisions of each message."""
    state, story = state or new_guard(), []
    for text in texts:
        state, decisions = decide(state, text, signals_in(text), mode)
        story.append(decisions)
    return state, story


def last(*texts, **given):
    """What the last message leads to, in short."""
    return [(d.verdict, d.reason, d.key, d.value) for d in talk(*texts, **given)[1][-1]]


def test_what_is_said_for_good_is_kept_at_once():
    assert last("以后都简短点回答") == [("persist", "explicit", "reply_length", "short")]


def test_the_same_preference_is_kept_the_third_time():
    assert last(SHORT) == [("session", "hint", "reply_length", "short")]
    assert last(SHORT, SHORT) == [("session", "hint", "reply_length", "short")]
    assert last(SHORT, TALK, "keep it short", "用英文跟我说话", "be more concise") == [
        ("persist", "repeated", "reply_length", "short")
    ]


def test_a_contrary_one_begins_the_count_anew():
    assert last(SHORT, SHORT, LONG, SHORT, SHORT) == [("session", "hint", "reply_length", "short")]
    assert last(SHORT, SHORT, LONG, SHORT, SHORT, SHORT) == [("persist", "repeated", "reply_length", "short")]


def test_what_was_kept_is_counted_anew():
    assert last(*[SHORT] * 4) == [("session", "hint", "reply_length", "short")]


def test_a_message_counts_once():
    assert last("简短一点。请简短一点！说短一点吧") == [("session", "hint", "reply_length", "short")]


def test_wishes_for_this_time_are_never_counted():
    assert last(*["这次简短点"] * 5) == [("session", "once", "reply_length", "short")]


def test_a_correction_is_asked_about_and_kept_when_confirmed():
    assert last(SCOLD) == [("ask", "correction", "address:主人", "avoid")]
    assert last(SCOLD, "嗯 以后别了") == [("persist", "confirmed", "address:主人", "avoid")]


def test_it_is_dropped_when_denied():
    assert last(SCOLD, "不用，随口说的") == [("rejected", "denied", "address:主人", "avoid")]


def test_it_is_forgotten_when_the_next_message_does_not_answer():
    assert last(SCOLD, TALK) == [("rejected", "unanswered", "address:主人", "avoid")]
    assert last(SCOLD, TALK, "是的") == []


def test_who_repeats_the_correction_has_confirmed_it():
    assert last(SCOLD, "我说过不要再叫我主人了") == [("persist", "confirmed", "address:主人", "avoid")]


def test_another_correction_takes_the_place_of_the_open_one():
    assert last(SCOLD, "别再发表情了") == [
        ("rejected", "unanswered", "address:主人", "avoid"),
        ("ask", "correction", "emoji", "no"),
    ]
    assert last(SCOLD, "别再发表情了", "好的") == [("persist", "confirmed", "emoji", "no")]


def test_one_question_at_a_time():
    assert [verdict for verdict, *_ in last("别再发表情了，别老开玩笑")] == ["ask", "session"]


def test_a_denial_ends_the_count():
    assert last("你太啰嗦了", "不用", SHORT, SHORT) == [("session", "hint", "reply_length", "short")]


def test_an_explicit_correction_needs_no_question():
    state, story = talk("以后别再叫我主人了")
    assert [d.reason for d in story[-1]] == ["explicit"]
    assert state["pending"] is None


def test_like_this_means_what_was_asked_for_lately():
    assert last(SHORT, TALK, "以后都这么回复") == [("persist", "explicit", "reply_length", "short")]


def test_like_this_means_the_mode_when_nothing_was():
    assert last("以后都这么回复", mode="rational") == [("persist", "explicit", "mode", "rational")]
    assert last(SHORT, *[TALK] * 3, "以后都这么回复") == [("persist", "explicit", "mode", "hybrid")]


def test_every_decision_carries_its_words_and_how_sure_it_is():
    (decision,) = talk(SHORT, "keep it short", "be more concise")[1][-1]
    assert decision.to_dict() == {
        "key": "reply_length",
        "value": "short",
        "verdict": "persist",
        "reason": "repeated",
        "evidence": [SHORT, "keep it short", "be more concise"],
        "confidence": 0.8,
    }
    assert talk(SCOLD, "是的")[1][-1] == [Decision("address:主人", "avoid", "confirmed", [SCOLD, "是的"])]


def test_the_guard_survives_json_and_is_never_changed_in_place():
    state, _ = talk(SHORT, SCOLD)
    before = deepcopy(state)
    assert json.loads(json.dumps(state)) == state
    talk(SHORT, "是的", LONG, state=state)
    assert state == before


@pytest.mark.parametrize(
    "text",
    [
        "是的",
        "对",
        "好的",
        "嗯 以后别了",
        "嗯以后别了",
        "没错！",
        "行",
        "别再这样了",
        "yes please",
        "exactly",
        "ok",
        "sure, thanks",
        "Yes, don't do that again",
        "please stop",
        "Of course.",
    ],
)
def test_a_yes_is_recognised(text):
    assert answer_in(text) is True


@pytest.mark.parametrize(
    "text",
    [
        "不用",
        "不是",
        "算了",
        "嗯不用了",
        "没关系",
        "随便吧",
        "no",
        "nope",
        "not really",
        "never mind",
        "Yes, but only at work",
    ],
)
def test_a_no_is_recognised(text):
    assert answer_in(text) is False


@pytest.mark.parametrize(
    "text",
    [
        "",
        "对不起",
        "好像要下雨",
        "是不是要下雨了",
        "对了，今天几点了",
        "可以帮我开灯吗",
        "行李在哪",
        "是别人说的",
        "好的吗？",
        "right now I'm busy",
        "do you like tea?",
        "please turn on the light",
        "I do not know",
        "ok so what time is it?",
    ],
)
def test_other_words_are_no_answer(text):
    assert answer_in(text) is None


def test_the_question_names_what_would_be_kept_in_both_languages():
    assert question("address:主人", "avoid", "zh") == "明白了。以后我都不再叫你主人，好吗？"
    assert question("address:boss", "avoid", "en") == "Understood. Shall I stop calling you boss from now on?"
    assert question("reply_length", "short", "en") == "Understood. Shall I keep my answers short from now on?"
    assert question("mode", "rational", "zh") == "明白了。以后我都用理性模式说话，好吗？"
    assert "你别老这样说话" in question("other:你别老这样说话", "你别老这样说话", "zh")


@pytest.mark.parametrize("known", KNOWN_PREFERENCES, ids=lambda known: f"{known.key}={known.value}")
def test_every_known_preference_can_be_asked_about(known):
    assert known.zh in question(known.key, known.value, "zh")
    assert known.en in question(known.key, known.value, "en")


signals = st.builds(
    Signal,
    st.sampled_from(["reply_length", "emoji", "tone"]),
    st.sampled_from(["a", "b"]),
    st.just("words"),
    explicit=st.booleans(),
    correction=st.booleans(),
    once=st.booleans(),
)
one_each = st.lists(signals, max_size=3, unique_by=lambda signal: signal.key)


@given(st.lists(st.tuples(one_each, st.sampled_from(["是的", "no", "hm"])), max_size=25))
def test_nothing_is_kept_but_through_a_door(messages):
    state, runs, asked = new_guard(), {}, None
    for voiced, text in messages:
        for signal in voiced:
            if not signal.once or signal.correction:
                value, count = runs.get(signal.key, (signal.value, 0))
                runs[signal.key] = (signal.value, count + 1 if value == signal.value else 1)
        state, decisions = decide(state, text, voiced, "hybrid")
        for decision in decisions:
            if decision.reason == "explicit":
                assert any(signal.explicit and signal.key == decision.key for signal in voiced)
            if decision.reason == "repeated":
                assert runs[decision.key][0] == decision.value and runs[decision.key][1] >= 3
            if decision.reason == "confirmed":
                assert asked == (decision.key, decision.value)
        asked = state["pending"] and (state["pending"]["key"], state["pending"]["value"])


@given(st.lists(st.sampled_from([SHORT, "keep it short"]), max_size=2), st.lists(st.just(TALK), max_size=5))
def test_one_or_two_hints_are_never_kept(hints, rest):
    _, story = talk(*hints, *rest)
    assert all(decision.verdict == "session" for decisions in story for decision in decisions)


@given(st.lists(st.integers(0, 200), max_size=120))
def test_the_guard_stays_small(topics):
    state = new_guard()
    for n in topics:
        state, _ = decide(state, "hm", [Signal(f"topic:{n}", "avoid", "words")], "hybrid")
    assert len(state["hints"]) <= 30


def later(*signals, state=None, message_id=7):
    return decide_later(state or new_guard(), signals, message_id)


def test_what_a_model_has_found_is_asked_about_in_the_next_turn_and_kept_when_confirmed():
    state, [found] = later(Signal("tone", "casual", "的调调", correction=True))
    assert (found.verdict, state["pending"]) == ("ask", None)
    state, [asked] = decide(state, TALK, [], "hybrid")
    assert (asked.verdict, asked.key) == ("ask", "tone")
    assert last("好的", state=state) == [("persist", "confirmed", "tone", "casual")]


def test_the_next_message_s_own_correction_is_asked_about_first():
    state, _ = later(Signal("tone", "casual", "的调调", correction=True))
    assert last(SCOLD, state=state) == [("ask", "correction", "address:主人", "avoid")]


def test_what_waits_is_not_asked_if_the_user_has_said_more_of_it():
    state, _ = later(Signal("reply_length", "short", "那么多字", correction=True))
    assert last("以后都简短点回答", state=state) == [("persist", "explicit", "reply_length", "short")]


def test_a_question_that_is_pending_stays_so_and_no_second_one_waits():
    pending = talk(SCOLD)[0]
    state, [found] = later(Signal("tone", "casual", "的调调", correction=True), state=pending)
    assert (found.verdict, state["pending"], state["to_ask"]) == ("session", pending["pending"], None)


def test_how_far_a_model_has_read_is_remembered_over_turns():
    state, _ = later(Signal("tone", "casual", "的调调"), message_id=9)
    assert talk(TALK, TALK, state=state)[0]["proposed_to"] == 9
