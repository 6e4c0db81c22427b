"""What the turn needs from its senses."""

from typing import Protocol

from soulgraph.soul.emotions import UserEmotion


class EmotionRecogniser(Protocol):
    async def recognise(self, text: str) -> UserEmotion:
        """The feeling the text carries; p, a and d are on the scale of the label prototypes."""
        ...
