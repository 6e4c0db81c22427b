"""The body of the simulated robot: its intents and skills, what they do, and its face."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rich.panel import Panel
from rich.text import Text

from soulgraph.cli.client import Json
from soulgraph.soul.emotions import EmotionState
from soulgraph.soul.mood import Mood, describe, mood_of

VERSION = 1
_WIDTH = 40
CATALOG: list[Json] = [
    {"id": "light_on", "name": "开灯", "match": {"keywords_any": ["开灯", "turn on the light", "light on"]}},
    {"id": "light_off", "name": "关灯", "match": {"keywords_any": ["关灯", "turn off the light", "light off"]}},
    {"id": "dance", "name": "跳舞", "match": {"keywords_any": ["跳舞", "跳个舞", "dance"]}},
    {
        "id": "volume",
        "name": "调音量",
        "match": {"keywords_any": ["音量", "volume"]},
        "slots": [{"name": "level", "type": "percent", "required": True, "question": "要多大声？ How loud?"}],
    },
]
_NOTHING: Json = {"type": "object", "properties": {}}
SKILLS: list[Json] = [
    {"name": "battery_level", "description": "How full the battery is, in percent.", "input_schema": _NOTHING},
    {"name": "look_around", "description": "What the camera sees now.", "input_schema": _NOTHING},
    {
        "name": "play_song",
        "description": "Play a song.",
        "input_schema": {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]},
    },
]
_JOY, _CALM, _ANGER, _FEAR, _GLOOM, _PLAIN = (
    ("^     ^", "\\___/", "bright_yellow"),
    ("-     -", "\\_/", "green"),
    ("\\     /", "/---\\", "red"),
    ("O     O", "~~~", "magenta"),
    (",     ,", "/--\\", "blue"),
    ("o     o", "---", "white"),
)
_TURNED_AWAY = (">     <", "###", "bright_black")
_FACES: dict[Mood, tuple[str, str, str]] = {
    **dict.fromkeys(("cheerful", "elated", "excited", "proud"), _JOY),
    **dict.fromkeys(("content", "tender"), _CALM),
    **dict.fromkeys(("angry", "sulky"), _ANGER),
    **dict.fromkeys(("afraid", "worried"), _FEAR),
    **dict.fromkeys(("sad", "moved", "hurt", "bored", "tired"), _GLOOM),
    "calm": _PLAIN,
}
"""Eyes, mouth and colour for each mood."""


@dataclass(frozen=True, slots=True)
class Face:
    """The face for a mood, and the mood in words. A soul whose gate is blocked turns away."""

    mood: Mood
    words: str
    acts: bool

    @classmethod
    def of(cls, feeling: EmotionState, acts: bool) -> "Face":
        return cls(mood_of(feeling), f"{describe(feeling, 'en')} · {describe(feeling, 'zh')}", acts)

    def drawn(self, name: str, probability: float) -> Panel:
        eyes, mouth, colour = _FACES[self.mood] if self.acts else _TURNED_AWAY
        gate = f"{'would act' if self.acts else 'would not act'} ({probability:.0%})"
        return Panel(
            Text(f"{eyes}\n{mouth}\n\n{self.words}\n{gate}", colour, justify="center"), title=Text(name), width=_WIDTH
        )


class Body:
    """The state of the simulated devices."""

    def __init__(self) -> None:
        self._lamp, self._volume, self._song = False, 50.0, ""
        self._skills: dict[str, Callable[[Json], Any]] = {
            "battery_level": lambda _: {"percent": 87},
            "look_around": lambda _: f"A desk, a cup of tea, and a lamp that is {'on' if self._lamp else 'off'}.",
            "play_song": self._play,
        }

    def do(self, intent: Json) -> str:
        """Carry out an intent; returns what one would see."""
        match intent["intent_id"]:
            case "light_on" | "light_off" as switch:
                self._lamp = switch == "light_on"
                return f"the lamp goes {'on' if self._lamp else 'off'}"
            case "dance":
                return "turns around twice, arms in the air"
            case "volume":
                self._volume = float(intent["parameters"]["level"])
                return f"the volume is {self._volume:g} % now"
            case unknown:
                return f"does not know how to {unknown}"

    async def use(self, skill: str, arguments: Json) -> Json:
        """Use a skill; returns the result in the form that is sent back."""
        if skill not in self._skills:
            return {"ok": False, "error": f"there is no skill {skill!r}"}
        try:
            return {"ok": True, "output": self._skills[skill](arguments)}
        except KeyError as missing:
            return {"ok": False, "error": f"{missing} is missing"}

    def _play(self, arguments: Json) -> str:
        self._song = str(arguments["title"])
        return f"now playing {self._song}"
