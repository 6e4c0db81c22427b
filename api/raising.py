"""What endpoints raise: `raises` notes it at an endpoint, and the description of the API tells it with these examples.

`tests/api/test_problem_examples.py` holds their words to those that the code raises.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from soulgraph.api.examples import KEYS
from soulgraph.errors import (
    BrokerUnavailable,
    Busy,
    CatalogsBusy,
    Conflict,
    Forbidden,
    InvalidInput,
    MemoryUnavailable,
    ModelError,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    NotFound,
    SenseUnavailable,
    ServerBusy,
    ShuttingDown,
    SoulgraphError,
    SpeechError,
    SpeechTimeout,
    SpeechUnavailable,
    StoreUnavailable,
    TurnLost,
    TurnOutputInvalid,
    TurnStopped,
    Unauthorized,
    UnsupportedMedia,
)

F = TypeVar("F", bound=Callable[..., Any])
Raised = tuple[SoulgraphError, ...]


def raises(*errors: SoulgraphError) -> Callable[[F], F]:
    """Note what a function raises that is an endpoint, or on which endpoints depend.

    Not what follows from its parameters: see `api/contract.py`.
    """

    def note(function: F) -> F:
        vars(function)["raises"] = errors
        return function

    return note


def raised_by(function: Any) -> Raised:
    return tuple(getattr(function, "raises", ()))


def not_found(*kinds: str) -> Raised:
    return tuple(NotFound(kind, KEYS[kind]) for kind in kinds)


def caught(check: Callable[[], object]) -> SoulgraphError:
    """The error of a check that fails: an example that cannot differ from the real one."""
    try:
        check()
    except SoulgraphError as error:
        return error
    raise AssertionError("the check of an example must fail")


NO_KEY = Unauthorized("send `Authorization: Bearer <key>`; `soulgraph key create` makes one")
UNKNOWN_KEY = Unauthorized("this key is unknown or revoked")
FOREIGN_PAGE = Forbidden("https://page.example may not speak to an open server: make a key with `soulgraph key create`")
NO_DATABASE = StoreUnavailable("the database does not answer, nothing was written: the connection was refused")
NO_EVENT_LIBRARY = MemoryUnavailable("the event library cannot be used: the connection was refused")
DEFECT = SoulgraphError("the request failed; the server's log says why")

SESSION_BUSY = Busy("8 turns of this session are waiting: send the next one later", 5)
CHANGED_MEANWHILE = Conflict(
    "changed_meanwhile", "somebody has changed this since it was read: read it again, then edit it"
)
SOUL_EXISTS = Conflict("soul_exists", "this user already has a soul called '小满': choose another name")
SESSION_MISMATCH = Conflict(
    "session_mismatch", "this session has soul_id 'soul_c3fa': start another session for 'soul_9a1b'"
)
SESSION_EMPTY = Conflict(
    "session_empty", "the user has said nothing in this session yet: there is nothing to grow from"
)
ANOTHER_PERSON = Forbidden("this key acts for 'ann' alone: leave out 'bob', or use their key or an owner's")
MAY_NOT_GATHER = Forbidden("only an owner, or a key made with `--user '*'`, may bring people together")
NO_CARD = InvalidInput(
    "the file is no card: send JSON, a PNG with a card inside, or a charx archive; the YAML of "
    "text-generation-webui and pictures with a card in their EXIF are read too"
)

MODEL_SILENT = ModelTimeout("the model was silent for too long: raise SOULGRAPH_LLM_TIMEOUT_S")
ASKING: Raised = (
    ModelError("the model's answer to summarize was unusable twice: answer: Field required", task="summarize"),
    ModelRefused("the model's server does not accept the key: check SOULGRAPH_LLM_API_KEY", reason="key"),
    ModelUnavailable(
        "the model's server cannot be reached: is it running, and is SOULGRAPH_LLM_BASE_URL right?",
        reason="unreachable",
    ),
    MODEL_SILENT,
)
"""Of what asks the language model for a task."""

ADMITTED: Raised = (
    *not_found("soul", "session", "character", "background", "template", "terminal", "message"),
    Conflict("soul_not_selected", "soul selection is required before chat: POST /v1/souls/select"),
    SESSION_MISMATCH,
    ANOTHER_PERSON,
    SESSION_BUSY,
)
"""Of what a turn is asked before it begins."""

TURN: Raised = (
    *ADMITTED,
    Conflict("others_spoke", "others have spoken since, and that would be taken back too: say something new"),
    Conflict("turn_superseded", "turn 7 of this session was written by another server: retry"),
    ServerBusy("64 turns are under way: send this one again later", 5),
    TurnStopped("the turn was stopped before its first word, and was not stored"),
    ShuttingDown("no new turns are taken: send this one to the server that follows"),
    *ASKING[1:],
    TurnOutputInvalid(
        "the model's answer breaks the output contract, and strict_output is on: the turn was not stored",
        turn_id="turn_c6ca",
        reason="there is no state update",
    ),
)

TURN_LOST = TurnLost(KEYS["turn"])
OTHER_TURN = InvalidInput("this id is of another turn: send the last one that was heard of this turn, or none")
NOT_OF_THIS_INPUT = InvalidInput(
    "this id is of another turn: send the last one that was heard of this input, or none to hear everything"
)

EDITING: Raised = (
    *not_found("soul"),
    MAY_NOT_GATHER,
    Forbidden("you may leave this session; only its own person or an owner may remove others"),
    Conflict("session_mismatch", "this session has grown from a conversation that not all of them had: begin another"),
    SESSION_BUSY,
)
"""Of edits of a session."""
NOT_OWN_TO_DELETE = Forbidden("only its own person or an owner may delete a session: leave it with PATCH and `people`")
NOT_OWN_TO_FORK = Forbidden("only its own person or an owner may fork a group: ask them")
ANOTHER_SPEAKER = Forbidden("this key acts for 'ann' alone, and 'bob' speaks in the file: use an owner key")
BAD_LINE = InvalidInput("line 2: content: Field required", line=2)

ALREADY_EXISTS = Conflict("already_exists", "there is a character 'lumen': choose another id, or edit it")
ENTRY_EXISTS = Conflict("already_exists", "there is an entry 'reef': choose another id, or edit it")
NO_LOREBOOK = InvalidInput(
    "the file has no lore `entries`: send SillyTavern's world info, a `character_book`, or a card that has one"
)
TEMPLATE_SHIPPED = Conflict("template_shipped", "companion_v1 ships with the package: save yours under another id")
TEMPLATE_IN_USE = Conflict("template_in_use", "sessions speak by the template 'plain': delete them first")
NO_PICTURE = UnsupportedMedia("the file is no picture that every browser shows: send PNG, JPEG or WebP")
NO_PACK = InvalidInput("the file is no zip archive: pack the pictures of the character into one, like joy.png")
EMPTY_BODY = InvalidInput("the body is empty: send the picture itself, as PNG, JPEG or WebP")

SOUL_NAME_TAKEN = Conflict("soul_exists", "this user already has a soul called '小满': choose another with `?name=`")
NO_SOUL_FILE = InvalidInput(
    "line 1: this is no file of a soul: send what GET /v1/souls/{soul_id}/export answers", line=1
)
IMPORT_RUNNING = Conflict("import_running", "chats of this person are being imported for this soul: wait for the end")
IMPORT_BROKEN_OFF = ShuttingDown("the server stops, and the import was broken off: send the same file again to go on")
DAMAGED_ARCHIVE = InvalidInput("the archive is damaged: Bad magic number for central directory")
FACT_SUPERSEDED = Conflict("changed_meanwhile", "this fact holds no more: correct the one that holds in its place")
SEVERAL_SOULS = InvalidInput("several souls have this name: choose one of soul:soul_c3fa, soul:soul_9a1b")

SPEECH_FAILED: Raised = (
    SpeechError("the speech service at http://127.0.0.1:8880/v1 cannot be used: it answered 500: out of memory"),
    SpeechTimeout(
        "the speech service at http://127.0.0.1:8880/v1 gave no answer within 60 s: "
        "raise SOULGRAPH_SPEECH_TIMEOUT_S, or look at it"
    ),
)
HEARING: Raised = (
    SpeechUnavailable(
        "no speech recogniser is configured: set SOULGRAPH_STT_MODEL with SOULGRAPH_STT_BASE_URL "
        "or SOULGRAPH_STT_API_KEY"
    ),
    InvalidInput("file: send the recording in a form, as multipart/form-data"),
    *SPEECH_FAILED,
)
SPEAKING: Raised = (
    SpeechUnavailable(
        "nothing here can speak: install espeak-ng, or set SOULGRAPH_TTS_MODEL with SOULGRAPH_TTS_BASE_URL "
        "or SOULGRAPH_TTS_API_KEY"
    ),
    InvalidInput("voice: espeak-ng has no such voice here: `espeak-ng --voices` lists them"),
    *SPEECH_FAILED,
)

CATALOGS_BUSY = CatalogsBusy("16 other catalogs are being compiled: send yours again later")
NO_SENSE = SenseUnavailable("the emotion service did not answer within 1.0 s")
NO_BROKER_ANSWER = BrokerUnavailable(
    "the MQTT broker does not answer, and it would bring the terminal back: try again later"
)
TOO_MANY_TERMINALS = Conflict(
    "too_many_terminals", "there are 10000 terminals, and no more are added: delete those that are no longer used"
)
LAST_OWNER_KEY = Conflict(
    "last_owner_key",
    "no owner key would be left, and only `soulgraph key create` could make one then: "
    "make another first, or add ?force=true",
)
JOB_NOT_DEAD = Conflict("job_not_dead", "job 12 is pending: only a dead one can be retried")
REPAIR_RUNNING = Conflict("repair_running", "a repair is running: wait for its end")
BACKUP_RUNNING = Conflict("backup_running", "a backup is being taken: wait for its end")
