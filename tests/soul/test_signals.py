import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulgraph.soul.signals import LIKE_THIS, Signal, signals_in

HINTS = {
    (
        "reply_length",
        "short",
    ): """简短一点 | 请回答简洁些 | 能不能说短一点？ | 我喜欢简洁的回答 | keep your answers brief please
        | could you be more concise? | I prefer short answers""",
    ("reply_length", "long"): "详细一点 | 不要太简短，详细点 | give me more detail",
    ("reply_style", "conclusion_first"): "先说结论 | bottom line first, please",
    ("reply_style", "plain"): "用大白话 | 说人话好吗 | in simple words please",
    ("reply_style", "bullets"): "分点说 | bullet points please",
    ("reply_style", "step_by_step"): "一步一步来 | let's go step by step",
    ("tone", "gentle"): "温柔一点 | be gentler with me",
    ("tone", "direct"): "有话直说 | don't sugarcoat it",
    ("tone", "humorous"): "幽默一点好不好 | be more funny",
    ("tone", "formal"): "正式一点 | use a more formal tone",
    ("tone", "casual"): "别太客气 | be more casual",
    ("lecturing", "no"): "别跟我说教 | don't lecture me",
    ("follow_up_questions", "yes"): "多问问我嘛 | ask me more questions",
    ("emoji", "no"): "别用表情 | no emojis please",
    ("emoji", "yes"): "多发点表情嘛 | use more emojis",
    ("language", "en"): "用英文跟我说话 | reply in English",
    ("language", "zh"): "说中文吧 | speak Chinese with me",
    ("address", "小林"): "叫我小林吧 | 你可以叫我小林 | 请叫我“小林”",
    ("address", "Sam"): "call me Sam | if you don't mind, call me Sam | You can call me Sam, ok?",
    ("address:sweetie", "avoid"): "don't call me sweetie",
    ("topic:politics", "avoid"): "don't talk about politics | please don't bring up politics",
    ("mode", "rational"): "切换到理性模式 | be more rational please",
}
EXPLICIT = {
    (
        "reply_length",
        "short",
    ): """以后都简短点回答 | From now on, keep it short. | 记住我喜欢简短的回答 | 记得以后说话简短点
        | 如果可以的话，以后简短一点""",
    ("reply_style", "conclusion_first"): "每次都先说结论",
    ("language", "zh"): "从现在起用中文回答 | always answer me in Chinese",
    ("language", "en"): "我们以后都说英文吧",
    ("address", "小林"): "以后叫我小林就好",
    ("address", "Sam"): "call me Sam from now on",
    ("address:主人", "avoid"): "以后别叫我主人",
    ("address:boss", "avoid"): "never call me boss",
    ("topic:my ex", "avoid"): "please never mention my ex",
    ("mode", "rational"): "以后都用理性模式",
    LIKE_THIS: """以后都这么回复 | 以后就这样跟我说话 | from now on reply like this
        | keep answering this way from now on""",
}
CORRECTIONS = {
    ("reply_length", "short"): "你太啰嗦了 | 你的回答太长了 | 别老长篇大论 | your answers are too long | stop rambling",
    ("address:主人", "avoid"): "不要再叫我主人了 | 别再叫我“主人” | 你怎么老叫我主人",
    ("address:boss", "avoid"): "stop calling me boss | why do you keep calling me boss?",
    ("emoji", "no"): "别再给我发那么多表情了 | 你怎么又发表情 | stop using emojis",
    ("tone", "serious"): "别老开玩笑 | stop joking",
    ("tone", "casual"): "别这么客气 | 你不应该这么正式 | you don't have to be so polite",
    ("lecturing", "no"): "stop lecturing me",
    ("follow_up_questions", "no"): "别老问我问题 | stop asking so many questions",
    ("topic:工作", "avoid"): "不要再跟我聊工作的事",
    ("topic:我前男友", "avoid"): "别提我前男友了",
}
FREE = """以后每次关灯前都先问我 | 以后你要先听我说完 | 记住我喜欢吃辣 | always greet me by name
    | from now on ask me before you turn off the light | Remember that I hate mornings"""
