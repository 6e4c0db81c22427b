"""What `soulgraph init` asks about the first soul, its body, and where the server is."""

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import TypeAdapter, ValidationError

from soulgraph.api.fields import Name
from soulgraph.cli.asking import Asker
from soulgraph.errors import ConfigurationError, InvalidInput
from soulgraph.library.shipped import presets
from soulgraph.senses.endpoint import masked
from soulgraph.settings import PREFIX, Settings, is_loopback
from soulgraph.soul.personality import traits_of
from soulgraph.terminals.broker import Broker

Home = Mapping[str, str | None]
"""Variables of `.env`; None takes one out."""

HOST, TIMEZONE, MQTT_URL = f"{PREFIX}HOST", f"{PREFIX}TIMEZONE", f"{PREFIX}MQTT_URL"
NO_BROKER = "none"
_EMBEDDED_ALONE: Home = {f"{PREFIX}MQTT_PORT": None, f"{PREFIX}MQTT_WEBSOCKET_PORT": None}
_NOBODY = "-"
_USUAL_TYPE = "INFJ"
_USUAL_HOST, _EVERYWHERE = "127.0.0.1", "0.0.0.0"
_BROKER_S = 3


@dataclass(frozen=True, slots=True)
class BodyOptions:
    """What was said on the command line."""

    timezone: str | None = None
    soul: str | None = None
    mbti: str | None = None
    character: str | None = None
    terminal: str | None = None
    host: str | None = None
    check: bool = True


@dataclass(frozen=True, slots=True)
class FirstSoul:
    name: str
    mbti_type: str
    character_id: str | None = None


def ask_timezone(asker: Asker, settings: Settings, options: BodyOptions) -> Home:
    def read(answer: str) -> Home:
        try:
            return {TIMEZONE: None if answer in ("", _NOBODY) else ZoneInfo(answer).key}
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise asker.wrong("timezone_wrong", answer=answer) from error

    return asker.ask(asker.words("timezone"), settings.timezone, read, options.timezone)


def ask_soul(asker: Asker, options: BodyOptions) -> FirstSoul | None:
    """None if none is to be made."""

    def read(answer: str) -> str:
        try:
            return answer if answer == _NOBODY else TypeAdapter(Name).validate_python(answer)
        except ValidationError as error:
            raise asker.wrong("soul_wrong", answer=answer) from error

    name = asker.ask(asker.words("soul"), asker.words("soul_default"), read, options.soul)
    return None if name == _NOBODY else _ask_type(asker, name, options)


def _ask_type(asker: Asker, name: str, options: BodyOptions) -> FirstSoul:
    shipped = presets("characters")
    characters = ", ".join(sorted(one["name"] for one in shipped))

    def read(answer: str) -> FirstSoul:
        for one in shipped:
            if answer in (one["id"], one["name"]):
                return FirstSoul(name, options.mbti or one["mbti_type"], one["id"])
        try:
            traits_of(answer)
        except InvalidInput as error:
            raise asker.wrong("type_wrong", answer=answer, characters=characters) from error
        return FirstSoul(name, answer.upper())

    if options.mbti:
        read(options.mbti)
    given = options.character or options.mbti
    if given is None and not asker.assumes:
        asker.say("type_help")
    return asker.ask(asker.words("type", characters=characters), _USUAL_TYPE, read, given)


def ask_body(asker: Asker, settings: Settings, options: BodyOptions) -> Home:
    present = settings.mqtt_url

    def read(answer: str) -> Home:
        if answer.lower() in ("1", "robot"):
            return {MQTT_URL: None}
        if answer.lower() in ("3", NO_BROKER):
            return {MQTT_URL: NO_BROKER, **_EMBEDDED_ALONE}
        if answer == "2":
            return asker.ask(asker.words("broker_address"), "", read)
        url = present if present and answer == masked(present) else answer
        _check_broker(asker, url, options.check)
        return {MQTT_URL: url, **_EMBEDDED_ALONE}

    offered = {"": "1", NO_BROKER: "3"}.get(present, masked(present))
    return asker.ask(asker.words("terminal"), offered, read, options.terminal)


def _check_broker(asker: Asker, url: str, connect: bool) -> None:
    """Raise InvalidInput for what is no broker's address, or if nothing listens there."""
    try:
        broker = Broker.parse(url)
    except ConfigurationError as error:
        raise asker.wrong("terminal_wrong", answer=masked(url)) from error
    if not connect:
        return
    try:
        socket.create_connection((broker.host, broker.port), timeout=_BROKER_S).close()
    except OSError as error:
        raise asker.wrong("broker_away", place=f"{broker.host}:{broker.port}", why=error) from error


def ask_host(asker: Asker, settings: Settings, options: BodyOptions) -> Home:
    def read(answer: str) -> Home:
        if answer not in ("1", "2"):
            raise asker.wrong("choice_wrong", answer=answer, choices="1, 2")
        local = settings.host if settings.on_loopback else _USUAL_HOST
        public = _EVERYWHERE if settings.on_loopback else settings.host
        return _listening(local if answer == "1" else public)

    if options.host:
        return _listening(options.host)
    return asker.ask(asker.words("host"), "1" if settings.on_loopback else "2", read)


def _listening(host: str) -> Home:
    return {HOST: None if host == _USUAL_HOST else host}


def needs_key(home: Home) -> bool:
    """Whether the server can be reached from other machines."""
    return not is_loopback(home[HOST] or _USUAL_HOST)
