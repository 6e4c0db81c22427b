"""How the offline voice answers a turn: one situation, one line, and a state update only when surprised."""

import json
import zlib
from collections.abc import Sequence
from typing import Any, cast

from langchain_core.messages import ToolMessage

from soulgraph.prompts.cues import Cues
from soulgraph.soul.language import lang_of
from soulgraph.voices.offline_parsing import (
    asked_about_self,
    emotion_group,
    fact_asked,
    introduced_name,
    is_greeting,
    is_question,
    lines,
    quoted,
    wish_in,
)

STRONG = 0.7
EVEN = 0.15
NOTHING = ("", "[]", "{}", "null", "nothing found")
_QUOTE, _NAME, _RECALL = 40, 60, 400


def plain_cues(text: str) -> Cues:
    """The cues of a turn nobody prepared: a nameless, even-tempered companion."""
    lang = lang_of(text)
    return Cues(
        task="turn",
        lang=lang,
        soul_name=lines()[lang]["nameless"],
        voice="companion",
        user_text=text,
        user_emotion={"emotion": "neutral", "p": 0.0, "a": 0.0, "d": 0.0, "intensity": 0.0, "confidence": 0.0},
        mood=lines()[lang]["even_mood"],
        mood_p=0.0,
        mode="hybrid",
        gate={"exec_mode": "auto_execute", "locked": False},
        blocked_intents=[],
        facts=[],
    )


def contract(cues: Cues, told: ToolMessage | None) -> str:
    """The whole answer of a turn, as every model must give it."""
    update = json.dumps(state_update(cues), ensure_ascii=False)
    return f"<narrative>{narrative(cues, told)}</narrative><state_update_json>{update}</state_update_json>"


def narrative(cues: Cues, told: ToolMessage | None) -> str:
    book: dict[str, Any] = lines()[cues["lang"]][cues["voice"]]
    path, quote = _situation(cues, told)
    spoken = [pick(_at(book, path), cues["user_text"])]
    if path[0] in ("greeting", "feeling") and "hostile" not in path and cues["mode"] in book["mode"]:
        spoken.append(pick(book["mode"][cues["mode"]], cues["user_text"]))
    name = quoted(cues["soul_name"], _NAME) or lines()[cues["lang"]]["nameless"]
    words = {"name": name, "mood": quoted(cues["mood"], _NAME), "quote": quote}
    said = [line.format(**words) for line in spoken]
    return ("" if cues["lang"] == "zh" else " ").join([*said, *filter(None, [cues.get("question")])])


def _at(book: Any, path: Sequence[str]) -> list[str]:
    for key in path:
        book = book[key]
    return cast(list[str], book)


def _situation(cues: Cues, told: ToolMessage | None) -> tuple[tuple[str, ...], str]:
    """Which lines fit and what they quote; the most pressing situation comes first."""
    text, mood = cues["user_text"], mood_group(cues["mood_p"])
    group = emotion_group(cues["user_emotion"]["emotion"])
    if cues["blocked_intents"]:
        return ("refusal",), quoted(lines()[cues["lang"]]["separator"].join(cues["blocked_intents"]), _QUOTE)
    if told:
        return _after_tool(text, told)
    if cues["gate"]["locked"] or cues["gate"]["exec_mode"] == "blocked":
        return ("curt", "warm" if group == "warm" else "other"), ""
    if name := introduced_name(text):
        return ("introduced",), name
    if topic := asked_about_self(text):
        return ("name",) if topic == "name" else ("wellbeing", mood), ""
    if fact := fact_asked(text, cues["facts"]):
        return ("fact",), quoted(fact, _RECALL)
    if (is_greeting(text) and group in ("plain", "warm")) or not quoted(text, _QUOTE):
        return ("greeting", mood), ""
    if group == "plain" and is_question(text):
        return ("question",), ""
    return ("feeling", group, mood), quoted(text, _QUOTE)


def _after_tool(text: str, told: ToolMessage) -> tuple[tuple[str, ...], str]:
    wish = wish_in(text)
    if wish and wish.tool == "remember":
        return ("not_remembered",) if told.status == "error" else ("remembered",), quoted(wish.said, _RECALL)
    memory = quoted("; ".join(told.text.splitlines()), _RECALL)
    known = told.status != "error" and memory not in NOTHING
    return ("recalled",) if known else ("forgotten",), memory


def state_update(cues: Cues) -> dict[str, Any]:
    """`{}` unless the user surprises: a name not known before, a strong insult, heartfelt thanks."""
    changes: dict[str, Any] = {}
    words, felt = lines()[cues["lang"]]["surprise"], cues["user_emotion"]
    name = introduced_name(cues["user_text"])
    if name and not any(name in fact for fact in cues["facts"]):
        status = words["introduced"].format(quote=name)
        changes["relationships"] = {"add": [{"entity": "user", "status": status, "priority": 8}]}
    surprise = {"anger": "insult", "disgust": "insult", "gratitude": "thanks"}.get(felt["emotion"])
    if surprise and felt["intensity"] >= STRONG:
        changes["emotions"] = {"add": [{"content": words[surprise], "priority": 7}]}
    return {"dynamic_state": changes} if changes else {}


def mood_group(p: float) -> str:
    return "up" if p > EVEN else "down" if p < -EVEN else "even"


def pick(options: Sequence[str], text: str) -> str:
    """The same text always finds the same line, on every machine."""
    return options[zlib.crc32(text.encode()) % len(options)]
