"""`soulgraph init`: a wizard that asks what a first soul needs, writes `.env` and makes the soul."""

import os
import shlex
import shutil
import sys
from typing import Annotated

import typer

from soulgraph.cli.asking import Asker, EndOfInput
from soulgraph.cli.client import own_url, running
from soulgraph.cli.conversation import console
from soulgraph.cli.init_body import (
    MQTT_URL,
    NO_BROKER,
    BodyOptions,
    FirstSoul,
    Home,
    ask_body,
    ask_host,
    ask_soul,
    ask_timezone,
    needs_key,
)
from soulgraph.cli.init_making import changes, make, write
from soulgraph.cli.init_model import ModelOptions, ask_model
from soulgraph.cli.init_words import LANGUAGE, LANGUAGE_WRONG
from soulgraph.errors import InvalidInput, RequestError, SoulgraphError
from soulgraph.senses.endpoint import Endpoint
from soulgraph.settings import PREFIX, Settings
from soulgraph.soul.language import Lang

_LANGUAGES: dict[str, Lang] = {"1": "en", "en": "en", "english": "en", "2": "zh", "zh": "zh", "中文": "zh"}
_INTERRUPTED = 130


def init(
    language: Annotated[str | None, typer.Option(metavar="en|zh", help="In which language it asks.")] = None,
    model: Annotated[str | None, typer.Option(help="The model to speak through, or `offline`.")] = None,
    at: Annotated[str | None, typer.Option(help="Its server: an address, or a name like ollama or openai.")] = None,
    key: Annotated[str | None, typer.Option(help="The server's key; else it is asked for, unseen.")] = None,
    timezone: Annotated[str | None, typer.Option(help="Like Europe/London.")] = None,
    soul: Annotated[str | None, typer.Option(metavar="NAME", help="The first soul; `-` for none.")] = None,
    mbti: Annotated[str | None, typer.Option(help="Its type, like INFJ.")] = None,
    character: Annotated[str | None, typer.Option(metavar="ID", help="A character of the library instead.")] = None,
    terminal: Annotated[str | None, typer.Option(metavar="robot|URL|none", help="Its body, or your broker.")] = None,
    terminal_id: Annotated[str, typer.Option(metavar="NAME", help="What the body is called.")] = "robot",
    host: Annotated[str | None, typer.Option(help="Where the server listens; not on loopback, a key is made.")] = None,
    no_check: Annotated[bool, typer.Option("--no-check", help="Do not ask the model for a reply.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing: options, and what there is.")] = False,
) -> None:
    """Set up: ask for model, language, first soul and terminal, write .env in this folder, make the soul."""
    asker = Asker("en", yes)
    try:
        asker = Asker(_ask_language(asker, language), yes)
        wanted = ModelOptions(model, at, key, not no_check)
        options = BodyOptions(timezone, soul, mbti, character, terminal, host, not no_check)
        _set_up(asker, wanted, options, terminal_id)
    except EndOfInput as error:
        if not sys.stdin.isatty():
            raise
        asker.say("nothing")
        raise typer.Exit(1) from error
    except KeyboardInterrupt as interrupt:
        console.print()
        asker.say("nothing")
        raise typer.Exit(_INTERRUPTED) from interrupt


def _ask_language(asker: Asker, given: str | None) -> Lang:
    spoken = os.environ.get("LC_ALL") or os.environ.get("LANG") or ""

    def read(answer: str) -> Lang:
        if answer.lower() not in _LANGUAGES:
            raise InvalidInput(LANGUAGE_WRONG.format(answer=answer))
        return _LANGUAGES[answer.lower()]

    return asker.ask(LANGUAGE, "2" if spoken.startswith("zh") else "1", read, given)


def _set_up(asker: Asker, wanted: ModelOptions, options: BodyOptions, terminal_id: str) -> None:
    """All questions come first; what follows the last one is done without a further one."""
    settings = Settings.load()
    if not asker.assumes:
        asker.say("language")
    model = _model_values(ask_model(asker, settings, wanted))
    zone = ask_timezone(asker, settings, options)
    soul = ask_soul(asker, options)
    body = ask_body(asker, settings, options)
    home = ask_host(asker, settings, options)
    values = {**model, **zone, **body, **home}
    _show(asker, values)
    if not asker.confirm(asker.words("confirm")):
        asker.say("nothing")
        raise typer.Exit(1)
    write(asker, settings, values, needs_key(home))
    carries = body[MQTT_URL] != NO_BROKER
    if soul:
        _make(asker, soul, terminal_id if carries else None)
    _tell_what_follows(asker, settings, soul)


def _model_values(endpoint: Endpoint | None) -> Home:
    names = [f"{PREFIX}LLM_{part}" for part in ("MODEL", "BASE_URL", "API_KEY")]
    told = (endpoint.model, endpoint.base_url, endpoint.api_key) if endpoint else ("", "", "")
    return {name: value or None for name, value in zip(names, told, strict=True)}


def _show(asker: Asker, values: Home) -> None:
    lines = changes(values)
    asker.say("changes" if lines else "unchanged")
    for line in lines:
        console.print(f"  {line}", soft_wrap=True)


def _make(asker: Asker, soul: FirstSoul, terminal_id: str | None) -> None:
    try:
        make(asker, soul, terminal_id)
    except SoulgraphError as error:
        raise RequestError(asker.words("soul_failed", why=error.detail)) from error


def _tell_what_follows(asker: Asker, settings: Settings, soul: FirstSoul | None) -> None:
    command = "soulgraph" if shutil.which("soulgraph") else shlex.quote(os.path.relpath(sys.argv[0]))
    runs = _runs(settings)
    if runs:
        asker.say("restart")
    asker.say("next")
    console.print(f"  {command} serve", soft_wrap=True)
    console.print(f"  {command} chat {shlex.quote(soul.name) if soul else ''}".rstrip(), soft_wrap=True)


def _runs(settings: Settings) -> bool:
    try:
        return running(own_url(settings)) is not None
    except SoulgraphError:
        return False
