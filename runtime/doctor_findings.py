"""What the doctor's checks come to."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from soulgraph.settings import Settings

Level = Literal["ok", "warning", "problem"]
Check = Callable[[Settings], Awaitable[tuple[Level, str]]]


@dataclass(frozen=True, slots=True)
class Finding:
    level: Level
    subject: str
    detail: str
