"""The clients of Chroma: embedded in this process, or of a server. Any failure of either is MemoryUnavailable.

The embedded client blocks, so its calls run on a thread of their own. Only one process may use its folder.
"""

import asyncio
import time
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

from soulgraph.compat import close_chroma_client, forget_chroma_folder
from soulgraph.errors import ConfigurationError, MemoryUnavailable, SoulgraphError
from soulgraph.memory.chroma_trial import damage_in

TIMEOUT_S = 10.0
RETRY_S = 30.0
"""After how long a folder that could not be opened is tried again."""

# Each document that is put reads all that wait to be put into the index: a thousand of them, by default.
_UPKEEP = {"hnsw": {"sync_threshold": 100}}
_MAX_REASON = 300
_OF_PYTHON = (asyncio.CancelledError, GeneratorExit, KeyboardInterrupt, SystemExit, SoulgraphError)
T = TypeVar("T")


class Client(Protocol):
    """One collection of Chroma, and the way to run its methods."""

    async def collection(self) -> Any: ...

    async def call(self, work: Callable[[], Any]) -> Any: ...

    async def renew(self) -> Path | None:
        """Begin anew with an empty folder; returns where the old one is now. On a server only look it up again."""
        ...


class EmbeddedClient:
    """The collection in a folder. Chroma is imported and opened by the first call, not before."""

    def __init__(self, folder: Path, name: str, thread: ThreadPoolExecutor) -> None:
        self._folder = folder
        self._name = name
        self._thread = thread
        self._client: Any = None
        self._collection: Any = None
        self._refusal = ""
        self._try_again_at = 0.0

    async def call(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def collection(self) -> Any:
        if self._collection is None:
            await self.call(self._open)
        return self._collection

    async def renew(self) -> Path | None:
        return await self.call(self._move_aside)

    async def close(self) -> None:
        await self.call(self._close)

    # No locks are needed below: the executor has one thread.

    def _open(self) -> None:
        """Open the folder once. A refusal holds for a while: to look at it in every turn would only cost time."""
        if self._collection is not None:
            return
        if time.monotonic() < self._try_again_at:
            raise MemoryUnavailable(self._refusal)
        try:
            with translated_errors():
                self._open_now()
        except MemoryUnavailable as error:
            self._close()
            self._refusal = error.detail
            self._try_again_at = time.monotonic() + RETRY_S
            raise

    def _open_now(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        if damage := damage_in(self._folder, self._name):
            raise MemoryUnavailable(reason_of(damage))
        import chromadb  # takes a second, so not before it is needed
        from chromadb.config import Settings

        self._client = chromadb.PersistentClient(self._folder, settings=Settings(anonymized_telemetry=False))
        opened = _get_or_create(self._client, self._name)
        if _is_slow(opened):
            with _without_warnings():
                opened.modify(configuration=_UPKEEP)
        self._collection = opened

    def _close(self) -> None:
        """Whatever is wrong with the folder, this process has nothing to do with it any more."""
        client = self._client
        self._client = self._collection = None
        with suppress(MemoryUnavailable), translated_errors():
            if client is not None:
                client.close()
        forget_chroma_folder(self._folder)

    def _move_aside(self) -> Path | None:
        self._close()
        self._try_again_at = 0.0
        aside = _free_name(self._folder)
        try:
            self._folder.rename(aside)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise MemoryUnavailable(reason_of(f"{self._folder} cannot be moved: {error.strerror}")) from error
        return aside


def _free_name(folder: Path) -> Path:
    moment = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    names = (folder.with_name(f"{folder.name}-damaged-{moment}{more}") for more in ("", *(f"-{n}" for n in range(99))))
    return next(name for name in names if not name.exists())


class ServerClient:
    """The collection on a Chroma server."""

    def __init__(self, client: Any, name: str) -> None:
        self._client = client
        self._name = name
        self._collection: Any = None

    async def call(self, work: Callable[[], Any]) -> Any:
        async with asyncio.timeout(TIMEOUT_S):
            return await work()

    async def collection(self) -> Any:
        if self._collection is None:
            opened = await _get_or_create(self._client, self._name)
            if _is_slow(opened):
                with _without_warnings():
                    await opened.modify(configuration=_UPKEEP)
            self._collection = opened
        return self._collection

    async def renew(self) -> None:
        self._collection = None


@asynccontextmanager
async def open_folder(folder: Path, collection: str) -> AsyncIterator[EmbeddedClient]:
    with ThreadPoolExecutor(1, thread_name_prefix="chroma") as thread:
        client = EmbeddedClient(folder, collection, thread)
        try:
            yield client
        finally:
            await client.close()


@asynccontextmanager
async def connect(url: str, collection: str) -> AsyncIterator[ServerClient]:
    """Raises ConfigurationError if the URL is wrong or nothing answers there."""
    import chromadb
    from chromadb.config import Settings

    address = urlsplit(url)
    if address.scheme not in ("http", "https") or not address.hostname:
        raise ConfigurationError("SOULGRAPH_CHROMA_URL", "not an address: use http://host:8000")
    settings = Settings(anonymized_telemetry=False)
    port = address.port or (443 if address.scheme == "https" else 8000)
    place = address.hostname, port, address.scheme == "https"
    try:
        with translated_errors():
            client = ServerClient(await chromadb.AsyncHttpClient(*place, settings=settings), collection)
            await client.collection()
    except MemoryUnavailable as error:
        raise ConfigurationError("SOULGRAPH_CHROMA_URL", f"{address.hostname}:{port}: {error.detail}") from error
    try:
        yield client
    finally:
        await close_chroma_client(client._client)


@contextmanager
def translated_errors() -> Iterator[None]:
    """Raise whatever comes out of Chroma as MemoryUnavailable: what its Rust part raises has no common base."""
    try:
        yield
    except _OF_PYTHON:
        raise
    except BaseException as error:  # a panic of the Rust part is no Exception
        raise MemoryUnavailable(reason_of(str(error) or type(error).__name__)) from error


def reason_of(why: str) -> str:
    return f"the event library cannot be used: {' '.join(why.split())[:_MAX_REASON]}"


def _get_or_create(client: Any, name: str) -> Any:
    """The collection of this name, made if it is not there; awaitable on the server's client."""
    configuration = {"hnsw": {"space": "cosine", **_UPKEEP["hnsw"]}}
    # Without an embedding function: Chroma would otherwise load a model of its own.
    return client.get_or_create_collection(name, embedding_function=None, configuration=configuration)


def _is_slow(collection: Any) -> bool:
    """Whether it was made with Chroma's own default for how much waits to be put into its index."""
    return bool(collection.configuration_json["hnsw"]["sync_threshold"] != _UPKEEP["hnsw"]["sync_threshold"])


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Chroma warns of its own older form when it changes a collection without an embedding function."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield
