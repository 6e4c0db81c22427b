"""Asks the model once more when nothing of its answer could be shown: in short, without tools, and without its bad
answer to copy."""

from dataclasses import replace

from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.runtime import Runtime

from soulgraph.errors import ModelRefused, TurnStopped
from soulgraph.nodes.context import Context
from soulgraph.nodes.state import TurnState
from soulgraph.nodes.streaming import token_emitter
from soulgraph.prompts.budget import cut, first_paragraph
from soulgraph.prompts.contract import STOP
from soulgraph.prompts.cues import cued, cues_of
from soulgraph.prompts.defuse import defuse
from soulgraph.prompts.layers import last_line_of
from soulgraph.prompts.render import load, render
from soulgraph.soul.mood import describe
from soulgraph.voices.reply_stream import ReplyStream, forbidden_in
from soulgraph.voices.speech import speak

_MAX_PERSONA = 300


async def repair(state: TurnState, runtime: Runtime[Context]) -> TurnState:
    voice = runtime.context.voice
    shown = ""
    emit_token = token_emitter(state["utterance"], runtime)

    def show(text: str) -> None:
        nonlocal shown
        emit_token(text)
        shown += text

    reply = ReplyStream("plain", replace(forbidden_in(state["messages"]), exact=True))
    try:
        message = await speak(voice.model, _short_prompt(state, runtime.context), reply, show, STOP["plain"])
    except TurnStopped:
        if not shown or runtime.context.persona.strict_output:
            raise
        return {"output": "", "shown": shown, "fault": ""}
    if not message.text:
        raise ModelRefused(
            "the model answered with nothing, twice, which is how a refusal arrives: rephrase the message"
        )
    return {"output": message.text, "shown": shown, "fault": reply.problem}


def _short_prompt(state: TurnState, context: Context) -> list[AnyMessage]:
    """Who speaks, in what mood, and to what it is to answer, with the last line of the first prompt: all that a small
    model needs."""
    impact = state["impact"]
    text = state["utterance"]["text"]
    lang = impact.reply_language(text)
    persona = first_paragraph(impact.session.character_snapshot["base_persona"].strip())
    system = render(
        load("repair", lang),
        name=defuse(impact.soul.name),
        persona=defuse(cut(persona, _MAX_PERSONA)),
        mood=describe(impact.soul.emotion_state, lang, context.constants),
    )
    messages = state["messages"]
    return [cued(system, cues_of(messages)), HumanMessage(f"{defuse(text)}\n\n{last_line_of(messages)}")]
