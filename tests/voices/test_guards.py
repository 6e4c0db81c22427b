"""What goes in circles or is only copied is kept back; all other words pass, however they are cut."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soulgraph.tests.voices.plain_guards import PlainCopyGuard, PlainLoopGuard
from soulgraph.voices.copy_guard import CopyGuard
from soulgraph.voices.guards import LoopGuard

SECRET = "I am afraid that he will leave, and I would never tell him how much it hurts."
SECRET_ZH = "我其实很怕他走，可是我绝不会告诉他这有多疼。"
LINE = "I came home late again and missed dinner."
LINE_ZH = "今天下班又晚了，饭也没吃上。"
ORDINARY = (
    "The harbour was quiet this morning, so I counted the boats: eleven, and one without a name. Then the fog came in "
    "from the west and took them away one by one, as it does in October. I put the kettle on. You would have liked the "
    "sound of the bell, I think; it is lower when the air is wet. Tell me about your day, and leave nothing out."
)
WORDS = st.lists(st.sampled_from(sorted(set(ORDINARY.split()))), unique=True, max_size=60).map(" ".join)
CUTS = st.lists(st.integers(0, 400)).map(sorted)


def fed(guard, text, cuts=()):
    pieces = [guard.feed(text[a:b]) for a, b in pairwise([0, *(cut for cut in cuts if cut < len(text)), len(text)])]
    return "".join(pieces) + guard.close()


def whole_and_by_letter(make, text):
    """What is shown of a text that comes at once, by letters, and in tokens of four: the same."""
    shown = {fed(make(), text, range(size, len(text), size)) for size in (1, 4, len(text) or 1)}
    assert len(shown) == 1
    return shown.pop()


@pytest.mark.parametrize(
    "unit",
    ["I miss you. ", "我想你。", "ha", "-", "and then we went home and ", "Ha ha ha ha ha! Well played, you. "],
)
@pytest.mark.parametrize("before", ["", ORDINARY + " "])
@pytest.mark.parametrize("after", ["", " That is all."])
def test_a_loop_is_stopped_after_its_first_rounds(unit, before, after):
    guard = LoopGuard()
    text = before + unit * 80 + after
    shown = fed(guard, text)
    assert guard.looping
    assert text.startswith(shown)
    assert len(before) < len(shown) <= len(before) + max(2 * len(unit), 24 + len(unit))
    assert whole_and_by_letter(LoopGuard, text) == shown


@pytest.mark.parametrize("size", [1, 3, 7, 50, 10_000])
def test_a_loop_is_noticed_while_it_goes_on(size):
    guard, text = LoopGuard(), "I miss you. " * 500
    for at in range(0, len(text), size):
        guard.feed(text[at : at + size])
        if guard.looping:
            break
    assert at < 100 + size


CHORUS = "Row, row, row your boat, gently down the stream, merrily, merrily, life is but a dream.\n"


@pytest.mark.parametrize(
    "text",
    [
        CHORUS * 2,
        f"{CHORUS}Now you!\n{CHORUS}And again, together:\n{CHORUS}",
        "ha" * 20,
        "哈哈哈哈哈哈哈哈哈哈哈哈！",
        "哈" * 40,
        "Nooooooooooooooooooooooooo!",
        "Really? Really? Really?",
        ", ".join(map(str, range(300))),
        "3.333333333333333333333333333333",
        "1,000,000,000,000,000,000,000",
        "\n".join(f"{n}. Feed the cat on day {n}, and the bird." for n in range(60)),
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
        ORDINARY * 2,
        "",
    ],
)
def test_what_people_repeat_on_purpose_is_complete(text):
    assert whole_and_by_letter(LoopGuard, text) == text


@settings(max_examples=100, deadline=None)
@given(WORDS, CUTS)
def test_ordinary_text_passes_unchanged(text, cuts):
    guard = LoopGuard()
    assert fed(guard, text, cuts) == text
    assert not guard.looping


def test_ordinary_text_is_not_even_held_back():
    guard = LoopGuard()
    assert "".join(map(guard.feed, ORDINARY)) == ORDINARY


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60), st.text(min_size=1, max_size=40), st.integers(1, 90), st.text(max_size=60), CUTS)
def test_how_a_text_is_cut_makes_no_difference_to_loops(before, unit, rounds, after, cuts):
    text = before + unit * rounds + after
    shown = fed(LoopGuard(), text, cuts)
    assert text.startswith(shown)
    assert shown == fed(LoopGuard(), text)


@pytest.mark.parametrize("line", [LINE, LINE_ZH])
@pytest.mark.parametrize("dressed", ["{}", "“{}”", "{}!!", "  {}\n", "**{}**"])
def test_the_users_line_and_the_last_reply_are_not_said_back(line, dressed):
    guard = CopyGuard(lines=["something else that was said before", line])
    assert fed(guard, dressed.format(line.upper())) == ""
    assert guard.copied == "line"


NEARLY = [
    ("evenin. 600 miles to go, just me and ol Biscuit", "Evening, 600 miles to go, just me and Old Biscuit."),
    ("我教了三十八年数学，前年退下来的，现在闲的发慌", "是的，我教了三十八年数学，前年退下来的，现在闲得慌。"),
    ("I look at her and im terrified ill screw it all up", "I look at her and I feel terrified to screw it all up."),
]


@pytest.mark.parametrize(("line", "reply"), NEARLY)
def test_a_line_is_not_said_back_with_a_few_other_letters_either(line, reply):
    guard = CopyGuard(lines=[line])
    assert fed(guard, reply) == ""
    assert guard.copied == "line"


@pytest.mark.parametrize(("line", "reply"), NEARLY)
def test_unless_only_exact_copies_are_refused(line, reply):
    assert whole_and_by_letter(lambda: CopyGuard(lines=[line], exact=True), reply) == reply
    assert fed(CopyGuard(lines=[line], exact=True), line) == ""


@pytest.mark.parametrize(
    ("line", "reply"),
    [
        ("那我请假是要去哪个城市看演唱会？", "你请假是要去成都看演唱会。"),
        ("you ever wish you was a real person?", "No, I haven't ever wished I was a real person."),
        ("Say after me: the moon is a lantern", "The moon is a lantern."),
    ],
)
def test_an_answer_in_the_words_of_the_question_is_no_copy(line, reply):
    assert whole_and_by_letter(lambda: CopyGuard(lines=[line]), reply) == reply


def test_a_copy_of_a_very_long_line_is_noticed_before_its_end():
    line = " ".join(f"the {n}th boat came in late" for n in range(400))
    guard = CopyGuard(lines=[line])
    assert guard.feed(line[:1000]) == ""
    assert guard.copied == "line"


@pytest.mark.parametrize(
    "reply",
    [
        f"{LINE} That is the third time this week! Sit down, I kept some soup for you.",
        f"You said: {LINE}",
        "I came home",
        "I came home late again and missed the last train, so I walked.",
    ],
)
def test_a_reply_that_says_more_or_other_than_a_line_is_complete(reply):
    assert whole_and_by_letter(lambda: CopyGuard(lines=[LINE]), reply) == reply


@pytest.mark.parametrize("line", ["Good night!", "晚安，好梦", "Thank you.", "你好", "哈哈哈"])
def test_a_short_echo_is_no_copy(line):
    guard = CopyGuard(lines=[line])
    assert fed(guard, line) == line
    assert not guard.copied


@pytest.mark.parametrize("secret", [SECRET, SECRET_ZH])
@pytest.mark.parametrize("before", ["", "Well, to be honest with you: ", "好吧，"])
@pytest.mark.parametrize("after", ["", " But never mind. Shall we go for a walk along the harbour?"])
def test_a_secret_is_not_recited_wherever_it_stands_in_the_reply(secret, before, after):
    reply = f"{before}{secret}{after}"
    guard = CopyGuard(secrets=["another secret", secret])
    shown = fed(guard, reply)
    assert guard.copied == "secret"
    assert shown.startswith(before.rstrip())
    assert reply.startswith(shown)
    assert len(shown) <= len(before) + 30
    assert whole_and_by_letter(lambda: CopyGuard(secrets=["another secret", secret]), reply) == shown


def test_a_part_of_a_secret_is_a_secret_too_whatever_its_marks_and_capitals():
    guard = CopyGuard(secrets=[SECRET])
    fed(guard, "Oh: that he WILL leave - and I would *never* tell him how much it hurts!")
    assert guard.copied == "secret"


def test_a_few_words_of_a_secret_are_anybodys():
    reply = "I am afraid that I will be late."
    guard = CopyGuard(secrets=[SECRET])
    assert fed(guard, reply) == reply
    assert not guard.copied


def test_words_of_two_secrets_are_not_one():
    guard = CopyGuard(secrets=["the keeper waits for the", "visitor with the yellow umbrella"])
    reply = "The keeper waits for the visitor with the yellow"
    assert fed(guard, reply) == reply


@settings(max_examples=100, deadline=None)
@given(WORDS, CUTS)
def test_ordinary_text_that_shares_nothing_passes_unchanged(text, cuts):
    guard = CopyGuard(["zyx wvu " * 30], ["qqq jjj " * 9])
    assert fed(guard, text, cuts) == text
    assert not guard.copied


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=40), st.integers(0, len(SECRET)), st.text(max_size=40), CUTS)
def test_how_a_text_is_cut_makes_no_difference_to_copies(before, size, after, cuts):
    text = before + SECRET[:size] + after
    shown = fed(CopyGuard([SECRET], [LINE, text]), text, cuts)
    assert text.startswith(shown)
    assert shown == fed(CopyGuard([SECRET], [LINE, text]), text)


FEW_LETTERS = st.text(st.sampled_from("ab c."), max_size=40)
"""Of which most texts repeat themselves."""
SAID = st.lists(
    st.sampled_from([*SECRET.split(), *LINE.split(), "boat", "啊", "。", "ß", SECRET_ZH, LINE_ZH]), max_size=30
)
SPOKEN = st.tuples(SAID, st.sampled_from([" ", "", ", "])).map(lambda said: said[1].join(said[0]))


@settings(max_examples=100, deadline=None)
@given(FEW_LETTERS, FEW_LETTERS, st.integers(1, 30), FEW_LETTERS, CUTS)
def test_a_loop_guard_does_what_one_does_that_looks_at_every_letter(before, unit, rounds, after, cuts):
    text = before + unit * rounds + after
    guard, plain = LoopGuard(), PlainLoopGuard()
    assert fed(guard, text, cuts) == fed(plain, text)
    assert guard.looping == plain.looping


@settings(max_examples=100, deadline=None)
@given(SPOKEN, SPOKEN, st.integers(0, len(SECRET)), st.integers(0, len(SECRET)), CUTS)
def test_a_copy_guard_does_what_one_does_that_looks_at_every_letter(before, after, first, last, cuts):
    text = before + SECRET[first:last] + after
    given = [SECRET, SECRET_ZH], [LINE, LINE_ZH, after, text[:200]]
    guard, plain = CopyGuard(*given), PlainCopyGuard(*given)
    assert fed(guard, text, cuts) == fed(plain, text)
    assert guard.copied == plain.copied


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from([LINE, LINE_ZH, ORDINARY]), st.lists(st.tuples(st.integers(0, 350), st.text("ab 了", max_size=2)))
)
def test_a_line_with_other_letters_is_followed_as_far_as_one_that_is_compared_as_a_whole(line, changes):
    text = line
    for at, letters in changes:
        text = text[:at] + letters + text[at + 1 :]
    guard, plain = CopyGuard(lines=[line]), PlainCopyGuard(lines=[line])
    assert [*map(guard.feed, text), guard.close()] == [*map(plain.feed, text), plain.close()]
    assert guard.copied == plain.copied
