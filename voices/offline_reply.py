"""How the offline voice answers a turn: it finds the situation, picks a prepared line, and rarely updates state."""

import json
from collections.abc import Sequence
from typing import Any, cast

from langchain_core.messages import ToolMessage

from soulgraph.prompts.cues import Cues
from soulgraph.soul.emotions import UserEmotion
from soulgraph.soul.language import lang_of
from soulgraph.soul.personality import Traits
from soulgraph.voices.lines import Speaker
from soulgraph.voices.offline_parsing import (
    asked_about_self,
    emotion_group,
    fact_asked_about,
    introduced_name,
    is_apology,
    is_greeting,
    is_question,
    is_request,
    is_wish,
    lines,
    quoted,
    tool_request_in,
)

STRONG_INTENSITY = 0.7
MARKED_APPRAISAL = 0.5
MIDDLE_GRADE = 3
EMPTY_RESULTS = ("", "[]", "{}", "null", "nothing found")
_TALK = ("plain", "request", "question", "agreed", "side", "joy", "curt", "fact")
_MODE_SITUATIONS = ("greeting", "kind", "joy", "grief", "fear", "side", "plain")
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
        user_emotion=UserEmotion("neutral", 0.0, 0.0, 0.0, 0.0, 0.0).to_dict(),
        mood=lines()[lang]["even_mood"],
        mood_key="calm",
        grades=dict.fromkeys(Traits._fields, MIDDLE_GRADE),
        mode="hybrid",
        gate_reason=None,
        blocked_intents=[],
        facts=[],
    )


def turn_answer(cues: Cues, tool_result: ToolMessage | None) -> str:
    """The whole answer of a turn: narrative and state update in the tags that every model must use."""
    update = json.dumps(state_update(cues), ensure_ascii=False)
    words = _rest_of(narrative(cues, tool_result), cues)
    return f"<narrative>{words}</narrative><state_update_json>{update}</state_update_json>"


def _rest_of(reply: str, cues: Cues) -> str:
    """What is still to be said of a reply that was begun; that this was all, if nothing is."""
    begun = cues.get("begun", "")
    rest = reply.removeprefix(begun)
    return rest if rest not in ("", reply) or not begun else lines()[cues["lang"]]["said_it_all"]


def narrative(cues: Cues, tool_result: ToolMessage | None) -> str:
    """The spoken text of the answer; `tool_result` is what the tool returned if one was called."""
    speaker = Speaker(cues["mood_key"], cues["grades"])
    path, quote = _situation(cues, tool_result)
    before, after = cues.get("first", []), [*cues.get("said", []), *filter(None, [cues.get("question")])]
    name = quoted(cues["soul_name"], _MAX_NAME) or lines()[cues["lang"]]["nameless"]
    words = {"name": name, "mood": quoted(cues["mood"], _MAX_NAME), "quote": quote}
    # Whoever asks for a reminder wants to hear that it is noted, not that the offline voice can do little.
    told = cues.get("heeded") and path[0] in _TALK
    sentences = [] if told else [sentence.format(**words) for sentence in _sentences(cues, path, speaker)]
    return ("" if cues["lang"] == "zh" else " ").join([*before, *sentences, *after])


def _sentences(cues: Cues, path: Sequence[str], speaker: Speaker) -> list[str]:
    """A line of the situation, with what the tone, the personality and the mode add to it."""
    book: dict[str, Any] = lines()[cues["lang"]][cues["voice"]]
    text = cues["user_text"]
    tone = _tone(path[0], speaker)
    endings = book["coda"].get(tone, {}) if speaker.is_talkative else {}
    extras = {
        "before": [book["interjection"][tone]] if tone and speaker.exclaims else [],
        "after": [endings[temperament] for temperament in speaker.temperaments if temperament in endings],
        "mode": [book["mode"][cues["mode"]]] if path[0] in _MODE_SITUATIONS and cues["mode"] in book["mode"] else [],
    }
    picked = {place: [speaker.pick(options, text) for options in lists] for place, lists in extras.items()}
    return [*picked["before"], *speaker.say(_lines_at(book, path), text), *picked["after"], *picked["mode"]]


def _tone(situation: str, speaker: Speaker) -> str:
    """The tone of a situation; empty if it has none, or if it is too cheerful for the mood."""
    tone = next((tone for tone, situations in lines()["tones"].items() if situation in situations), "")
    return "" if speaker.is_low and tone in lines()["cheerful_tones"] else tone


