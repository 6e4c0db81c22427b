"""The rules for MQTT clients that come with a key, whichever way they come: what they may say, ask for and hear."""

from typing import NamedTuple, Protocol

from soulgraph.errors import Forbidden, InvalidInput, SoulgraphError, TooLarge
from soulgraph.terminals import topics
from soulgraph.terminals.mqtt_framing import Kind, Packet
from soulgraph.terminals.mqtt_packets import (
    LEVEL,
    LEVEL_5,
    PROTOCOL,
    Connect,
    ConnectCode,
    protocol_of,
    refuse_connect,
    refuse_version_5,
)
from soulgraph.terminals.reports import MAX_BYTES

MAX_PACKET = MAX_BYTES + 1024
"""A message with its topic."""

NO_CONNECT = "the first packet of a client is CONNECT"
_WRONG_VERSION = "only MQTT 3.1.1 is spoken here: set the client's protocol version to 4"


class Rights(Protocol):
    """What a client may do."""

    @property
    def everywhere(self) -> bool:
        """Whether it may listen to all terminals at once, also to those to come."""
        ...

    @property
    def may_resend(self) -> bool:
        """Whether it may also say what only servers say."""
        ...

    async def sees(self, terminal_id: str) -> bool:
        """Whether it may speak and listen as this terminal."""
        ...

    async def checked(self, terminal_id: str, kind: str, payload: bytes) -> bytes:
        """The payload, with the person the client speaks for; a RequestError if it names what is not the client's."""
        ...


class Login(NamedTuple):
    """Who has come in with a password. `key_id` tells keys apart, `name` is for the log."""

    key_id: str
    name: str
    rights: Rights


class Authenticator(Protocol):
    async def login(self, password: str | None) -> Login:
        """Raise Unauthorized for a password that is none, and Forbidden for one that is for something else."""
        ...


class ConnectRefused(Exception):
    """`answer` tells the client in its own protocol, `error` says why."""

    def __init__(self, answer: bytes, error: SoulgraphError) -> None:
        super().__init__(error.detail)
        self.answer = answer
        self.error = error


def read_connect(packet: Packet) -> Connect:
    """The CONNECT with which a client begins; ConnectRefused if it speaks another version."""
    if packet.kind != Kind.CONNECT:
        raise InvalidInput(NO_CONNECT)
    protocol = protocol_of(packet)
    if protocol != (PROTOCOL, LEVEL):
        is_5 = protocol == (PROTOCOL, LEVEL_5)
        answer = refuse_version_5(_WRONG_VERSION) if is_5 else refuse_connect(ConnectCode.WRONG_VERSION)
        raise ConnectRefused(answer, InvalidInput(_WRONG_VERSION))
    return Connect.decode(packet)


def check_whole(packet: Packet) -> None:
    """Raise TooLarge for a packet of which only the beginning was kept."""
    if not packet.whole:
        raise TooLarge(f"a message may have {MAX_BYTES} bytes at most")


async def checked_payload(rights: Rights, topic: str, payload: bytes) -> bytes:
    """The payload as the client may publish it on this topic; a RequestError if it may not."""
    if len(payload) > MAX_BYTES:
        raise TooLarge(f"a message may have {MAX_BYTES} bytes at most")
    if not topics.is_of_terminal(topic):
        raise Forbidden(f"{topic[:200]!r} is no topic of a terminal")
    terminal_id, kind = topics.parse(topic)
    if not rights.may_resend and not topics.is_from_terminal(kind):
        raise Forbidden(f"terminals have nothing to say on {topic[:200]!r}")
    if not await rights.sees(terminal_id):
        raise Forbidden(f"this key may not speak as {terminal_id!r}")
    return await rights.checked(terminal_id, kind, payload)


async def may_subscribe(rights: Rights, topic_filter: str) -> bool:
    if not topics.is_filter(topic_filter):
        return False
    terminal_id = topics.terminal_of_filter(topic_filter)
    return rights.everywhere if terminal_id is None else await rights.sees(terminal_id)


async def may_hear(rights: Rights, topic: str) -> bool:
    """Whether a topic to which the client has subscribed is still one it may listen to."""
    return rights.everywhere or await rights.sees(topics.parse(topic)[0])
