"""Text as every sense reads it: one spelling for what means the same."""

import re
import unicodedata

HEARD = 500  # characters; what is longer than that is a story, and its beginning says what it is about

_INVISIBLE = re.compile("[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]")


def normalise(text: str) -> str:
    """Full-width forms, skin tones and curly apostrophes become plain."""
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", text).replace("’", "'"))


def heard(text: str) -> str:
    """What the senses take in: one line, as far as an utterance goes."""
    return " ".join(normalise(text).split())[:HEARD]