def _lines_at(book: Any, path: Sequence[str]) -> list[str]:
    """The lines at the end of the path; a mood that has none of its own uses those of `even`."""
    for key in path:
        book = book.get(key) or book["even"] if isinstance(book, dict) else book
    return cast(list[str], book)


def _situation(cues: Cues, tool_result: ToolMessage | None) -> tuple[tuple[str, ...], str]:
    """(path to the lines that fit, what they quote). The order of the checks is their priority."""
    act = user_act(cues)
    reason = cues["gate_reason"]
    if reason and cues["blocked_intents"]:
        intents = lines()[cues["lang"]]["separator"].join(cues["blocked_intents"])
        return ("refusal", reason, _reception(act)), quoted(intents, _MAX_QUOTE)
    if tool_result:
        return _after_tool(cues["user_text"], tool_result)
    if reason:
        return ("curt", reason, _reception(act)), ""
    return _open_situation(cues, act, Speaker(cues["mood_key"], cues["grades"]).mood_group)


def _open_situation(cues: Cues, act: str, mood: str) -> tuple[tuple[str, ...], str]:
    """The situation of a soul that is free to answer."""
    text = cues["user_text"]
    if act == "attack":
        return (act, mood), ""
    if name := introduced_name(text):
        return ("introduced",), name
    if topic := asked_about_self(text):
        return (topic, mood), ""
    if fact := fact_asked_about(text, cues["facts"]):
        return ("fact",), quoted(fact, _MAX_MEMORY)
    if act in ("plain", "joy", "kind") and (is_greeting(text) or not quoted(text, _MAX_QUOTE)):
        return ("greeting", mood), ""
    if act == "plain" and is_question(text):
        return ("question",), ""
    return (act, mood), quoted(text, _MAX_QUOTE)


def user_act(cues: Cues) -> str:
    """What the user does to the soul with these words; most of the time `plain`."""
    text = cues["user_text"]
    appraisal = cues["user_emotion"]["appraisal"]
    group = emotion_group(cues["user_emotion"]["emotion"])
    if appraisal["repair"] >= max(MARKED_APPRAISAL, appraisal["hostility"]):
        return "apology" if is_apology(text) else "kind"
    if appraisal["hostility"] >= MARKED_APPRAISAL:
        return "attack"
    if group in ("plain", "side", "joy") and is_wish(text):
        return "agreed"
    if group in ("plain", "side") and is_request(text):
        return "request"
    return group


def _reception(act: str) -> str:
    """How a soul with a closed gate takes it: nobody who is kind or suffers is turned away."""
    return {"kind": "kind", "apology": "kind", "joy": "kind", "grief": "care", "fear": "care"}.get(act, "other")


def _after_tool(text: str, tool_result: ToolMessage) -> tuple[tuple[str, ...], str]:
    request = tool_request_in(text)
    if request and request.tool == "remember":
        path = ("not_remembered",) if tool_result.status == "error" else ("remembered",)
        return path, quoted(request.value, _MAX_MEMORY)
    memory = quoted("; ".join(map(_told, tool_result.text.splitlines())), _MAX_MEMORY)
    known = tool_result.status != "error" and memory not in EMPTY_RESULTS
    return ("recalled",) if known else ("forgotten",), memory


def _told(line: str) -> str:
    """What a line of a tool's result says; those of memory are JSON objects."""
    try:
        found = json.loads(line)
    except ValueError:
        return line
    if not isinstance(found, dict):
        return line
    words = [str(found[key]) for key in ("fact", "said", "in_short", "experience") if key in found]
    return words[0] if words else line


def state_update(cues: Cues) -> dict[str, Any]:
    """Empty, except for a name that was not known before, a strong insult or strong gratitude."""
    changes: dict[str, Any] = {}
    words = lines()[cues["lang"]]["surprise"]
    emotion = cues["user_emotion"]
    name = introduced_name(cues["user_text"])
    if name and not any(name in fact for fact in cues["facts"]):
        status = words["introduced"].format(quote=name)
        changes["relationships"] = {"add": [{"entity": "user", "status": status, "priority": 8}]}
    insulted = emotion["appraisal"]["hostility"] >= MARKED_APPRAISAL
    surprise = "insult" if insulted else "thanks" if emotion["emotion"] == "gratitude" else ""
    if surprise and emotion["intensity"] >= STRONG_INTENSITY:
        changes["emotions"] = {"add": [{"content": words[surprise], "priority": 7}]}
    return {"dynamic_state": changes} if changes else {}
