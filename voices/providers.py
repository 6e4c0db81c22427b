"""Asks an OpenAI-compatible server which models it offers, how long their context is, and what they can do."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import httpx

from soulgraph.errors import ModelError, ModelRefused, ModelUnavailable
from soulgraph.senses.endpoint import Endpoint, masked

_TIMEOUT_S = 3
_OPENAI = "https://api.openai.com/v1"
_ANTHROPIC = "api.anthropic.com"
_LATEST = ":latest"
_OLLAMA_CONTEXT = 4096
"""What Ollama loads a model with on a machine without a large GPU, unless it is told otherwise."""
_CONTEXT_FIELDS = ("max_model_len", "context_length", "context_window", "max_input_tokens")
_SAME_CAPABILITY = {"tool_use": "tools", "reasoning": "thinking", "vlm": "vision", "embeddings": "embedding"}
_CAPABILITIES = frozenset({"tools", "thinking", "vision", "embedding"})


@dataclass(frozen=True, slots=True)
class ModelInfo:
    name: str
    context_tokens: int | None = None
    """None if the server does not tell."""
    capabilities: frozenset[str] = frozenset()
    """Of `tools`, `thinking`, `vision` and `embedding`, those that the server tells of."""


async def offered_models(endpoint: Endpoint) -> list[ModelInfo] | None:
    """The models of a server, None if it has no list of them.

    Raises ModelUnavailable if nothing answers there, and ModelRefused if the key is refused.
    """
    async with _client(endpoint) as http:
        response = await _ask(http, models_url(endpoint))
        if response.status_code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
            refused = f"{masked(models_url(endpoint))} answered {response.status_code}: the key is refused"
            raise ModelRefused(f"{refused}; check SOULGRAPH_LLM_API_KEY")
        entries = _entries(_json(response), "data", "id")
        if entries is None:
            entries = _entries(await _get(http, f"{_root(endpoint)}/api/tags"), "models", "name")
    return None if entries is None else [_from_entry(name, entry) for name, entry in entries.items()]


async def described(endpoint: Endpoint, models: Sequence[ModelInfo]) -> list[ModelInfo]:
    """These models with what the servers of llama.cpp, LM Studio and Ollama tell of them elsewhere."""
    if not endpoint.base_url or not models:
        return list(models)
    async with _client(endpoint) as http:
        root = _root(endpoint)
        paths = ("/props", "/api/v0/models", "/api/ps")
        props, lm_studio, running = await asyncio.gather(*(_get(http, f"{root}{path}") for path in paths))
        if in_lm_studio := _entries(lm_studio, "data", "id"):
            return [_from_lm_studio(model, in_lm_studio.get(model.name, {})) for model in models]
        if (loaded := _entries(running, "models", "name")) is not None:
            shown = await asyncio.gather(*(_show(http, root, model.name) for model in models))
            return [_from_ollama(model, show, loaded) for model, show in zip(models, shown, strict=True)]
        return [_from_props(model, _dict(props)) for model in models]


def find_model(models: Sequence[ModelInfo], name: str) -> ModelInfo | None:
    """The model of this name. Ollama takes a name without its tag for the latest."""
    return next((model for model in models if model.name in (name, f"{name}{_LATEST}")), None)


async def model_info(endpoint: Endpoint) -> ModelInfo:
    """What the server tells of the endpoint's model; never an error, because it may tell nothing."""
    unknown = ModelInfo(endpoint.model)
    try:
        models = await offered_models(endpoint)
    except ModelError:
        return unknown
    found = find_model(models or (), endpoint.model)
    return (await described(endpoint, [found]))[0] if found else unknown


async def context_tokens(endpoint: Endpoint) -> int | None:
    """How many tokens the endpoint's model can read and write in one call; None if the server does not tell."""
    return (await model_info(endpoint)).context_tokens


def models_url(endpoint: Endpoint) -> str:
    return f"{(endpoint.base_url or _OPENAI).rstrip('/')}/models"


def _root(endpoint: Endpoint) -> str:
    """Where a server has what is not of OpenAI's API: beside `/v1`."""
    return re.sub(r"/v\d+$", "", endpoint.base_url.rstrip("/"))


