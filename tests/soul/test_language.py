import pytest

from soulgraph.soul.language import lang_of, reply_language


def test_one_chinese_character_makes_a_text_chinese():
    assert (lang_of("OK 好"), lang_of("OK"), lang_of("")) == ("zh", "en", "en")


@pytest.mark.parametrize(
    ("text", "preferences", "wishes", "lang"),
    [
        ("你好", {}, {}, "zh"),
        ("你好", {"language": "en"}, {}, "en"),
        ("hello", {"language": "普通话"}, {}, "zh"),
        ("hello", {"language": "en"}, {"language": "zh"}, "zh"),
        ("你好", {"language": "Français"}, {}, "zh"),
        ("hello", {"tone": "zh"}, {"tone": "zh"}, "en"),
    ],
)
def test_a_wish_of_the_session_wins_over_a_preference_and_that_over_the_text(text, preferences, wishes, lang):
    assert reply_language(text, preferences, wishes) == lang
