"""The macros of other programs: choices are made, and what is only known to those programs is left out."""

import re
from collections.abc import Iterable

_MACRO = re.compile(
    r"\{\{\s*(//|[#/:?.$!][\w]*+|[A-Za-z_][\w]*+)((?:[^{}]++|\{\{[^{}]*+\}\})*)\}\}",
    re.IGNORECASE,
)
_COMMA = re.compile(r"(?<!\\),")
_TEXTS = {"newline": "\n", "br": "\n", "space": " ", "noop": "", "trim": "", "blank": "", "none": "", "else": ""}
_REMARKS = frozenset({"//", "comment", "hidden_key"})
_CHOICES = frozenset({"random", "pick"})
_SOMEBODY = re.compile(r"random_user_\d+")
_NAME, _NAMED = 40, 16
_BLOCK = "#/:!"
"""With these begin conditions and loops, and their ends."""
_VALUES = """
    # of SillyTavern
    time date weekday isotime isodate datetimeformat time_utc timediff idle_duration roll banned bias outlet
    getvar setvar addvar incvar decvar hasvar deletevar getglobalvar setglobalvar addglobalvar incglobalvar
    decglobalvar input lastmessage lastmessageid lastusermessage lastcharmessage model firstincludedmessageid
    firstdisplayedmessageid currentswipeid lastswipeid lastgenerationtype maxprompt persona description personality
    scenario mesexamples mesexamplesraw charprompt charjailbreak charinstruction charversion char_version
    chardepthprompt chatstart systemprompt exampleseparator groupnotmuted ismobile summary authorsnote wibefore
    wiafter reverse if
    # of RisuAI
    raw path img image video audio bg bgm asset emotion source inlay inlayed button risu calc equal settempvar
    gettempvar tempvar setdefaultvar getchatvar history lorebook chat_index screen_width screen_height previous_chat
    previous_char_chat previous_user_chat lastmessageindex unixtime messagetime messagedate chardesc charpersona
    exampledialogue exampledialog rollp dice randint
"""
_UNKNOWN = frozenset(word for line in _VALUES.splitlines() if "#" not in line for word in line.split())
"""The macros that stand for what only those programs know."""


def without_macros(text: str) -> str:
    """The text with choices made and macros left out; what we do not know stays as it is."""
    return _MACRO.sub(_replaced, text) if "{{" in text else text


def macro_notes(texts: Iterable[str]) -> list[str]:
    """A note on the macros whose values are left out."""
    names: dict[str, None] = {}
    for text in texts:
        for match in _MACRO.finditer(text) if "{{" in text else ():
            if _is_unknown(match[1]):
                names.setdefault(match[1][:_NAME], None)
    shown = ", ".join([*names][:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
    return [f"macros whose values are not known here are left out: {shown}"] if names else []


def _replaced(match: re.Match[str]) -> str:
    name = match[1].lower()
    if name in _REMARKS or _is_unknown(name):
        return ""
    if name in _CHOICES:
        return _first_choice(match[2])
    if _SOMEBODY.fullmatch(name):
        return "somebody"
    return _TEXTS.get(name, match[0])


def _is_unknown(name: str) -> bool:
    name = name.lower()
    if name in _REMARKS:
        return False
    return name in _UNKNOWN or name.startswith("time_utc") or name[0] in _BLOCK + "?.$"


def _first_choice(body: str) -> str:
    options = body.lstrip().lstrip(":")
    first = options.partition("::")[0] if "::" in options else _COMMA.split(options, maxsplit=1)[0]
    return first.replace("\\,", ",").strip()
