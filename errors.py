"""Every error soulgraph raises on purpose, split by whose fault it is.

SoulgraphError
├── ConfigurationError          the operator: a setting names something we cannot use
├── RequestError                the caller
│   ├── NotFound
│   │   └── TurnLost            a turn that neither runs nor is stored
│   ├── Conflict                soul_exists, soul_not_selected, session_mismatch, …
│   ├── InvalidInput            well-formed but not acceptable
│   ├── Unauthorized · Forbidden · TooLarge · UnsupportedMedia
│   ├── HeadersTooLarge · RequestTimeout
│   ├── Busy                    the session's queue is full
│   │   └── ServerBusy          more is under way than the server can do in time
│   │   └── CatalogsBusy        too many catalogs of intents are being compiled
│   ├── TurnStopped             the person: they had enough before the first word
│   ├── NothingHeard            a recording without words
│   └── ShuttingDown            the server takes no new turns
├── ModelError                  the language model or the way to it
│   ├── ModelUnavailable        no answer, or an answer that says "later"
│   ├── ModelTimeout
│   ├── ModelRefused            it answered, and the answer is no
│   │   └── AnswerTooLong       it does not stop, and was not read to its end
│   ├── ContractBroken          a state update that cannot be read; it is asked for once the reply is out
│   └── TurnOutputInvalid       nothing could be shown, twice; with strict_output, whatever cannot be parsed
├── BudgetExhausted             the operator: the day's tokens are used up, work that nobody waits for is put off
├── StoreUnavailable            the database
│   └── MemoryUnavailable       Chroma, which finds events and summaries; turns go on without them
├── SenseUnavailable            a recogniser; the turn goes on without it
├── SpeechError                 speech into text or text into speech: it answered, and nothing can be made of it
│   ├── SpeechUnavailable       there is none, or no answer, or one that says "later"
│   └── SpeechTimeout
├── BrokerUnavailable           the MQTT broker
└── PromptError                 us: a prompt file and its variables disagree

`code` is stable and is what programs match on; the message is for people and says what to do.
"""

from typing import Any, ClassVar


class SoulgraphError(Exception):
    """Base of the tree; `problem` gives the body of an RFC 9457 response, with `extra` as additional members."""

    code: ClassVar[str] = "internal_error"
    status: ClassVar[int] = 500
    title: ClassVar[str] = "Something went wrong on our side"

    def __init__(self, detail: str, **extra: Any) -> None:
        super().__init__(detail)
        # It may quote what came in, and half of a surrogate pair would keep the answer from being sent.
        self.detail = detail.encode(errors="backslashreplace").decode()
        self.extra = extra

    def problem(self) -> dict[str, Any]:
        return {
            "type": f"urn:soulgraph:problem:{self.problem_code}",
            "title": self.title,
            "status": self.status,
            "code": self.problem_code,
            "detail": self.detail,
            **self.extra,
        }

    @property
    def problem_code(self) -> str:
        return self.code


class ConfigurationError(SoulgraphError):
    code = "configuration_error"
    title = "A setting cannot be used"

    def __init__(self, setting: str, detail: str) -> None:
        super().__init__(f"{setting}: {detail}", setting=setting)


class RequestError(SoulgraphError):
    code = "bad_request"
    status = 400
    title = "The request cannot be served"


class NotFound(RequestError):
    code = "not_found"
    status = 404
    title = "There is no such thing"

    def __init__(self, kind: str, key: str, detail: str | None = None) -> None:
        super().__init__(detail or f"no {kind} {key!r}", kind=kind)


class TurnLost(NotFound):
    code = "turn_lost"
    title = "The turn is lost"

    def __init__(self, turn_id: str) -> None:
        super().__init__("turn", turn_id, f"the turn {turn_id!r} neither runs nor is stored: send its input again")


class Conflict(RequestError):
    """The request conflicts with what is stored; each conflict has a code of its own."""

    status = 409
    title = "The request conflicts with what is stored"

    def __init__(self, code: str, detail: str, **extra: Any) -> None:
        super().__init__(detail, **extra)
        self._code = code

    @property
    def problem_code(self) -> str:
        return self._code


