"""A note is kept only if its speaker said it, if it is new, and if it is more than small talk."""

from pathlib import Path

import pytest
import yaml

from soulgraph.senses.grounding import (
    copied_share,
    details_known,
    fold,
    grounded,
    is_small_talk,
    nearest_statement,
    restates,
    says_nothing,
    sentences_of,
    tells_of_somebody,
)

HERE = Path(__file__).parent
CASES = [
    (kind, case)
    for name in ("grounding_open", "grounding_held")
    for kind, cases in yaml.safe_load((HERE / f"{name}.yaml").read_text("utf-8")).items()
    for case in cases
]


def judged(kind, case):
    if kind == "grounded":
        return grounded(case["claim"], case["said"], case.get("names", ()))
    return restates(case["claim"], case["texts"]) if kind == "restates" else is_small_talk(case["claim"])


@pytest.mark.parametrize(("kind", "case"), CASES, ids=[f"{kind}: {case['claim']}" for kind, case in CASES])
def test_notes_are_judged_as_a_careful_reader_would(kind, case):
    assert judged(kind, case) is case["holds"]


BABY = "hey. little Odette finally went down.\nthree weeks old and already the boss of the house"
LONG = f"We were at the harbour all day and the rain did not stop. {BABY}. Then we walked home by the river."


@pytest.mark.parametrize(
    ("said", "statement"),
    [
        ([BABY, "ok"], BABY.replace("\n", " ")),
        ([LONG], "three weeks old and already the boss of the house."),
        ([f"{BABY}. do you like kids?"], "three weeks old and already the boss of the house."),
        (["I sold the boat."], ""),
    ],
    ids=["a short message is told whole", "of a long one the sentence", "or if something is asked", "not said"],
)
def test_a_claim_points_to_what_was_said_of_it(said, statement):
    assert nearest_statement("The boss of the house is three weeks old", said) == statement


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("i gotta be at the depot at 7", True),
        ("Our house is next to a mill.", True),
        ("Moira died in March.", True),
        ("在急诊当护士第四年了", True),
        ("radio's all garbage tonight.", False),
        ("heh", False),
        ("can you switch the fan on for me, my hands are full", False),
        ("你这个名字好像卖花的", False),
        ("你知道吗，我养了两只龟", True),
        ("帮我把窗帘拉上呗", False),
    ],
)
def test_a_statement_tells_of_somebody(statement, expected):
    assert tells_of_somebody(statement) is expected


def test_details_are_numbers_names_and_quotations():
    said = ["my cat Tofu is 3, she sleeps on “The Odyssey”"]
    assert details_known("Tofu is three", said)
    assert details_known('The cat sleeps on "the odyssey" all day', said)
    for invented in ("Tofu is 4", "The cat called Momo is 3", "She sleeps on “Ulysses”", "猫叫Momo"):
        assert not details_known(invented, said)


def test_how_much_is_copied_is_told_by_clauses():
    said = ["不过我计划这周三晚上去打羽毛球放松一下", "我养了一只橘猫"]
    assert copied_share("我计划这周五晚上去打羽毛球放松一下", said) == 1
    assert 0 < copied_share("他累了也会出门，计划这周三晚上去打羽毛球", said) < 1
    assert copied_share("他不肯轻易认输", said) == 0
    assert copied_share("", said) == 0


def test_a_correction_restates_nothing():
    assert not restates("The user does not like tea at all", ["The user does like tea at all"])
    assert not restates("对方养了三只黑色的猫", ["对方养了两只黑色的猫"])


def test_a_question_is_small_talk_but_says_something():
    assert is_small_talk("Does the tide turn at noon?")
    assert not says_nothing("Does the tide turn at noon?")
    assert says_nothing("Hello, I feel sad. Thanks for listening!")
    assert says_nothing("对方说: 烦") and says_nothing("好烦啊")
    assert not says_nothing("对方说: 我有猫")


def test_sentences_keep_their_form_and_folding_drops_it():
    assert sentences_of("他走了。 Dr.Hall came at 3.5? Yes\n好！") == [
        "他走了。",
        "Dr.Hall came at 3.5?",
        "Yes",
        "好！",
    ]
    assert fold("Ｏve's lost “Boat”!") == "oveslostboat"
