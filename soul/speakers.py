"""Whom a recogniser of speech has heard. A voice that is not known is a guest: nobody's memories are told to it."""

import re
from collections.abc import Collection, Mapping
from hashlib import blake2b
from unicodedata import normalize
from uuid import uuid4

from soulgraph.soul.people import DEFAULT_USER

GUEST = "guest:"
_ANONYMOUS = re.compile(
    r"(?:[a-z?*]|\d+|(?:speaker|spk|spkr|spkid|voice|person|s)?[ _-]?\d{1,3}"
    r"|(?:说话人|说话者|发言人|讲话人|speaker|spk)[ _-]?(?:[a-z]|\d{1,3})?|[a-z]?说话人"
    r"|(?:unknown|unidentified|unrecogni[sz]ed)(?:[ _-]?(?:speaker|voice|person|user))?"
    r"|none|null|n/?a|undefined|anonymous|(?:stranger|guest|visitor|user)(?:[ _-]?\d{1,3})?|other|others|nobody|default"
    r"|(?:未知|不明|陌生)(?:说话人|说话者|人|声音|用户)?|未识别|无说话人|访客|陌生人|匿名|其他)"
)
"""Labels that tell voices of one recording apart, and words for nobody in particular: tomorrow they mean others."""
_MAX_ID = 100


def person_heard(
    speakers: Collection[str], known: Collection[str], table: Mapping[str, str], stranger: str | None = None
) -> str | None:
    """The person that a recogniser has heard; None if it tells nothing about who it was.

    That is whom the table names, or the known person whose id it is. Any other voice is a guest, and so are several
    people in one recording. A label that means somebody else in every recording makes a new guest each time, if not
    the caller knows who the `stranger` is.
    """
    voices = {voice.strip() for voice in speakers if voice.strip()}
    if not voices:
        return None
    people = {_person(voice, known, table) for voice in voices}
    found = people.pop()
    if people or (found is None and len(voices) > 1):
        return stranger or new_guest()
    return found or _guest(voices.pop()) or stranger or new_guest()


def is_guest(user_id: str) -> bool:
    return user_id.startswith(GUEST)


def new_guest() -> str:
    return f"{GUEST}{uuid4().hex}"


def guest_of_input(terminal_id: str | None, input_id: str) -> str:
    """The same guest whenever the same input is sent again, which must not be answered twice."""
    return f"{GUEST}{blake2b(f'{terminal_id}/{input_id}'.encode(), digest_size=16).hexdigest()}"


def _person(voice: str, known: Collection[str], table: Mapping[str, str]) -> str | None:
    if voice in table:
        return table[voice]
    if _is_anonymous(voice):
        return None
    if voice in known:
        return voice
    alike = [person for person in known if person.casefold() == voice.casefold()]
    return alike[0] if len(alike) == 1 else None


def _is_anonymous(voice: str) -> bool:
    return voice == DEFAULT_USER or bool(_ANONYMOUS.fullmatch(normalize("NFKC", voice).casefold()))


def _guest(voice: str) -> str | None:
    """The same for the same voice; None for one without a name of its own."""
    if _is_anonymous(voice):
        return None
    name = re.sub(r"[^\w.:@-]", "_", voice)[:_MAX_ID]
    return f"{GUEST}{name}" if name == voice else f"{GUEST}{name}.{blake2b(voice.encode(), digest_size=6).hexdigest()}"
