"""Two souls that talk to each other, until each has spoken three times."""

import asyncio
from collections.abc import Mapping
from typing import Any, Literal

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from soulgraph import Context, open_souls, soul_named, soul_node


class Evening(MessagesState):
    luna: dict[str, Any]
    sol: dict[str, Any]


async def listening(context: Context, name: str, mbti_type: str) -> Any:
    """A node of a soul that takes the last words of all for what is said to it."""
    soul = soul_node(context, await soul_named(context, name, mbti_type), name=name)

    async def node(state: Mapping[str, Any], config: RunnableConfig) -> dict[str, Any]:
        return await soul({"messages": [HumanMessage(state["messages"][-1].text)]}, config)

    return node


def go_on(state: Evening) -> Literal["luna", "__end__"]:
    return "luna" if len(state["messages"]) < 7 else "__end__"


async def main() -> None:
    async with open_souls() as context:
        graph = (
            StateGraph(Evening)
            .add_node("luna", await listening(context, "luna", "INFP"))
            .add_node("sol", await listening(context, "sol", "ESTJ"))
            .add_edge(START, "luna")
            .add_edge("luna", "sol")
            .add_conditional_edges("sol", go_on)
        )
        parent = graph.compile(checkpointer=InMemorySaver())
        first = {"messages": [HumanMessage("I am so happy to see you two!")]}
        async for step in parent.astream(first, {"configurable": {"thread_id": "evening"}}, stream_mode="updates"):
            for name, update in step.items():
                pleasure = update[name]["soul_emotion"]["p"]
                print(f"{name} ({pleasure:+.1f}): {update['messages'][0].text}")


asyncio.run(main())
