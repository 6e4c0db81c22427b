"""A turn that failed, told to the person who chats: what happened and what to do, without the words of the code."""

from soulgraph.cli.client import Json

_AGAIN = "It is not in the conversation, so just say it again."
_IN_PLAIN_WORDS = {
    "turn_output_invalid": "{name} found no words: the model's answers could not be used. " + _AGAIN + " If it happens "
    "often, a larger model helps (SOULGRAPH_LLM_MODEL).",
    "model_timeout": "{name} did not answer in time. " + _AGAIN + " A slow model may need a higher "
    "SOULGRAPH_TURN_TIMEOUT_S or SOULGRAPH_LLM_TIMEOUT_S.",
    "model_unavailable": "{name}'s model cannot be reached or is overloaded. Say it again in a moment; "
    "`soulgraph doctor` checks the connection. ({detail})",
    "model_refused": "{name}'s model refused to answer. Say it in other words, or check the model and its key "
    "with `soulgraph doctor`. ({detail})",
    "store_unavailable": "The database does not answer. Say it again in a moment; `soulgraph doctor` checks it.",
    "internal_error": "Something went wrong on the server. " + _AGAIN + " Its log says what it was.",
}


def plain_error(problem: Json, name: str) -> str:
    """What the server's problem means for the chat with the soul of this name; else its own explanation."""
    words = _IN_PLAIN_WORDS.get(problem["code"])
    return words.format(name=name, detail=problem["detail"]) if words else str(problem["detail"])
