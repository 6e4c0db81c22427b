"""simonw's `llm` on the command line: every line is a process, and `-c` goes on where the last one ended."""

import asyncio
import json
import os
from typing import ClassVar

from soulgraph.tests.clients.live.client import Client, empty
from soulgraph.tests.clients.live.libraries import VENV, python_version
from soulgraph.tests.clients.live.scenarios import Action, Step


class Llm(Client):
    program: ClassVar[str] = "llm"
    folder_name: ClassVar[str] = "llm"
    can: ClassVar[frozenset[Action]] = frozenset(("say", "new chat"))

    @classmethod
    def version(cls) -> str:
        return python_version("llm")

    async def start(self) -> None:
        empty(self.folder)
        ours = {"model_id": "mo", "model_name": "soul:Mo", "api_base": self.url}
        (self.folder / "extra-openai-models.yaml").write_text(json.dumps([ours]), "utf-8")

    async def stop(self) -> None:
        """Nothing is left running."""

    async def fresh(self) -> None:
        self._goes_on = False

    async def do(self, step: Step) -> None:
        if step.action == "new chat":
            self._goes_on = False
            return
        command = [str(VENV / "bin" / "llm"), "prompt", "-m", "mo", *(["-c"] if self._goes_on else []), step.text]
        environment = {**os.environ, "LLM_USER_PATH": str(self.folder)}
        with (self.folder / "log.txt").open("ab") as log:
            process = await asyncio.create_subprocess_exec(*command, env=environment, stdout=log, stderr=log)
            if await process.wait():
                raise RuntimeError(f"llm failed: see {self.folder / 'log.txt'}")
        self._goes_on = True
