"""The hours of the day in which a soul sends no proactive messages."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Self

from soulgraph.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class QuietHours:
    """From `begin` up to but not including `end`, possibly over midnight; empty when both are equal."""

    begin: time
    end: time

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parses `22:00-08:00`; an empty text means no quiet hours."""
        if not text.strip():
            return cls(time(), time())
        try:
            begin, end = (datetime.strptime(clock.strip(), "%H:%M").time() for clock in text.split("-"))
        except ValueError as error:
            raise InvalidInput('must look like "22:00-08:00", or be "" for none') from error
        if begin == end:
            raise InvalidInput('begins when it ends: write "" if no hours are quiet')
        return cls(begin, end)

    def __contains__(self, local: datetime) -> bool:
        clock = local.time()
        if self.begin <= self.end:
            return self.begin <= clock < self.end
        return clock >= self.begin or clock < self.end

    def __str__(self) -> str:
        return "" if self.begin == self.end else f"{self.begin:%H:%M}-{self.end:%H:%M}"

    @property
    def length(self) -> timedelta:
        some_day = date(2000, 1, 1)
        return (datetime.combine(some_day, self.end) - datetime.combine(some_day, self.begin)) % timedelta(days=1)