NONE = """你好 | 今天好累 | 如果以后都这么回复会怎样 | 他说以后都简短点 | “以后都叫我主人”是什么意思
    | 你以后会离开我吗 | 我以后都要早点睡
    | 从现在起我要减肥 | 明天七点叫我起床 | 我妈让我说话简短点 | 头发剪短一点 | 我会说英语 | 这句话用英文怎么说
    | 帮我用英文写封邮件
    | 不用太简短 | 不是要你简短点 | 以后再说吧 | 你喜欢用表情吗 | 会不会太长了？ | 以后你会明白的 | 记得我喜欢吃什么吗
    | 老板总叫我小王
    | 她总发表情 | It was a short answer | 灯光温柔一点
    | 电影太长了 | 这条裤子太短了 | 她的回复太短了 | 别提了 | 别聊天了 | 以前你都叫我小林 | 别人都叫我小林
    | 你总是这么可爱 | 今后的路还很长
    | what if you always replied like this? | call me back later | call me crazy | my boss told me to keep it short
    | I always keep it short | do you always use emojis? | he keeps calling me boss | the movie was too long
    | We always speak English at work | I used to like short answers | i will always love you
    | from now on I will go running
    | she asked me to call her Sam | > call me Sam"""


def each(texts):
    return [text.strip() for text in texts.split("|")]


def cases(table):
    return [(wish, text) for wish, texts in table.items() for text in each(texts)]


def only(text):
    (signal,) = signals_in(text)
    return signal


@pytest.mark.parametrize(("wish", "text"), cases(HINTS))
def test_a_hint_names_its_preference_and_no_more(wish, text):
    signal = only(text)
    assert (signal.key, signal.value) == wish
    assert not signal.explicit and not signal.correction and not signal.once


@pytest.mark.parametrize(("wish", "text"), cases(EXPLICIT))
def test_what_is_said_for_good_is_explicit(wish, text):
    signal = only(text)
    assert (signal.key, signal.value, signal.explicit) == (*wish, True)


@pytest.mark.parametrize(("wish", "text"), cases(CORRECTIONS))
def test_a_correction_speaks_against_what_was_done(wish, text):
    signal = only(text)
    assert (signal.key, signal.value, signal.correction, signal.explicit) == (*wish, True, False)


@pytest.mark.parametrize("text", each(FREE))
def test_an_explicit_wish_of_no_known_kind_is_kept_in_its_own_words(text):
    signal = only(text)
    assert (signal.value, signal.explicit) == (text, True)
    assert signal.key.startswith("other:")


@pytest.mark.parametrize("text", ["你别老这样说话", "stop talking to me like that"])
def test_a_correction_of_no_known_kind_is_kept_in_its_own_words(text):
    assert only(text) == Signal(f"other:{text}", text, text, correction=True)


@pytest.mark.parametrize("text", each(NONE))
def test_questions_quotes_hearsay_suppositions_and_plans_are_no_signals(text):
    assert signals_in(text) == []


@pytest.mark.parametrize(
    "text", ["这次简短点", "今晚用英文跟我说话", "just this once answer in English", "be brief today"]
)
def test_a_wish_for_this_time_says_so(text):
    assert only(text).once


def test_a_start_from_today_is_for_good():
    signal = only("从今天起简短点")
    assert signal.explicit and not signal.once


def test_one_text_may_voice_several_preferences():
    signals = signals_in("别叫我老板，叫我小林。回答简短点！")
    assert {signal.key: signal.value for signal in signals} == {
        "address:老板": "avoid",
        "address": "小林",
        "reply_length": "short",
    }


def test_of_a_contradiction_the_later_counts():
    assert only("简短一点。算了，还是详细一点").value == "long"


def test_the_clause_is_the_evidence():
    assert only("今天有点累，回答简短点吧。").evidence == "回答简短点吧"


@given(
    st.text(max_size=300)
    | st.lists(st.sampled_from("以后别不要都这么叫我说短点了，。 you call me stop from now on"), max_size=60).map(
        "".join
    )
)
def test_any_text_can_be_read(text):
    signals = signals_in(text)
    assert len({signal.key for signal in signals}) == len(signals)
    assert all(signal.key and signal.value and len(signal.evidence) <= 200 for signal in signals)
