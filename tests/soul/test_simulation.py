import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soulgraph.errors import InvalidInput
from soulgraph.soul import simulation
from soulgraph.soul.constants import DEFAULT
from soulgraph.soul.dynamics import born, evolve
from soulgraph.soul.emotions import EMOTIONS, PROTOTYPES, Appraisal, UserEmotion
from soulgraph.soul.gate import judge
from soulgraph.soul.impact import impact
from soulgraph.soul.mood import mood_of
from soulgraph.soul.personality import traits_of
from soulgraph.soul.simulation import (
    MAX_TIMELINE_POINTS,
    Cue,
    heard_as,
    play,
    seconds,
    span_name,
    spans,
    timeline,
)

SORRY = UserEmotion("sadness", -0.6, 0.1, -0.3, 0.5, 0.8, Appraisal(1.0, 0.0, 0.8))


def hear(words):
    return {"Sorry, my fault.": SORRY}[words]


def said(line):
    return simulation.said(line, hear)


def script_of(entries):
    return simulation.script_of(entries, hear)


INFP = traits_of("INFP")
ESTJ = traits_of("ESTJ")
INSULTS = said("insult*4@8s, apology@60s")


def user_emotion(emotion, intensity=0.9):
    return UserEmotion(emotion, *PROTOTYPES[emotion], intensity)


def entry(**fields):
    return script_of([("here", {"at": 1, "emotion": "joy", **fields})])


def test_a_soul_is_seen_every_step_and_before_and_after_every_emotion():
    samples = play(INFP, (Cue(2.0, user_emotion("anger")), Cue(3.5, user_emotion("joy"))), 5.0, 2.0)
    assert [(sample.at, sample.felt and sample.felt.emotion) for sample in samples] == [
        *((0.0, None), (2.0, None), (2.0, "anger"), (3.5, None), (3.5, "joy"), (4.0, None), (5.0, None)),
    ]


def test_it_is_born_at_0_and_moved_by_the_dynamics_alone():
    first, before, after, last = play(INFP, (Cue(10.0, user_emotion("anger")),), 30.0, 30.0)
    state = born(INFP, 0.0)
    assert first.state == state
    assert before.state == evolve(INFP, state, 10.0)
    assert after.state == impact(INFP, state, user_emotion("anger"), 10.0)
    assert last.state == evolve(INFP, after.state, 30.0)
    assert last.gate == judge(INFP, last.state, 30.0)
    assert [sample.mood for sample in (first, after)] == ["calm", mood_of(after.state)]


def test_emotions_of_one_moment_strike_in_the_order_of_the_script():
    forth = (Cue(1.0, user_emotion("anger")), Cue(1.0, user_emotion("joy")))
    back = (Cue(1.0, user_emotion("joy")), Cue(1.0, user_emotion("anger")))
    assert [s.felt.emotion for s in play(INFP, forth, 2.0, 2.0) if s.felt] == ["anger", "joy"]
    assert play(INFP, forth, 2.0, 2.0)[-1].state != play(INFP, back, 2.0, 2.0)[-1].state


@given(
    st.lists(st.tuples(st.floats(0, 600), st.sampled_from(EMOTIONS)), max_size=8),
    st.floats(1, 300),
    st.floats(1, 300),
)
@settings(deadline=None)
def test_how_often_one_looks_changes_nothing(cues, step, other):
    script = tuple(Cue(at, user_emotion(emotion)) for at, emotion in sorted(cues))
    one = play(INFP, script, 600.0, step)
    two = play(INFP, script, 600.0, other)
    assert [s.state for s in one if s.felt] == [s.state for s in two if s.felt]
    assert one[-1].state == two[-1].state


def test_four_insults_lock_an_infp_until_soothed_and_hardly_stop_an_estj():
    hurt = play(INFP, INSULTS, 240.0, 1.0)
    firm = play(ESTJ, INSULTS, 240.0, 1.0)
    unforgiven = play(INFP, INSULTS[:4], 240.0, 1.0)
    assert spans(hurt, lambda sample: sample.gate.locked) == [(24.0, 102.0)]
    assert spans(hurt, lambda sample: sample.gate.exec_mode == "blocked")[0][0] == 16.0
    assert spans(unforgiven, lambda sample: sample.gate.locked) == [(24.0, 192.0)]
    assert spans(firm, lambda sample: sample.gate.exec_mode == "blocked") == [(32.0, 39.0)]
    assert not any(sample.gate.locked for sample in firm)


