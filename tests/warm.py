"""What servers read as they start and in their first turn, read when this is imported: what is forked has it then."""

import gc
from datetime import datetime

import soulgraph.voices.lean_openai  # noqa: F401  # its libraries take a second
from soulgraph.senses.common_words import is_common
from soulgraph.senses.embedding.local import encode
from soulgraph.senses.emotion.local import judge
from soulgraph.senses.facts.reader import Told, statements_in
from soulgraph.senses.permissions.permission import permission_in
from soulgraph.senses.plans.finding import find_plans
from soulgraph.senses.tokenizer import index_terms

_DAY = datetime(2027, 1, 15)

for text in ("你好，我叫小满，我明天要去看牙医。", "Hello, I am Ann and I have to see the dentist tomorrow."):
    judge(text, encode([text])[0])
    index_terms(text)
    permission_in(text)
    find_plans(text, _DAY)
    statements_in(Told(text, _DAY))
is_common("hello")
gc.collect()
gc.freeze()  # or every process would look through it all as it starts
