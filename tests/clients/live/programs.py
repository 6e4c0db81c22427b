"""All programs that can be driven here; run as a program, it installs them."""

import subprocess
import sys

from soulgraph.tests.clients.live.client import HOME, Client
from soulgraph.tests.clients.live.libraries import (
    AI_SDK,
    VENV,
    AiSdk,
    AiSdkResponses,
    LangChain,
    OpenAILibrary,
    OpenAIResponses,
    PydanticAI,
)
from soulgraph.tests.clients.live.litellm_proxy import LiteLLM
from soulgraph.tests.clients.live.llm_cli import Llm
from soulgraph.tests.clients.live.open_webui import VENV as OPEN_WEBUI
from soulgraph.tests.clients.live.open_webui import OpenWebUI, OpenWebUIWithoutHeaders
from soulgraph.tests.clients.live.silly_tavern import SillyTavern

PROGRAMS: tuple[type[Client], ...] = (
    OpenWebUI,
    OpenWebUIWithoutHeaders,
    SillyTavern,
    LiteLLM,
    Llm,
    OpenAILibrary,
    OpenAIResponses,
    LangChain,
    PydanticAI,
    AiSdk,
    AiSdkResponses,
)
_PYTHON = ("litellm[proxy]", "llm", "langchain", "langchain-openai", "pydantic-ai-slim[openai]", "openai")
_NODE = {"sillytavern": ("sillytavern",), AI_SDK.name: ("ai", "@ai-sdk/openai", "@ai-sdk/openai-compatible")}


def install() -> None:
    """Everything into a folder of its own; what is there stays."""
    for venv, packages in ((OPEN_WEBUI, ("open-webui",)), (VENV, _PYTHON)):
        if not venv.exists():
            subprocess.run([sys.executable, "-m", "venv", venv], check=True)
            subprocess.run([venv / "bin" / "pip", "install", "--quiet", "uv"], check=True)
            python = ["--python", venv / "bin" / "python"]
            subprocess.run([venv / "bin" / "uv", "pip", "install", *python, *packages], check=True)
    for name, modules in _NODE.items():
        folder = HOME / name
        if not folder.exists():
            folder.mkdir(parents=True)
            subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--prefix", folder, *modules], check=True)


if __name__ == "__main__":
    install()
