"""A minimal chat server to compare with: FastAPI, `langchain.agents.create_agent`, SQLite checkpoints, and no more.

    python bench/agent_server.py PORT MODEL_URL FOLDER

It takes the same requests as soulgraph's `POST /v1/chat` and answers with the text. For `bench/load.py`.
"""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from pydantic import BaseModel


class Said(BaseModel):
    text: str
    session_id: str


def look_up(query: str) -> str:
    """Look something up."""
    return query


def agent_app(model_url: str, folder: Path) -> FastAPI:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncSqliteSaver.from_conn_string(str(folder / "agent.db")) as saver:
            model = ChatOpenAI(model="stub", base_url=model_url, api_key="none", streaming=True)
            prompt = "You are a companion."
            app.state.agent = create_agent(model, [look_up], checkpointer=saver, system_prompt=prompt)
            yield

    app = FastAPI(lifespan=lifespan)

    @app.post("/v1/chat")
    async def chat(said: Said) -> dict[str, str]:
        config = {"configurable": {"thread_id": said.session_id}}
        state = await app.state.agent.ainvoke({"messages": [("user", said.text)]}, config)
        return {"text": state["messages"][-1].content}

    @app.get("/healthz")
    @app.get("/readyz")
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    return app


if __name__ == "__main__":
    uvicorn.run(agent_app(sys.argv[2], Path(sys.argv[3])), port=int(sys.argv[1]), log_level="warning")
