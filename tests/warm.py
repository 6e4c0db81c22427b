"""What every server reads as it starts, read when this is imported: who is forked from here has it already."""

from soulgraph.senses.embedding.local import encode
from soulgraph.senses.emotion.local import judge
from soulgraph.senses.tokenizer import index_terms

judge("你好", encode(["你好"])[0])
index_terms("你好")
