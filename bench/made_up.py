"""Made-up talk in two languages, as much as is wanted: some words are said all the time, most of them rarely."""

import random
from collections.abc import Iterator, Sequence

_ENGLISH = """
mother father sister brother daughter son neighbour teacher boss friend grandmother cousin
visited called painted repaired lost found cooked bought sold watched cleaned planted broke forgot
bicycle kettle violin garden telescope sofa passport umbrella recipe aquarium lantern suitcase puzzle heater balcony
park station market hospital library lake office school airport museum bakery harbour cinema farm
"""
_CHINESE = """
妈妈 爸爸 姐姐 弟弟 女儿 儿子 邻居 老师 老板 朋友 奶奶 表哥
修好了 弄丢了 买了 卖掉了 打扫了 画了 带来了 忘记了 借走了 找到了 看上了 送了我
自行车 水壶 小提琴 花园 望远镜 沙发 护照 雨伞 菜谱 鱼缸 灯笼 行李箱 拼图 暖气 阳台
公园 车站 市场 医院 图书馆 湖边 办公室 学校 机场 博物馆 面包店 港口 电影院 农场
"""
_SAID = {
    language: [line.split() for line in words.strip().splitlines()]
    for language, words in (("en", _ENGLISH), ("zh", _CHINESE))
}
_SYLLABLES = "kamitorelushinabofendarvelquizoprahuwentaloriessgan"
_CHARACTERS = "安柏晨岱恩芳歌涵佳凯岚眠宁鹏琪然思桐薇轩颜泽舟"
_ASIDES = (
    "I did not sleep well again.",
    "It made me laugh.",
    "We should do that more often.",
    "今天真的有点累。",
    "想想还挺开心的。",
    "下次一起去吧。",
)


def talk(n: int, seed: int = 7) -> Iterator[str]:
    rng = random.Random(seed)
    for _ in range(n):
        yield f"{(_english if rng.random() < 0.5 else _chinese)(rng)} {rng.choice(_ASIDES)}"


def _english(rng: random.Random) -> str:
    who, did, what, where = (_usual(rng, words) for words in _SAID["en"])
    start = rng.randrange(len(_SYLLABLES) - 6)
    name = _SYLLABLES[start : start + 6].title()
    return f"My {who} {name} {did} the {what} near the {where} on day {rng.randrange(9999)}."


def _chinese(rng: random.Random) -> str:
    who, did, what, where = (_usual(rng, words) for words in _SAID["zh"])
    name = "".join(rng.choices(_CHARACTERS, k=2))
    return f"我{who}{name}在{where}{did}一个{what}，第{rng.randrange(9999)}天。"


def _usual(rng: random.Random, words: Sequence[str]) -> str:
    return words[min(int(rng.paretovariate(0.9)) - 1, len(words) - 1)]
