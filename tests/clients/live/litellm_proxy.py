"""LiteLLM's proxy in front of a soul, spoken to with OpenAI's library, with its own health check."""

import asyncio
import json
import os
from typing import ClassVar

import httpx

from soulgraph.tests.clients.live.client import end, until_up
from soulgraph.tests.clients.live.libraries import VENV, Library
from soulgraph.tests.clients.live.scenarios import Action, Step
from soulgraph.tests.live import free_port

# It fetches no prices, tells nobody, and needs no key of its own on this machine.
QUIET = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "DO_NOT_TRACK": "1",
    "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
}


class LiteLLM(Library):
    program: ClassVar[str] = "LiteLLM proxy"
    folder_name: ClassVar[str] = "litellm"
    script: ClassVar[str] = "with_openai.py"
    package: ClassVar[str] = "litellm"
    can: ClassVar[frozenset[Action]] = Library.can | {"check"}

    _proxy: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        await super().start()
        port = free_port()
        ours = {"model": "openai/soul:Mo", "api_base": self.url, "api_key": "none"}
        config = self.folder / "config.yaml"  # JSON is YAML
        config.write_text(json.dumps({"model_list": [{"model_name": "soul:Mo", "litellm_params": ours}]}), "utf-8")
        command = [str(VENV / "bin" / "litellm"), "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]
        log = self.folder / "proxy.txt"
        with log.open("wb") as out:
            self._proxy = await asyncio.create_subprocess_exec(
                *command, cwd=self.folder, env={**os.environ, **QUIET}, stdout=out, stderr=out
            )
        self._home = f"http://127.0.0.1:{port}"
        await until_up(f"{self._home}/health/liveliness", self._proxy, log)

    def command(self) -> list[str]:
        python, script, _, key = super().command()
        return [python, script, f"{self._home}/v1", key]

    async def stop(self) -> None:
        await super().stop()
        await end(self._proxy)

    async def do(self, step: Step) -> None:
        if step.action != "check":
            await super().do(step)
            return
        async with httpx.AsyncClient(timeout=60, verify=False) as client:
            told = (await client.get(f"{self._home}/health")).json()
        if told["healthy_count"] != 1:
            raise RuntimeError(f"LiteLLM finds the soul unhealthy: {told}")
