"""How much of a character and of its lore is kept. More is refused over HTTP, and cut when it comes in a card."""

MAX_NAME = 80
MAX_PERSONA = 20_000
MAX_BLURB = 300
MAX_GREETINGS = 250
MAX_EXAMPLES = 50
MAX_UTTERANCE = 8000
MAX_LORE = 500
MAX_CONTENT = 4000
MAX_KEYS = 50
MAX_KEY = 200
MAX_PATTERNS = 8
MAX_PICTURE_BYTES = 4 * 1024 * 1024
