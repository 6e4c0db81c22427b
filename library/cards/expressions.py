"""Which of our emotions a picture of another program shows, by its label."""

import re
from collections.abc import Mapping

_LABELS: Mapping[str, tuple[str, ...]] = {
    "neutral": ("neutral", "default", "normal", "idle", "平静脸", "默认", "普通", "无表情"),
    "joy": (
        "joy",
        "happy",
        "happiness",
        "smile",
        "smiling",
        "amusement",
        "love",
        "pride",
        "optimism",
        "laugh",
        "laughing",
        "cheerful",
        "proud",
        "高兴",
        "开心",
        "喜悦",
        "快乐",
        "微笑",
        "笑",
    ),
    "surprise": (
        "surprise",
        "surprised",
        "shock",
        "shocked",
        "realization",
        "confusion",
        "curiosity",
        "confused",
        "curious",
        "惊讶",
        "吃惊",
        "惊喜",
        "疑惑",
    ),
    "sadness": ("sadness", "sad", "grief", "remorse", "crying", "cry", "悲伤", "难过", "伤心", "哭", "哭泣"),
    "fear": ("fear", "afraid", "scared", "fearful", "害怕", "恐惧"),
    "anger": ("anger", "angry", "mad", "rage", "furious", "生气", "愤怒"),
    "disgust": ("disgust", "disgusted", "disapproval", "contempt", "厌恶", "嫌弃"),
    "calm": ("calm", "approval", "relaxed", "serene", "peaceful", "平静", "冷静"),
    "relief": ("relief", "relieved", "松了口气", "放松", "安心"),
    "gratitude": ("gratitude", "caring", "admiration", "grateful", "thankful", "感激", "感谢", "关心"),
    "excitement": ("excitement", "excited", "desire", "兴奋", "激动"),
    "anxiety": (
        "anxiety",
        "nervousness",
        "embarrassment",
        "anxious",
        "nervous",
        "worried",
        "worry",
        "embarrassed",
        "blush",
        "shy",
        "紧张",
        "焦虑",
        "害羞",
        "担心",
    ),
    "frustration": ("frustration", "annoyance", "annoyed", "frustrated", "irritated", "pout", "烦躁", "不满", "沮丧"),
    "disappointment": ("disappointment", "disappointed", "失望"),
    "boredom": ("boredom", "bored", "sleepy", "tired", "无聊", "困"),
}
_RANKS = {label: (emotion, rank) for emotion, labels in _LABELS.items() for rank, label in enumerate(labels)}
_NUMBERED = re.compile(r"[\s._-]*\d{1,4}$")
_SEPARATORS = re.compile(r"[\s_.-]+")


def emotion_of(label: str) -> tuple[str, int] | None:
    """The emotion of a label, and how well it suits, 0 the best; None if it is none that we know.

    Programs number the pictures of one emotion: `joy-2` is `joy`, and comes after it.
    """
    plain = _SEPARATORS.sub(" ", label.strip().casefold()).strip()
    if plain in _RANKS:
        return _RANKS[plain]
    found = _RANKS.get(_NUMBERED.sub("", plain))
    return (found[0], found[1] + len(_RANKS)) if found else None
