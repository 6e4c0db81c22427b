"""What `soulgraph init` asks about the model: where it is, its key, its name, and whether it answers."""

import asyncio
import re
from dataclasses import dataclass

import httpx

from soulgraph.cli.asking import Asker, EndOfInput
from soulgraph.cli.conversation import console, print_error
from soulgraph.cli.models import no_such_model, same_server, with_path
from soulgraph.errors import InvalidInput, ModelError, ModelRefused, ModelTimeout, ModelUnavailable
from soulgraph.senses.endpoint import Endpoint
from soulgraph.settings import Settings
from soulgraph.voices.factory import OFFLINE
from soulgraph.voices.providers import ModelInfo, find_model, models_url, offered_models

OTHER = "other"
_MAX_SHOWN = 30
_PATIENCE_S = 120
"""A local server loads the model first."""
_KEY = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True, slots=True)
class Provider:
    name: str
    label: str
    url: str
    needs_key: bool = False


PROVIDERS = (
    Provider("ollama", "Ollama", "http://127.0.0.1:11434/v1"),
    Provider("vllm", "vLLM", "http://127.0.0.1:8001/v1"),
    Provider("llama.cpp", "llama.cpp", "http://127.0.0.1:8080/v1"),
    Provider("lmstudio", "LM Studio", "http://127.0.0.1:1234/v1"),
    Provider("openai", "OpenAI", "", True),
    Provider("deepseek", "DeepSeek", "https://api.deepseek.com", True),
    Provider("qwen", "Qwen", "https://dashscope.aliyuncs.com/compatible-mode/v1", True),
    Provider("anthropic", "Anthropic", "https://api.anthropic.com/v1/", True),
)
_CHOICES = (OFFLINE, *(provider.name for provider in PROVIDERS), OTHER)


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """What was said on the command line."""

    model: str | None = None
    at: str | None = None
    key: str | None = None
    check: bool = True

    @property
    def any(self) -> bool:
        return (self.model or self.at or self.key) is not None


def ask_model(asker: Asker, settings: Settings, given: ModelOptions) -> Endpoint | None:
    """The chosen endpoint, which has been asked; None for the offline voice."""
    while True:
        try:
            provider = _ask_provider(asker, settings, given)
            return _ask_endpoint(asker, settings, given, provider) if provider else None
        except EndOfInput:
            raise
        except (InvalidInput, ModelError) as error:
            if given.any or not asker.asks_again:
                raise
            print_error(error)


def _ask_provider(asker: Asker, settings: Settings, given: ModelOptions) -> Provider | None:
    """None for the offline voice."""
    if given.model == OFFLINE:
        return None

    def read(answer: str) -> Provider | None:
        if answer.startswith(("http://", "https://")):
            return Provider(OTHER, answer, with_path(answer))
        name = _CHOICES[int(answer) - 1] if answer.isdecimal() and 1 <= int(answer) <= len(_CHOICES) else answer.lower()
        name = {"离线": OFFLINE, "其他": OTHER, "lm studio": "lmstudio"}.get(name, name)
        if name == OFFLINE:
            return None
        if name == OTHER:
            return _ask_address(asker, settings)
        found = next((provider for provider in PROVIDERS if provider.name == name), None)
        if found is None:
            raise asker.wrong("model_wrong", answer=answer)
        return found

    named = given.at or (_server_of(settings, given) if given.any else None)
    if named is None and not asker.assumes:
        _show_providers(asker)
    return asker.ask(asker.words("model"), _present(settings), read, named)


def _server_of(settings: Settings, given: ModelOptions) -> str:
    """Where a model is that was named without its server."""
    if not settings.offline:
        return _present(settings)
    if given.key:
        return "openai"
    raise InvalidInput("no server is named: use --at, like --at http://127.0.0.1:11434/v1 or --at ollama")


def _show_providers(asker: Asker) -> None:
    labels = [asker.words("offline"), *(f"{one.label}  {one.url}".strip() for one in PROVIDERS), asker.words("other")]
    for number, label in enumerate(labels, 1):
        console.print(f"  {number:2}  {label}", soft_wrap=True)


def _present(settings: Settings) -> str:
    """How the present choice is written."""
    if settings.offline:
        return OFFLINE
    known = (one.name for one in PROVIDERS if same_server(one.url, settings.llm_base_url))
    return next(known, settings.llm_base_url)


