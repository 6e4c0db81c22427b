"""Pydantic types of an emotion's values, for answers of external services and models."""

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

from soulgraph.soul.emotions import EMOTIONS


def _known_label(label: str) -> str:
    if label not in EMOTIONS:
        raise PydanticCustomError("unknown_emotion", "must be one of {known}", {"known": ", ".join(EMOTIONS)})
    return label


Label = Annotated[
    str,
    StringConstraints(strip_whitespace=True, to_lower=True),
    AfterValidator(_known_label),
    WithJsonSchema({"type": "string", "enum": list(EMOTIONS)}),
]
Axis = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
