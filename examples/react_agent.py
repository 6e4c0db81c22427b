"""A soul inside a ReAct agent: the agent does the work, and leaves to a companion what is to be said kindly."""

import asyncio

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from scripted_model import ScriptedModel, calls

from soulgraph import open_souls, soul_named, soul_node


@tool
def order_status(number: str) -> str:
    """Where an order is."""
    return f"order {number} is lost"


async def main() -> None:
    async with open_souls() as context:
        luna = soul_node(context, await soul_named(context, "Luna", "INFJ"))

        @tool
        async def companion(words: str, config: RunnableConfig) -> str:
            """Pass the customer's words on to the companion, who answers with feeling."""
            heard = await luna({"messages": [HumanMessage(words)]}, config)
            return str(heard["messages"][0].text)

        words = "My present for my daughter is lost, I am so sad"
        script = [
            calls("order_status", number="17"),
            calls("companion", words=words),
            AIMessage("Order 17 is lost; a new one is on its way."),
        ]
        agent = create_agent(ScriptedModel(script=script), [order_status, companion], checkpointer=InMemorySaver())
        customer = {"messages": [HumanMessage(f"{words}. It is order 17.")]}
        state = await agent.ainvoke(customer, {"configurable": {"thread_id": "customer 4"}})
        for message in state["messages"]:
            if message.text:
                print(f"{message.name or message.type}: {message.text}")


asyncio.run(main())
