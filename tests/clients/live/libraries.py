"""Libraries: each keeps the history itself, in a process of its own that is steered by lines of JSON."""

import asyncio
import json
from importlib.metadata import Distribution
from pathlib import Path
from typing import ClassVar

from soulgraph.tests.clients.live.client import HOME, Client, empty, end
from soulgraph.tests.clients.live.scenarios import Action, Step

TALKERS = Path(__file__).parent / "talkers"
VENV = HOME / "python"
AI_SDK = HOME / "ai-sdk"
ANSWER_TIMEOUT_S = 60


def python_version(package: str) -> str:
    [found] = VENV.glob(f"lib/python3*/site-packages/{package}-*.dist-info")
    return Distribution.at(found).version


class Library(Client):
    can: ClassVar[frozenset[Action]] = frozenset(("say", "regenerate", "edit", "stop", "new chat"))
    script: ClassVar[str]
    package: ClassVar[str]

    _process: asyncio.subprocess.Process | None = None

    @classmethod
    def version(cls) -> str:
        return python_version(cls.package)

    def command(self) -> list[str]:
        return [str(VENV / "bin" / "python"), str(TALKERS / self.script), self.url, "none"]

    async def start(self) -> None:
        empty(self.folder)

    async def stop(self) -> None:
        await end(self._process)

    async def fresh(self) -> None:
        await end(self._process)
        pipe = asyncio.subprocess.PIPE
        with (self.folder / "log.txt").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(*self.command(), stdin=pipe, stdout=pipe, stderr=log)

    async def do(self, step: Step) -> None:
        process = self._process
        assert process
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps({"do": step.action, "text": step.text}).encode() + b"\n")
        answer = await asyncio.wait_for(process.stdout.readline(), ANSWER_TIMEOUT_S)
        if not answer:
            raise RuntimeError(f"{self.program} failed: see {self.folder / 'log.txt'}")


class OpenAILibrary(Library):
    program: ClassVar[str] = "OpenAI for Python"
    folder_name: ClassVar[str] = "openai"
    script: ClassVar[str] = "with_openai.py"
    package: ClassVar[str] = "openai"


class OpenAIResponses(OpenAILibrary):
    program: ClassVar[str] = "OpenAI for Python with Responses"
    folder_name: ClassVar[str] = "openai-responses"
    script: ClassVar[str] = "with_openai_responses.py"


class LangChain(Library):
    program: ClassVar[str] = "LangChain"
    folder_name: ClassVar[str] = "langchain"
    script: ClassVar[str] = "with_langchain.py"
    package: ClassVar[str] = "langchain_openai"


class PydanticAI(Library):
    program: ClassVar[str] = "pydantic-ai"
    folder_name: ClassVar[str] = "pydantic-ai"
    script: ClassVar[str] = "with_pydantic_ai.py"
    package: ClassVar[str] = "pydantic_ai_slim"


class AiSdk(Library):
    program: ClassVar[str] = "Vercel AI SDK"
    folder_name: ClassVar[str] = "ai-sdk"
    kind: ClassVar[str] = "compatible"

    @classmethod
    def version(cls) -> str:
        return str(json.loads((AI_SDK / "node_modules" / "ai" / "package.json").read_text("utf-8"))["version"])

    def command(self) -> list[str]:
        return ["node", str(TALKERS / "with_ai_sdk.mjs"), self.url, "none", str(AI_SDK), self.kind]


class AiSdkResponses(AiSdk):
    """With `createOpenAI`, whose models speak the Responses API."""

    program: ClassVar[str] = "Vercel AI SDK with Responses"
    folder_name: ClassVar[str] = "ai-sdk-responses"
    kind: ClassVar[str] = "responses"