def test_a_script_says_what_the_words_are_to_the_soul():
    (insult,) = said("insult@0s")
    (apology,) = said("apology@0s")
    (given,) = script_of([("line 1", {"at": 0, "emotion": "sadness", "repair": "0.7"})])
    assert (insult.felt.emotion, insult.felt.appraised.hostility) == ("anger", 0.9)
    assert (apology.felt.emotion, apology.felt.appraised.repair) == ("sadness", 0.9)
    assert given.felt.appraisal == Appraisal(0.7, 0.0, 0.7)


def test_an_entry_may_be_a_sentence_which_is_heard():
    assert script_of([("line 1", {"at": "8s", "say": "Sorry, my fault."})]) == (Cue(8.0, SORRY, "Sorry, my fault."),)
    assert said('"Sorry, my fault."*2@1m, joy@1s') == (
        *said("joy@1s"),
        *(Cue(at, SORRY, "Sorry, my fault.") for at in (60.0, 68.0)),
    )


def test_what_a_sentence_feels_like_is_left_to_who_hears_it():
    with pytest.raises(InvalidInput, match=r"^line 1: the recogniser hears .*: leave out 'emotion', 'p'"):
        script_of([("line 1", {"at": 1, "say": "Sorry, my fault.", "emotion": "joy", "p": 1})])


def test_what_was_heard_is_named_with_what_it_is_to_the_soul():
    named = [heard_as(cue.felt) for cue in said("insult@1, apology@2, sadness@3")]
    assert named == ["anger, hostile", "sadness, making good", "sadness"]


def test_a_shorthand_gives_way_to_what_is_said_beside_it():
    (mild,) = script_of([("line 1", {"at": 0, "emotion": "insult", "hostility": 0.4})])
    assert (mild.felt.emotion, mild.felt.appraised.hostility) == ("anger", 0.4)


def test_other_constants_tell_another_story():
    gentle = DEFAULT.override({"lock_first": 10.0})
    assert not any(sample.gate.locked for sample in play(INFP, INSULTS[:3], 60.0, 1.0, gentle) if sample.at > 35.0)
    assert play(INFP, INSULTS[:3], 60.0, 1.0)[-1].gate.locked


def test_a_span_that_has_not_ended_reaches_the_last_sample():
    samples = play(INFP, INSULTS, 70.0, 1.0)
    assert spans(samples, lambda sample: sample.at >= 69.5) == [(70.0, 70.0)]
    assert spans(samples, lambda sample: sample.gate.locked) == [(24.0, 70.0)]
    assert spans(samples, lambda sample: sample.at < 3.0 or 5.0 <= sample.at < 6.0) == [(0.0, 3.0), (5.0, 6.0)]


@pytest.mark.parametrize(
    ("until", "step", "about"), [(59.0, 1.0, "until"), (240.0, 0.0, "step"), (240.0, 1e-9, "step"), (1e9, 1.0, "step")]
)
def test_a_timeline_that_makes_no_sense_is_refused_by_name(until, step, about):
    with pytest.raises(InvalidInput, match=f"^{about} must"):
        timeline(INSULTS, until, step)


def test_the_longest_timeline_is_allowed():
    assert len(timeline((), MAX_TIMELINE_POINTS / 2, 0.5)) == MAX_TIMELINE_POINTS + 1


def test_an_entry_gives_a_label_and_its_prototype_the_rest():
    assert entry() == (Cue(1.0, UserEmotion("joy", 0.70, 0.55, 0.20, 0.9)),)
    full = {"at": "1m30s", "emotion": " Joy ", "intensity": "0.5", "confidence": 0.25, "p": "-1", "a": 0, "d": 1}
    assert entry(**full) == (Cue(90.0, UserEmotion("joy", -1.0, 0.0, 1.0, 0.5, 0.25)),)
    assert entry(intensity="", confidence=None) == entry()


def test_entries_are_played_in_the_order_of_time():
    entries = [("", {"at": at, "emotion": "joy"}) for at in ("1m", 8, "2s")]
    assert [cue.at for cue in script_of(entries)] == [2.0, 8.0, 60.0]


