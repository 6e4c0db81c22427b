"""Reads server-sent events from the bytes of a response, as they arrive."""

_DATA = b"data:"


class EventReader:
    """Takes the bytes of one response and returns the data of the events that are whole; the rest waits for its end."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []  # of a line without its end
        self._data: list[bytes] = []  # the lines of an event without its end
        self._after_return = False

    def feed(self, chunk: bytes) -> list[bytes]:
        if not chunk:
            return []
        if self._after_return:  # a line end of two characters may come in two pieces
            chunk = chunk.removeprefix(b"\n")
        self._after_return = chunk.endswith(b"\r")
        if b"\n" not in chunk and b"\r" not in chunk:
            self._pieces.append(chunk)  # joined once it is whole: an event may come in thousands of pieces
            return []
        return [event for line in self._whole_lines(chunk) if (event := self._take(line))]

    def _whole_lines(self, chunk: bytes) -> list[bytes]:
        lines = b"".join((*self._pieces, chunk)).splitlines()
        self._pieces = [] if chunk.endswith((b"\n", b"\r")) else [lines.pop()]
        return lines

    def _take(self, line: bytes) -> bytes:
        """The event that the line ends, or nothing. Other fields than its data, and comments, are of no use here."""
        if line.startswith(_DATA):
            self._data.append(line[len(_DATA) :].removeprefix(b" "))
        if line or not self._data:
            return b""
        event = b"\n".join(self._data)
        self._data = []
        return event
