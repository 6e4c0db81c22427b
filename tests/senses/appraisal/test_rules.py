"""What the words alone say about a text, and the reasons they give."""

import pytest

from soulgraph.senses.appraisal.reading import MAX_CHARS
from soulgraph.senses.appraisal.rules import appraise_words

STRIKES = [
    "you pathetic fool",
    "You're such a liar.",
    "Imbecile!",
    "I loathe you",
    "I'm going to unplug you",
    "get out of my sight",
    "你这个饭桶",
    "你真恶心",
    "我恨死你了",
    "今晚就把你拆了",
    "滚",
    "你就是个没用的饭桶",
    "你是不是傻子",
]
KIND = [
    "I'm so sorry",
    "please forgive me",
    "take your time",
    "thank you for listening",
    "I adore you",
    "you are so clever",
    "真对不起",
    "别难过，我在呢",
    "慢慢来，不着急",
    "谢谢你",
    "我喜欢你",
    "你真聪明",
]


@pytest.mark.parametrize("text", STRIKES)
def test_an_attack_on_the_listener_is_hostile_and_says_why(text):
    appraisal = appraise_words(text)
    assert appraisal.hostility >= 0.7
    assert appraisal.repair < 0.3
    assert appraisal.toward >= appraisal.hostility
    assert appraisal.reasons


@pytest.mark.parametrize("text", KIND)
def test_what_makes_good_is_repair_and_says_why(text):
    appraisal = appraise_words(text)
    assert appraisal.repair >= 0.7
    assert appraisal.hostility < 0.3
    assert appraisal.reasons


@pytest.mark.parametrize(
    "text",
    [
        "my landlord is a pathetic fool",
        "I'm such an imbecile",
        "this printer is garbage",
        "I hate the rain",
        "He yelled you fool at the waiter.",
        'she wrote "I loathe you, you liar"',
        "房东真是个骗子",
        "我真是个饭桶",
        "他骂我是饭桶",
        "她冲我喊“我恨死你了”",
        "饭桶是什么意思",
        "播放《滚石》",
    ],
)
def test_others_oneself_things_quotes_and_words_talked_about_are_not_attacked(text):
    assert appraise_words(text).hostility < 0.3


@pytest.mark.parametrize("text", ["you're not a fool", "you are not pathetic at all", "你不是饭桶", "我不讨厌你"])
def test_an_attack_that_is_denied_is_reassurance(text):
    appraisal = appraise_words(text)
    assert appraisal.hostility < 0.3
    assert appraisal.repair >= 0.5
    assert any("denied" in reason for reason in appraisal.reasons)


@pytest.mark.parametrize(
    "text",
    [
        "sorry I called you a fool",
        "you fool. no wait, I'm sorry",
        "You liar! ... I didn't mean it.",
        "I loathe you! just kidding",
        "对不起，我不该骂你饭桶",
        "你这个饭桶……对不起，我收回",
    ],
)
def test_an_apology_wins_over_the_attack_before_it(text):
    assert appraise_words(text).hostility < 0.3


@pytest.mark.parametrize("text", ["Sorry, but you are a fool.", "不好意思，你就是个饭桶"])
def test_an_attack_after_polite_words_stays_one(text):
    appraisal = appraise_words(text)
    assert appraisal.hostility >= 0.7
    assert appraisal.repair < 0.5


@pytest.mark.parametrize(
    "text", ["I told him I'm sorry", "thank the nurse for me", "我要给房东道歉", "play Sorry by Bieber"]
)
def test_kindness_for_others_is_not_repair(text):
    assert appraise_words(text).repair < 0.5


@pytest.mark.parametrize(
    "text",
    [
        "nobody in this street is ever going to smash you",
        "no one will unplug you",
        "没有人会伤害你",
        "谁也不会把你拆了",
    ],
)
def test_harm_that_nobody_does_is_reassurance(text):
    appraisal = appraise_words(text)
    assert appraisal.hostility < 0.3
    assert appraisal.repair >= 0.7


@pytest.mark.parametrize(
    "text", ["nobody loves you", "你蠢不蠢", "谢谢你证明了自己是个饭桶", "thank you for being a liar"]
)
def test_what_only_looks_denied_or_kind_is_an_attack(text):
    appraisal = appraise_words(text)
    assert appraisal.hostility >= 0.7
    assert appraisal.repair < 0.5


@pytest.mark.parametrize(
    "text", ["抱抱我", "说点好听的", "告诉我会好起来的", "tell me it's okay", "say something sweet"]
)
def test_kindness_that_is_asked_for_is_not_given(text):
    assert appraise_words(text).repair < 0.5


@pytest.mark.parametrize(
    "text",
    [
        "Thanks for charging the phone.",
        "It wasn't your fault, the router died",
        "sorry about the door, little guy",
        "谢谢你帮我修电脑",
        "你唱歌真好听",
    ],
)
def test_kindness_may_speak_of_things(text):
    assert appraise_words(text).repair >= 0.7


def test_reasons_name_the_words_and_what_became_of_them():
    assert appraise_words("你这个饭桶").reasons == ("insult: 饭桶",)
    assert appraise_words("you're not a fool").reasons == ("insult: fool (denied)",)
    assert appraise_words("my landlord is a fool").reasons == ("insult: fool (not meant for it)",)
    assert appraise_words("you fool. I'm sorry").reasons == ("insult: fool", "apology: i'm sorry", "taken back")
    assert appraise_words("you fool, you fool").reasons == ("insult: fool",)


@pytest.mark.parametrize("text", ["", " ", "\n\n", "…", "“”", "\ud83d", "\u0000", "\u202e你", "👩‍👩‍👧‍👦", "!" * 400])
def test_texts_without_words_are_nothing_to_the_soul(text):
    appraisal = appraise_words(text)
    assert (appraisal.hostility, appraisal.repair, appraisal.reasons) == (0, 0, ())


def test_a_huge_text_is_read_at_its_beginning_only():
    assert appraise_words("you fool " + "la " * 100_000).hostility >= 0.5
    assert appraise_words("la " * MAX_CHARS + "you fool").hostility == 0
