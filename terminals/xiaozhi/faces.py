"""The faces of xiaozhi devices, and the one for each mood and feeling of ours."""

from soulgraph.soul.mood import Mood

EMOJI = {
    "neutral": "😶",
    "happy": "🙂",
    "laughing": "😆",
    "funny": "😂",
    "sad": "😔",
    "angry": "😠",
    "crying": "😭",
    "loving": "😍",
    "embarrassed": "😳",
    "surprised": "😲",
    "shocked": "😱",
    "thinking": "🤔",
    "winking": "😉",
    "cool": "😎",
    "relaxed": "😌",
    "delicious": "🤤",
    "kissy": "😘",
    "confident": "😏",
    "sleepy": "😴",
    "silly": "😜",
    "confused": "🙄",
}
"""Every face that the devices can draw."""
FACES: dict[Mood, str] = {
    "calm": "neutral",
    "content": "relaxed",
    "cheerful": "happy",
    "elated": "laughing",
    "excited": "surprised",
    "proud": "confident",
    "tender": "loving",
    "moved": "loving",
    "sad": "sad",
    "worried": "confused",
    "afraid": "shocked",
    "hurt": "crying",
    "angry": "angry",
    "sulky": "angry",
    "bored": "thinking",
    "tired": "sleepy",
}
