"""The prepared lines a soul says when it carries out an intent, without a model call."""

from collections.abc import Sequence

from soulgraph.senses.intents.decision import MatchedIntent
from soulgraph.soul.language import Lang
from soulgraph.voices.lines import Speaker, load_lines


def action_line(intents: Sequence[MatchedIntent], reached: bool, speaker: Speaker, text: str, lang: Lang) -> str:
    """A line that names what is done, in the speaker's tone, and then the questions for missing parameters.

    `reached` is false when the terminal could not be reached: then the line says that nothing was done.
    """
    done = ("、" if lang == "zh" else ", ").join(i.intent_name for i in intents if i.status == "ready")
    said = ("" if lang == "zh" else " ").join(_sentences(done, reached, speaker, text, lang)) if done else ""
    return " ".join(filter(None, [said, *(intent.question for intent in intents)]))


def _sentences(done: str, reached: bool, speaker: Speaker, text: str, lang: Lang) -> list[str]:
    lines = load_lines("action_lines")[lang]
    said = speaker.say(lines[speaker.mood_group if reached else "unreached"], text)
    exclaimed = [speaker.pick(lines["interjection"], text)] if _is_cheerful(speaker, reached) else []
    return [*exclaimed, *(sentence.format(done=done) for sentence in said)]


def _is_cheerful(speaker: Speaker, reached: bool) -> bool:
    return reached and speaker.exclaims and not speaker.is_low
