"""Cuts a reply into sentences while it comes: devices show and say one after another."""

import re

# A full stop ends a sentence only before a space: 3.5 and example.com go on.
_END = re.compile(r"[。！？!?…；;\n]+[”’」』\"')）]*|\.+[\"')]*(?=\s)")


class Sentences:
    """What has come of a reply, and how much of it has been given out."""

    def __init__(self) -> None:
        self._text = ""

    def add(self, text: str) -> list[str]:
        """The sentences that are whole now."""
        self._text += text
        whole, at = [], 0
        for end in _END.finditer(self._text):
            if end.end() == len(self._text):
                break  # more of the same marks may come
            whole.append(self._text[at : end.end()].strip())
            at = end.end()
        self._text = self._text[at:]
        return [sentence for sentence in whole if sentence]

    def rest(self) -> list[str]:
        """What is left, at the end of the reply."""
        last, self._text = self._text, ""
        cut = self._split(last)
        return [sentence for sentence in cut if sentence]

    def _split(self, text: str) -> list[str]:
        parts, at = [], 0
        for end in _END.finditer(text):
            parts.append(text[at : end.end()].strip())
            at = end.end()
        return [*parts, text[at:].strip()]
