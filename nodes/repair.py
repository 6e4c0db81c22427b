"""One more chance for an answer that broke the contract: the model is shown its error."""

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.runtime import Runtime

from soulgraph.nodes.context import Context
from soulgraph.nodes.state import TurnState
from soulgraph.nodes.streaming import tell
from soulgraph.prompts.defuse import defuse
from soulgraph.prompts.render import load, render
from soulgraph.voices.speech import speak


async def repair(state: TurnState, runtime: Runtime[Context]) -> TurnState:
    """Its words are shown only if the first answer had none to show."""

    def show(text: str) -> None:
        if not state["shown"]:
            tell(text, state["said"], runtime)

    complaint = render(load("repair"), problem=defuse(state["problem"]))
    asked = [*state["messages"], AIMessage(state["output"]), HumanMessage(complaint)]
    message = await speak(runtime.context.voice.without_tools, asked, show)
    return {"output": message.text}
