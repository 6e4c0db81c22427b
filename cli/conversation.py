"""Talking to a soul in a terminal or through a pipe: what it says as it says it, and how it feels."""

import sys
from collections.abc import Callable
from contextlib import suppress

from rich.console import Console
from rich.table import Table

from soulgraph.cli.client import Event, Json, SoulClient
from soulgraph.errors import NotFound, RequestError, SoulgraphError
from soulgraph.soul.emotions import EmotionState
from soulgraph.soul.language import Lang, lang_of
from soulgraph.soul.mood import describe

with suppress(ImportError):  # Windows has none
    import readline  # noqa: F401  lets people edit what they type to `input`

# What souls and people say is shown as it is, never read as markup.
console = Console(markup=False, emoji=False, highlight=False)
errors = Console(markup=False, emoji=False, highlight=False, stderr=True)

_ACTS: dict[Lang, dict[str, str]] = {
    "en": {"auto_execute": "would act", "blocked": "would not act"},
    "zh": {"auto_execute": "愿意行动", "blocked": "不愿行动"},
}
_AXES = {"p": "pleasure", "a": "arousal", "d": "dominance"}
_CONTROLS = dict.fromkeys({*range(0x20), *range(0x7F, 0xA0)} - {ord("\n"), ord("\t")})


class Conversation:
    """One person, one soul, and one session that goes on from one call of the command to the next."""

    def __init__(self, client: SoulClient, soul: Json) -> None:
        self._client = client
        self._soul = soul
        self._session_id = f"cli:{soul['soul_id']}"
        self._speaking = False

    def run(self) -> None:
        """Line by line until `/quit`; a problem is shown, and the conversation goes on."""
        console.print(f"{self._soul['name']} is listening. Commands: /mood, /mode NAME, /quit", style="dim")
        self._attempt(self._greet)
        while (line := ask("› ")) != "/quit":
            self._attempt(self._hear, line)

    def _attempt(self, act: Callable[..., None], *told: str) -> None:
        try:
            act(*told)
        except SoulgraphError as error:
            self._pause()
            complain(error)

    def _greet(self) -> None:
        """As its character does; a conversation that goes on needs no greeting."""
        if self._soul["character_id"] is None:
            return
        session = self._client.open_session(self._soul, self._session_id)
        if session["greeting"] and session["turn"] == 0:
            self._speak(session["greeting"])
            self._pause()

    def _hear(self, line: str) -> None:
        match line.split():
            case []:
                pass
            case ["/mood"]:
                console.print(feeling(self._client.emotion(self._soul["soul_id"])))
            case ["/mode", mode]:
                self._change_mode(mode)
            case [command, *_] if command.startswith("/"):
                raise SoulgraphError(f"{command} is no command here: say /mood, /mode NAME or /quit")
            case _:
                self._say(line)

    def _change_mode(self, mode: str) -> None:
        try:
            state = self._client.choose_mode(self._session_id, mode)
        except RequestError as error:
            if error.extra["code"] != NotFound.code:
                raise
            raise RequestError("the conversation begins with your first words: say them, then choose a mode") from error
        self._aside(f"{state['mode']} mode for the next {state['ttl_turns']} turns")

    def _say(self, text: str) -> None:
        last = ""
        for event in self._client.chat(self._soul, self._session_id, text):
            self._show(event)
            last = event.name
        if last != "done":
            raise SoulgraphError("the server stopped in the middle of the turn")

    def _show(self, event: Event) -> None:
        match event.name, event.data:
            case "token", {"text": words}:
                self._speak(words)
            case "tool", {"name": name, "arguments": arguments}:
                self._aside(f"{name}: {', '.join(map(str, arguments.values()))}")
            case "intent_action", {"intents": intents}:
                self._aside(f"does: {', '.join(intent['intent_name'] for intent in intents)}")
            case "done", answer:
                self._aside(state_of_mind(answer))
            case "error", problem:
                raise SoulgraphError(problem["detail"])

    def _speak(self, words: str) -> None:
        if not self._speaking:
            console.print(f"{self._soul['name']}: ", style="bold", end="")
            words = words.lstrip("\n")
        self._speaking = True
        console.out(visible(words), end="")

    def _aside(self, note: str) -> None:
        self._pause()
        console.print(f"  {visible(note)}", style="dim", soft_wrap=True)

    def _pause(self) -> None:
        if self._speaking:
            console.print()
        self._speaking = False


def state_of_mind(answer: Json) -> str:
    """Like "slightly pleased · would act (82%)", in the language of the reply."""
    lang = lang_of(answer["reply"])
    mood = describe(EmotionState.from_dict(answer["soul_emotion"]), lang)
    return f"{mood} · {_ACTS[lang][answer['exec_mode']]} ({answer['exec_probability']:.0%})"


def feeling(emotion: Json) -> Table:
    """The emotion of this moment in full, with the gate and what it was measured against."""
    state, gate = emotion["soul_emotion"], emotion["gate"]
    acts = _ACTS["en"][gate["exec_mode"]]
    table = Table.grid(padding=(0, 2))
    table.add_row("mood", f"{emotion['mood']['en']} · {emotion['mood']['zh']}")
    table.add_row("gate", f"{acts}: probability {gate['exec_probability']:.2f}, threshold {gate['threshold']:.2f}")
    if gate["locked"]:
        table.add_row("lock", f"opens in {gate['lock_remaining_s']:.0f} s")
    for name in ("p", "a", "d", "boredom", "shock_load", "extreme_memory"):
        table.add_row(_AXES.get(name, name.replace("_", " ")), f"{state[name]:+.3f}")
    return table


def ask(prompt: str) -> str:
    """The next line; through a pipe there is nobody to prompt."""
    return input(prompt if sys.stdin.isatty() else "").strip()


def some_soul(client: SoulClient) -> Json:
    """The only one, or the one that is chosen or made now."""
    souls = client.souls()
    if not souls:
        console.print("There is no soul yet. What shall it be called, and which MBTI type is it (like INFJ)?")
        return client.create_soul(ask("name: "), ask("type: "))
    if len(souls) > 1:
        console.print(f"Which soul: {', '.join(soul['name'] for soul in souls)}?")
        return client.soul(ask("name: "))
    return souls[0]


def complain(error: SoulgraphError) -> None:
    errors.print(f"soulgraph: {' '.join(error.detail.split())}", style="red", soft_wrap=True)


def visible(text: str) -> str:
    """Without control characters, which a model could use to rewrite the screen."""
    return text.translate(_CONTROLS)
