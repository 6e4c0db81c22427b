"""Our arrangement of the encoder's network gives the vectors that the shipped one gives."""

import numpy as np
import pytest

from soulgraph.compat import encoder_table, encoder_tokenizer, encoder_weights
from soulgraph.senses.embedding.network import Network
from soulgraph.senses.embedding.prepared import prepared_encoder

TEXTS = [
    "",
    "好",
    "I went for a walk by the river today & it rained a little!",
    "今天天气真好，我们去河边走走吧。",
    "字" * 900,
]


@pytest.fixture(scope="module")
def model():
    return prepared_encoder()


@pytest.fixture(scope="module")
def network(model):
    return Network(encoder_weights(model), encoder_table(model))


@pytest.mark.parametrize("batch", [*([text] for text in TEXTS), TEXTS, TEXTS[:-1] * 40])
def test_vectors_are_the_same(model, network, batch):
    tokens = encoder_tokenizer(model)
    vectors = network.encode([tokens(text) for text in batch])
    assert vectors.dtype == np.float32
    assert np.allclose(vectors, model.encode(batch), atol=1e-5)


def test_no_sentences_have_no_vectors(network):
    assert network.encode([]).shape == (0, 512)
