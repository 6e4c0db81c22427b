"""Asks the model once more when its answer broke the output contract, and shows it what was wrong."""

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.runtime import Runtime

from soulgraph.nodes.context import Context
from soulgraph.nodes.state import TurnState
from soulgraph.nodes.streaming import emit_token
from soulgraph.prompts.defuse import defuse
from soulgraph.prompts.render import load, render
from soulgraph.voices.speech import speak


async def repair(state: TurnState, runtime: Runtime[Context]) -> TurnState:
    """The new answer's words are shown only if the first answer had none to show."""

    def show(text: str) -> None:
        if not state["shown"]:
            emit_token(text, state["utterance"], runtime)

    complaint = render(load("repair"), problem=defuse(state["problem"]))
    asked = [*state["messages"], AIMessage(state["output"]), HumanMessage(complaint)]
    message = await speak(runtime.context.voice.without_tools, asked, show)
    return {"output": message.text}
