"""What the drivers of all programs have in common."""

import asyncio
import os
import shutil
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

import httpx

from soulgraph.tests.clients.live.scenarios import Action, Scenario, Step

HOME = Path(os.environ.get("SOULGRAPH_CLIENTS", Path(__file__).parents[3] / ".clients"))
START_TIMEOUT_S = 600


class Client(ABC):
    """One program that is pointed to `url`, the base URL of an OpenAI-compatible server, and used in `folder`."""

    program: ClassVar[str]
    folder_name: ClassVar[str]
    can: ClassVar[frozenset[Action]]

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.folder = folder

    @classmethod
    @abstractmethod
    def version(cls) -> str: ...

    @abstractmethod
    async def start(self) -> None: ...

    @abstractmethod
    async def stop(self) -> None: ...

    @abstractmethod
    async def fresh(self) -> None:
        """A conversation in which nothing was said yet."""

    @abstractmethod
    async def do(self, step: Step) -> None: ...

    @classmethod
    def plays(cls, scenario: Scenario) -> bool:
        return all(step.action in cls.can for step in scenario.steps)


async def until_up(url: str, process: asyncio.subprocess.Process, log: Path) -> None:
    """Wait for a program that is starting."""
    async with httpx.AsyncClient(verify=False) as client:
        for _ in range(START_TIMEOUT_S * 2):
            try:
                if (await client.get(url)).status_code < 500:
                    return
            except httpx.TransportError:
                if process.returncode is not None:
                    raise RuntimeError(f"it ended at start-up: see {log}") from None
            await asyncio.sleep(0.5)
    raise TimeoutError(f"it did not start: see {log}")


async def end(process: asyncio.subprocess.Process | None) -> None:
    if process is None or process.returncode is not None:
        return
    process.terminate()
    try:
        await asyncio.wait_for(process.wait(), 20)
    except TimeoutError:
        process.kill()
        await process.wait()


def empty(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
