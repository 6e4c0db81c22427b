"""`soulgraph model`: what a server offers, and which model the soul speaks through."""

import asyncio
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from soulgraph.cli.conversation import console, errors
from soulgraph.cli.env_file import assigned, overridden, update_env_file
from soulgraph.cli.tables import print_table
from soulgraph.errors import ConfigurationError, InvalidInput
from soulgraph.senses.endpoint import Endpoint
from soulgraph.settings import PREFIX, Settings
from soulgraph.voices.factory import OFFLINE
from soulgraph.voices.providers import ModelInfo, described, find_model, offered_models

_ENV = Path(".env")
_MODEL, _URL, _KEY = f"{PREFIX}LLM_MODEL", f"{PREFIX}LLM_BASE_URL", f"{PREFIX}LLM_API_KEY"
_RESTART = "A server that is running has to be restarted to use it."


def model(
    name: Annotated[
        str | None, typer.Argument(help="The model to speak through, or `offline`. Without it, all are listed.")
    ] = None,
    at: Annotated[str | None, typer.Option(help="The server, like http://127.0.0.1:11434/v1.")] = None,
    key: Annotated[str | None, typer.Option(help="Its key, if it needs one.")] = None,
) -> None:
    """List the models of a server, or choose one: it is written to .env in this folder."""
    if name == OFFLINE:
        _write({_MODEL: None, _URL: None, _KEY: None})
        console.print(f"{_ENV} names no model now: the offline voice answers. {_RESTART}", soft_wrap=True)
        return
    settings = Settings.load()
    endpoint = _endpoint(settings, name or settings.llm_model, at, key)
    if name is None:
        _list(endpoint, in_use=same_server(endpoint.base_url, settings.llm_base_url))
    else:
        _check(endpoint)
        _choose(endpoint, key, moved=not same_server(endpoint.base_url, settings.llm_base_url))


def _list(endpoint: Endpoint, in_use: bool) -> None:
    offered = _offered(endpoint)
    if offered is None:
        raise InvalidInput(f"{endpoint.place} answers, but has no list of models; name one: soulgraph model NAME")
    if not offered:
        raise InvalidInput(f"{endpoint.place} has no models yet: load one there first")
    current = find_model(offered, endpoint.model) if in_use else None
    rows = [
        (info.name, _size(info), ", ".join(sorted(info.capabilities)), "in use" if info == current else "")
        for info in offered
    ]
    print_table(("model", "context", "can", ""), rows)


def _check(endpoint: Endpoint) -> None:
    """Raise InvalidInput if the server offers no such model. One that offers no list is believed."""
    offered = asyncio.run(offered_models(endpoint))
    if offered is None:
        errors.print(f"{endpoint.place} has no list of models: {endpoint.model} is written without a check.")
    elif not find_model(offered, endpoint.model):
        raise InvalidInput(no_such_model(endpoint, [info.name for info in offered]))


def _choose(endpoint: Endpoint, key: str | None, moved: bool) -> None:
    values = {_MODEL: endpoint.model, _URL: endpoint.base_url or None}
    if key is not None or moved:  # the key of one server must not be sent to the next
        values[_KEY] = key or None
    had_key = assigned(_ENV, _KEY)
    _write(values)
    written = ", ".join(name for name, value in values.items() if value)
    console.print(f"{_ENV} has {written} now: {endpoint.model} at {endpoint.place} speaks. {_RESTART}", soft_wrap=True)
    if had_key and moved and not key:
        errors.print(f"The old {_KEY} belongs to another server: its line is a comment now. --key gives a new one.")


def _endpoint(settings: Settings, model: str, at: str | None, key: str | None) -> Endpoint:
    """The server that is meant; the configured key goes to the configured server alone."""
    url = with_path(at) if at else settings.llm_base_url
    own_key = settings.llm_api_key.get_secret_value() if same_server(url, settings.llm_base_url) else ""
    secret = own_key if key is None else key
    if not url and not secret:
        raise ConfigurationError(_URL, "no server is named: use --at, like --at http://127.0.0.1:11434/v1")
    return Endpoint(model, url, secret)


def same_server(url: str, other: str) -> bool:
    return url.rstrip("/") == other.rstrip("/")


def with_path(url: str) -> str:
    """The address with /v1 if it has no path: so do Ollama, vLLM, llama.cpp and LM Studio."""
    if not url.startswith(("http://", "https://")):
        raise InvalidInput("--at: must start with http:// or https://")
    return url if urlsplit(url).path.strip("/") else f"{url.rstrip('/')}/v1"


def _offered(endpoint: Endpoint) -> list[ModelInfo] | None:
    async def ask() -> list[ModelInfo] | None:
        models = await offered_models(endpoint)
        return models and await described(endpoint, models)

    return asyncio.run(ask())


def no_such_model(endpoint: Endpoint, names: list[str]) -> str:
    close = get_close_matches(endpoint.model, names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}?" if close else f"it offers {', '.join(names[:5]) or 'none'}"
    return f"{endpoint.place} has no model {endpoint.model!r}: {hint}"


def _size(info: ModelInfo) -> str:
    return f"{info.context_tokens:,}" if info.context_tokens else "not told"


def _write(values: dict[str, str | None]) -> None:
    update_env_file(_ENV, values)
    for name in overridden(values):
        errors.print(f"{name} is also set in the environment, which wins over {_ENV}: unset it there.")