@pytest.mark.parametrize(
    ("bad", "about"),
    [
        ({"at": "soon"}, "at must be a time .* not 'soon'"),
        ({"at": "1:30"}, "at must be a time"),
        ({"at": -1}, "at must be a time"),
        ({"at": True}, "at must be a time"),
        ({"at": "inf"}, "at must be a time"),
        ({"at": "nan"}, "at must be a time"),
        ({"at": None}, "the field 'at' is missing"),
        ({"emotion": ""}, "the field 'say' or 'emotion' is missing"),
        ({"emotion": "rage"}, "emotion must be one of .* not 'rage'"),
        ({"intensity": 1.5}, "intensity must be a number in 0..1"),
        ({"intensity": "loud"}, "intensity must be a number in 0..1, not 'loud'"),
        ({"confidence": "nan"}, "confidence must be a number"),
        ({"p": [1]}, "p must be a number in -1..1"),
        ({"d": -2}, "d must be a number in -1..1"),
        ({"mood": "low"}, "there is no field 'mood'"),
    ],
)
def test_a_bad_entry_is_refused_with_its_place_and_field(bad, about):
    with pytest.raises(InvalidInput, match=f"^here: {about}"):
        entry(**bad)


def test_what_is_no_entry_is_refused_with_its_place():
    with pytest.raises(InvalidInput, match=r"^line 3: expected an entry like .* not 'anger'"):
        script_of([("line 3", "anger")])
    with pytest.raises(InvalidInput, match="the script is empty"):
        script_of([])


def test_a_line_says_emotions_their_intensity_number_time_and_pace():
    assert said("anger*4@8s, gratitude@60s") == (
        *(Cue(8.0 * n, user_emotion("anger")) for n in range(1, 5)),
        Cue(60.0, user_emotion("gratitude")),
    )
    assert said(" Joy:0.5*2@1m/1h ") == (Cue(60.0, user_emotion("joy", 0.5)), Cue(3660.0, user_emotion("joy", 0.5)))


@pytest.mark.parametrize(
    ("line", "about"),
    [
        ("", "'': expected EMOTION"),
        ("anger", "'anger': expected EMOTION"),
        ("anger@8s, ", "'': expected EMOTION"),
        ("anger**4@8s", "'anger[*][*]4@8s': expected EMOTION"),
        ("anger@soon", "'anger@soon': TIME must be a time"),
        ("anger*2@8s/often", "'anger[*]2@8s/often': EVERY must be a time"),
        ("joy@1, rage@8s", "'rage@8s': emotion must be one of"),
        ("anger:1.5@8s", "'anger:1.5@8s': intensity must be a number"),
        ("anger*0@8s", "the script is empty"),
    ],
)
def test_a_bad_line_is_refused_with_the_part_that_is_wrong(line, about):
    with pytest.raises(InvalidInput, match=f"^{about}"):
        said(line)


@pytest.mark.parametrize(
    ("text", "value"), [(8, 8.0), ("8", 8.0), ("1.5h", 5400.0), ("1m30s", 90.0), ("2d 3h", 183600.0), ("0.25s", 0.25)]
)
def test_times_are_seconds_or_spans_with_units(text, value):
    assert seconds(text, "at") == value


@pytest.mark.parametrize(
    ("duration", "name"), [(0.2, "0s"), (59.6, "1m"), (112.4, "1m52s"), (7200.0, "2h"), (555200.0, "6d10h")]
)
def test_a_span_is_named_by_its_two_largest_parts(duration, name):
    assert span_name(duration) == name


@pytest.mark.parametrize(
    "line", ['"Sorry, my fault."@8s, joy@9s', 'joy@9s,"Sorry, my fault."@8s', ' joy@9s , "Sorry, my fault."@8s ']
)
def test_a_comma_inside_of_quotes_is_part_of_the_sentence(line):
    assert [(cue.at, cue.words) for cue in said(line)] == [(8.0, "Sorry, my fault."), (9.0, None)]


@pytest.mark.parametrize(
    "line", ["joy@8s,", ",joy@8s", "joy@8s,,joy@9s", 'joy@8s, "Sorry, my fault.@9s', '"@8s', '""@8s']
)
def test_a_line_with_a_part_too_many_or_a_quote_too_few_is_refused(line):
    with pytest.raises(InvalidInput, match="expected EMOTION"):
        said(line)


def test_a_line_that_stands_for_more_entries_than_allowed_is_not_expanded():
    line = ",".join(["joy*99999@1s"] * 1000)  # a hundred million
    with pytest.raises(InvalidInput, match="more than 500 entries"):
        simulation.said(line, hear, most=500)
    assert len(simulation.said("joy*500@1s", hear, most=500)) == 500