class InvalidInput(RequestError):
    code = "invalid_input"
    status = 422
    title = "The input is not valid"


class Unauthorized(RequestError):
    code = "unauthorized"
    status = 401
    title = "A valid key is required"


class Forbidden(RequestError):
    code = "forbidden"
    status = 403
    title = "This key may not do that"


class TooLarge(RequestError):
    code = "body_too_large"
    status = 413
    title = "The body is too large"


class HeadersTooLarge(RequestError):
    code = "headers_too_large"
    status = 431
    title = "The headers are too large"


class RequestTimeout(RequestError):
    code = "request_timeout"
    status = 408
    title = "The request took too long to arrive"


class UnsupportedMedia(RequestError):
    code = "unsupported_media"
    status = 415
    title = "Files of this kind are not taken"


class Busy(RequestError):
    code = "session_busy"
    status = 429
    title = "The session's queue is full"

    def __init__(self, detail: str, retry_after_s: int) -> None:
        super().__init__(detail, retry_after_s=retry_after_s)
        self.retry_after_s = retry_after_s


class CatalogsBusy(Busy):
    code = "catalogs_busy"
    title = "Too many catalogs of intents are being compiled"

    def __init__(self, detail: str) -> None:
        super().__init__(detail, retry_after_s=5)


class ServerBusy(Busy):
    code = "server_busy"
    title = "The server has too much to do"


class TurnStopped(RequestError):
    code = "turn_stopped"
    status = 409
    title = "The turn was stopped"


class NothingHeard(RequestError):
    code = "nothing_heard"
    status = 422
    title = "Nothing was said"


class ShuttingDown(RequestError):
    code = "shutting_down"
    status = 503
    title = "The server is shutting down"


class ModelError(SoulgraphError):
    code = "model_error"
    status = 502
    title = "The language model failed"


class ModelUnavailable(ModelError):
    code = "model_unavailable"
    status = 503
    title = "The language model cannot be reached"

    def __init__(self, detail: str, repeatable: bool = True, **extra: Any) -> None:
        super().__init__(detail, **extra)
        self.repeatable = repeatable


class ModelTimeout(ModelError):
    code = "model_timeout"
    status = 504
    title = "The language model took too long"


class ModelRefused(ModelError):
    code = "model_refused"
    title = "The language model refused"


class AnswerTooLong(ModelRefused):
    """Nobody was asked for that much: reading it to the end would take the server from everybody else."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail, reason="endless")


class ContractBroken(ModelError):
    """The detail is the `reason` of a strict turn that ends, so it says what is wrong."""

    code = "contract_broken"
    title = "The model's answer broke the output contract"


class TurnOutputInvalid(ModelError):
    code = "turn_output_invalid"
    title = "The model gave no usable answer"


class BudgetExhausted(SoulgraphError):
    """Raised only in background work, which can be done after `resets_at` (epoch seconds)."""

    code = "budget_exhausted"
    status = 429
    title = "The soul's tokens of the day are used up"

    def __init__(self, detail: str, resets_at: float) -> None:
        super().__init__(detail)
        self.resets_at = resets_at


class StoreUnavailable(SoulgraphError):
    code = "store_unavailable"
    status = 503
    title = "The database cannot be used"


class MemoryUnavailable(StoreUnavailable):
    """Chroma failed, whatever the reason; what it holds can be rebuilt from the database."""

    code = "memory_problem"
    title = "The event library cannot be used"


class SenseUnavailable(SoulgraphError):
    """A recogniser cannot answer; the turn goes on without it."""

    code = "sense_unavailable"
    status = 503
    title = "A recogniser cannot be reached"


class SpeechError(SoulgraphError):
    code = "speech_failed"
    status = 502
    title = "The speech service failed"


class SpeechUnavailable(SpeechError):
    code = "speech_unavailable"
    status = 503
    title = "No speech service can be reached"


class SpeechTimeout(SpeechError):
    code = "speech_timeout"
    status = 504
    title = "The speech service took too long"


class BrokerUnavailable(SoulgraphError):
    code = "broker_unavailable"
    status = 503
    title = "The MQTT broker cannot be reached"


class PromptError(SoulgraphError):
    code = "prompt_error"
    title = "A prompt and its variables disagree"