def _ask_address(asker: Asker, settings: Settings) -> Provider:
    def read(answer: str) -> Provider:
        if not answer.startswith(("http://", "https://")):
            raise asker.wrong("address_wrong", answer=answer)
        return Provider(OTHER, answer, with_path(answer))

    return asker.ask(asker.words("address"), settings.llm_base_url, read)


def _ask_endpoint(asker: Asker, settings: Settings, given: ModelOptions, provider: Provider) -> Endpoint:
    key = _ask_key(asker, settings, given.key, provider)
    endpoint = Endpoint(given.model or "", provider.url, key)
    endpoint = _ask_name(asker, settings, endpoint, asyncio.run(offered_models(endpoint)))
    if given.check:
        asker.say("checking", model=endpoint.model)
        asyncio.run(_check_reply(endpoint))
        asker.say("answers", model=endpoint.model, place=endpoint.place)
    return endpoint


def _ask_key(asker: Asker, settings: Settings, given: str | None, provider: Provider) -> str:
    """The present key is offered to the present server alone."""
    same = same_server(provider.url, settings.llm_base_url)
    present = settings.llm_api_key.get_secret_value() if same else ""
    answer = given if given is not None or asker.assumes else _typed_key(asker, bool(present))
    key = {None: present, "": present, "-": ""}.get(answer, answer) or ""
    if key and not _KEY.fullmatch(key):
        raise asker.wrong("key_wrong")
    if provider.needs_key and not key:
        raise asker.wrong("key_needed", place=provider.label)
    return key


def _typed_key(asker: Asker, has_one: bool) -> str:
    return asker.ask_secret(asker.words("key_kept" if has_one else "key"))


def _ask_name(asker: Asker, settings: Settings, endpoint: Endpoint, offered: list[ModelInfo] | None) -> Endpoint:
    """The endpoint with the name of a model that the server has; one without a list is believed."""
    if offered == []:
        raise asker.wrong("no_models", place=endpoint.place)
    names = [info.name for info in offered or ()][:_MAX_SHOWN]
    if not endpoint.model and not asker.assumes:
        asker.say("offers" if offered else "no_list", place=endpoint.place)
        for number, name in enumerate(names, 1):
            console.print(f"  {number:2}  {name}", soft_wrap=True)

    def read(answer: str) -> Endpoint:
        name = names[int(answer) - 1] if answer.isdecimal() and 1 <= int(answer) <= len(names) else answer
        named = Endpoint(name, endpoint.base_url, endpoint.api_key)
        if not name:
            raise asker.wrong("name_needed")
        if offered is not None and not find_model(offered, name):
            raise InvalidInput(no_such_model(named, [info.name for info in offered]))
        return named

    return asker.ask(asker.words("name"), _likely(settings, endpoint, offered), read, endpoint.model or None)


def _likely(settings: Settings, endpoint: Endpoint, offered: list[ModelInfo] | None) -> str:
    """The present model of this server, or its only one."""
    if same_server(endpoint.base_url, settings.llm_base_url) and settings.llm_model:
        return settings.llm_model if offered is None or find_model(offered, settings.llm_model) else ""
    return offered[0].name if offered and len(offered) == 1 else ""


async def _check_reply(endpoint: Endpoint) -> None:
    """Raise ModelError unless the model says something."""
    url = f"{models_url(endpoint).removesuffix('/models')}/chat/completions"
    body = {"model": endpoint.model, "messages": [{"role": "user", "content": "Say: ok"}]}
    headers = {"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}
    try:
        async with httpx.AsyncClient(timeout=_PATIENCE_S, headers=headers) as http:
            answer = await http.post(url, json=body)
    except httpx.TimeoutException as error:
        raise ModelTimeout(f"{endpoint.place}: {endpoint.model} did not answer in {_PATIENCE_S} s") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ModelUnavailable(f"{endpoint.place}: {error}") from error
    if not answer.is_success or not _is_completion(answer):
        told = " ".join(answer.text.split())[:200]
        why = told.replace(endpoint.api_key, "***") if endpoint.api_key else told
        raise ModelRefused(f"{endpoint.place}: {endpoint.model} gave no reply, but {answer.status_code}: {why}")


def _is_completion(answer: httpx.Response) -> bool:
    try:
        body = answer.json()
    except ValueError:
        return False
    return isinstance(body, dict) and bool(body.get("choices"))
