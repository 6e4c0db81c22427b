"""How the offline voice answers a turn: it finds the situation, picks a prepared line, and rarely updates state."""

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
    fact_asked_about,
    introduced_name,
    is_greeting,
    is_question,
    lines,
    quoted,
    tool_request_in,
)

STRONG_INTENSITY = 0.7
EVEN_PLEASURE = 0.15
EMPTY_RESULTS = ("", "[]", "{}", "null", "nothing found")
_MAX_QUOTE, _MAX_NAME, _MAX_MEMORY = 40, 60, 400


def default_cues(text: str) -> Cues:
    """The cues of a call without any: a companion without a name, in an even mood."""
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


def turn_answer(cues: Cues, tool_result: ToolMessage | None) -> str:
    """The whole answer of a turn: narrative and state update in the tags that every model must use."""
    update = json.dumps(state_update(cues), ensure_ascii=False)
    return f"<narrative>{narrative(cues, tool_result)}</narrative><state_update_json>{update}</state_update_json>"


def narrative(cues: Cues, tool_result: ToolMessage | None) -> str:
    """The spoken text of the answer; `tool_result` is what the tool returned if one was called."""
    book: dict[str, Any] = lines()[cues["lang"]][cues["voice"]]
    path, quote = _situation(cues, tool_result)
    spoken = [pick(_lines_at(book, path), cues["user_text"])]
    if path[0] in ("greeting", "feeling") and "hostile" not in path and cues["mode"] in book["mode"]:
        spoken.append(pick(book["mode"][cues["mode"]], cues["user_text"]))
    name = quoted(cues["soul_name"], _MAX_NAME) or lines()[cues["lang"]]["nameless"]
    words = {"name": name, "mood": quoted(cues["mood"], _MAX_NAME), "quote": quote}
    sentences = [line.format(**words) for line in spoken]
    return ("" if cues["lang"] == "zh" else " ").join([*sentences, *filter(None, [cues.get("question")])])


def _lines_at(book: Any, path: Sequence[str]) -> list[str]:
    for key in path:
        book = book[key]
    return cast(list[str], book)


def _situation(cues: Cues, tool_result: ToolMessage | None) -> tuple[tuple[str, ...], str]:
    """(path to the lines that fit, what they quote). The order of the checks is their priority."""
    text = cues["user_text"]
    mood = mood_group(cues["mood_p"])
    group = emotion_group(cues["user_emotion"]["emotion"])
    if cues["blocked_intents"]:
        return ("refusal",), quoted(lines()[cues["lang"]]["separator"].join(cues["blocked_intents"]), _MAX_QUOTE)
    if tool_result:
        return _after_tool(text, tool_result)
    if cues["gate"]["locked"] or cues["gate"]["exec_mode"] == "blocked":
        return ("curt", "warm" if group == "warm" else "other"), ""
    if name := introduced_name(text):
        return ("introduced",), name
    if topic := asked_about_self(text):
        return ("name",) if topic == "name" else ("wellbeing", mood), ""
    if fact := fact_asked_about(text, cues["facts"]):
        return ("fact",), quoted(fact, _MAX_MEMORY)
    if (is_greeting(text) and group in ("plain", "warm")) or not quoted(text, _MAX_QUOTE):
        return ("greeting", mood), ""
    if group == "plain" and is_question(text):
        return ("question",), ""
    return ("feeling", group, mood), quoted(text, _MAX_QUOTE)


def _after_tool(text: str, tool_result: ToolMessage) -> tuple[tuple[str, ...], str]:
    request = tool_request_in(text)
    if request and request.tool == "remember":
        path = ("not_remembered",) if tool_result.status == "error" else ("remembered",)
        return path, quoted(request.value, _MAX_MEMORY)
    memory = quoted("; ".join(tool_result.text.splitlines()), _MAX_MEMORY)
    known = tool_result.status != "error" and memory not in EMPTY_RESULTS
    return ("recalled",) if known else ("forgotten",), memory


def state_update(cues: Cues) -> dict[str, Any]:
    """Empty, except for a name that was not known before, a strong insult or strong gratitude."""
    changes: dict[str, Any] = {}
    words = lines()[cues["lang"]]["surprise"]
    emotion = cues["user_emotion"]
    name = introduced_name(cues["user_text"])
    if name and not any(name in fact for fact in cues["facts"]):
        status = words["introduced"].format(quote=name)
        changes["relationships"] = {"add": [{"entity": "user", "status": status, "priority": 8}]}
    surprise = {"anger": "insult", "disgust": "insult", "gratitude": "thanks"}.get(emotion["emotion"])
    if surprise and emotion["intensity"] >= STRONG_INTENSITY:
        changes["emotions"] = {"add": [{"content": words[surprise], "priority": 7}]}
    return {"dynamic_state": changes} if changes else {}


def mood_group(p: float) -> str:
    return "up" if p > EVEN_PLEASURE else "down" if p < -EVEN_PLEASURE else "even"


def pick(options: Sequence[str], text: str) -> str:
    """One of the options, always the same for the same text."""
    # crc32, because Python's own hash of a string differs from process to process.
    return options[zlib.crc32(text.encode()) % len(options)]
