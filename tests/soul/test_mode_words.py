import pytest

from soulgraph.soul.mode_words import mode_hint_in, mode_request_in

ASKED = {
    "rational": """切换到理性模式 | 请用理性模式 | 理性一点好吗 | 能不能理性点 | 我希望你冷静一点 | 别这么煽情
        | 小满，理性一点
        | 用理性模式分析一下这个问题 | 从现在起用理性的方式跟我说话 | 别用偶像模式，用理性模式
        | Switch to Rational Mode, please
        | be more rational | be more rational please | Could you be more logical about this? | let's think logically
        | stop being so dramatic | don't be so emotional | I'd like you in rational mode
        | can you switch to rational mode?""",
    "idol": """用偶像模式跟我说话 | 开偶像模式！ | 给我打气 | 活泼一点嘛 | 鼓励鼓励我 | 哄哄我 | 能不能可爱一点
        | 换成偶像模式吧 | CHEER ME ON
        | cheer me up a bit | can you cheer me up? | Give me a pep talk | be more playful please | idol mode on
        | I need some encouragement""",
    "strict": """严格模式 | 只说重点 | 正经点 | 你能正经一点吗 | 别煽情了直接说结论 | 少废话 | 严肃一点
        | 先用偶像模式，不，还是严格模式吧
        | 请切换到“严格模式” | switch to strict mode | Just the facts, please | get to the point | no fluff please
        | go into strict mode""",
    "hybrid": "混合模式 | switch to hybrid mode",
    "default": """恢复默认 | 恢复正常吧 | 变回原来的样子 | 回到默认模式 | 正常说话就好 | 切换回正常模式
        | back to normal | default mode
        | go back to normal please | be yourself again | let's go back to default mode""",
}
MENTIONED = """你好 | 别用偶像模式 | 不要切换到严格模式 | 我不想用理性模式 | 不是让你用偶像模式 | 没必要用严格模式
    | 理性模式是什么意思 | 有没有偶像模式？
    | 你有偶像模式吗 | 要不要用偶像模式？ | 为什么要用严格模式 | 如果用偶像模式会怎样 | 偶像模式挺有意思的
    | 我手机切换到正常模式了 | 网络恢复正常了
    | 他说切换到理性模式 | 他劝我理性一点 | 老师要我严肃一点 | 我爸妈只说重点 | 这事得理性一点看
    | “切换到理性模式”是他昨天说的
    | what is idol mode? | what happens in strict mode? | is there an idol mode | Tell me about strict mode
    | let's talk about strict mode
    | don't switch to strict mode | never use idol mode | I don't like idol mode | Idol mode is cute
    | my phone is in strict mode
    | we were in rational mode yesterday | everything is back to normal | I was back to normal after a nap
    | she told me to be more rational | you always cheer me up | my friends cheer me up | I am a rational person
    | what a strict teacher | my idol sang | today was normal"""
SUITED = {
    "rational": [
        'Traceback (most recent call last):\n  File "a.py", line 3',
        "运行就报错了",
        "```py\nx = 1\n```",
        "KeyError: 'a'",
        "it says\n    at com.shop.Cart.add(Cart.java:31)",
        "HTTP 500 again",
        "程序抛出异常了",
        "I get a syntax error",
        "exit code 137",
        "错误码是E1024",
    ],
    "idol": [
        "帮我写首诗",
        "编个故事吧",
        "生日快乐！",
        "我升职了！",
        "唱首歌给我听",
        "讲个笑话",
        "写一首关于雨的诗",
        "给她写封情书",
        "write me a short poem",
        "tell me a bedtime story",
        "Happy birthday!",
        "we won, let's celebrate",
        "I passed!",
    ],
}
UNSUITED = [
    "",
    "hello",
    "今天好累",
    "我异常兴奋",
    "我崩溃了",
    "别讲笑话",
    "我不想听你讲个故事",
    "don't write me a poem",
    "the terror of it",
]


def each(texts):
    return [text.strip() for text in texts.split("|")]


@pytest.mark.parametrize(("mode", "text"), [(mode, text) for mode, texts in ASKED.items() for text in each(texts)])
def test_a_mode_can_be_asked_for_in_many_ways(mode, text):
    assert mode_request_in(text).mode == mode


@pytest.mark.parametrize("text", each(MENTIONED))
def test_refusing_asking_about_or_mentioning_a_mode_does_not_ask_for_it(text):
    assert mode_request_in(text) is None


def test_the_clause_that_asks_is_the_evidence():
    assert mode_request_in("今天好累，给我打气吧。外面下雨了").evidence == "给我打气吧"


@pytest.mark.parametrize(("mode", "text"), [(mode, text) for mode, texts in SUITED.items() for text in texts])
def test_the_matter_suggests_a_mode(mode, text):
    sign = mode_hint_in(text)
    assert sign.mode == mode
    assert sign.evidence in text


@pytest.mark.parametrize("text", UNSUITED)
def test_other_matters_suggest_none(text):
    assert mode_hint_in(text) is None


def test_what_is_broken_comes_before_what_is_celebrated():
    assert mode_hint_in("生日快乐！可是我的程序报错了").mode == "rational"