def _client(endpoint: Endpoint) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}
    if _ANTHROPIC in endpoint.base_url:  # its list of models belongs to its own API, which has headers of its own
        headers = {**headers, "x-api-key": endpoint.api_key, "anthropic-version": "2023-06-01"}
    return httpx.AsyncClient(timeout=_TIMEOUT_S, headers=headers)


async def _ask(http: httpx.AsyncClient, url: str) -> httpx.Response:
    try:
        return await http.get(url)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        why = str(error) or f"no answer in {_TIMEOUT_S} s"
        raise ModelUnavailable(f"{masked(url)}: {why}; check SOULGRAPH_LLM_BASE_URL") from error


async def _get(http: httpx.AsyncClient, url: str) -> Any:
    try:
        return _json(await http.get(url))
    except (httpx.HTTPError, httpx.InvalidURL):
        return None


async def _show(http: httpx.AsyncClient, root: str, name: str) -> dict[str, Any]:
    try:
        return _dict(_json(await http.post(f"{root}/api/show", json={"model": name})))
    except httpx.HTTPError:
        return {}


def _json(response: httpx.Response) -> Any:
    try:
        return response.json() if response.is_success else None
    except ValueError:
        return None


def _entries(body: Any, key: str, name: str) -> dict[str, dict[str, Any]] | None:
    """The entries of a list of models by name; None if the body is no such list."""
    listed = _dict(body).get(key)
    if not isinstance(listed, list):
        return None
    return {entry[name]: entry for entry in listed if isinstance(entry, dict) and isinstance(entry.get(name), str)}


def _from_entry(name: str, entry: dict[str, Any]) -> ModelInfo:
    """What an entry of `/models` tells: vLLM, llama.cpp, OpenRouter and Anthropic put more in it than OpenAI does."""
    meta = _dict(entry.get("meta"))
    told = [*(entry.get(field) for field in _CONTEXT_FIELDS), meta.get("n_ctx"), meta.get("n_ctx_train")]
    return ModelInfo(name, _first_size(told), _capabilities(entry.get("supported_parameters")))


def _from_props(model: ModelInfo, props: dict[str, Any]) -> ModelInfo:
    """llama.cpp: what one conversation may use, which is less than what the model was trained for."""
    size = _size(_dict(props.get("default_generation_settings")).get("n_ctx"))
    template, modalities = _dict(props.get("chat_template_caps")), _dict(props.get("modalities"))
    known = {"tools": template.get("supports_tools"), "vision": modalities.get("vision")}
    found = {name for name, has in known.items() if has is True}
    return replace(model, context_tokens=size or model.context_tokens, capabilities=model.capabilities | found)


def _from_lm_studio(model: ModelInfo, entry: dict[str, Any]) -> ModelInfo:
    size = _first_size([entry.get("loaded_context_length"), entry.get("max_context_length")])
    found = _capabilities([entry.get("type"), *_list(entry.get("capabilities"))])
    return replace(model, context_tokens=size or model.context_tokens, capabilities=model.capabilities | found)


def _from_ollama(model: ModelInfo, show: dict[str, Any], loaded: dict[str, dict[str, Any]]) -> ModelInfo:
    """Ollama silently cuts what is longer than the context it has loaded, whatever the model was trained for."""
    info = _dict(show.get("model_info"))
    trained = _first_size([size for field, size in info.items() if field.endswith(".context_length")])
    chosen = re.search(r"^num_ctx\s+(\d+)", str(show.get("parameters") or ""), re.MULTILINE)
    told = _first_size([loaded.get(model.name, {}).get("context_length"), chosen and int(chosen[1])])
    size = told or (trained and min(trained, _OLLAMA_CONTEXT))
    return replace(model, context_tokens=size, capabilities=_capabilities(show.get("capabilities")))


def _capabilities(names: Any) -> frozenset[str]:
    plain = {_SAME_CAPABILITY.get(name, name) for name in _list(names) if isinstance(name, str)}
    return frozenset(plain & _CAPABILITIES)


def _first_size(values: Sequence[Any]) -> int | None:
    return next((size for size in map(_size, values) if size), None)


def _size(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
