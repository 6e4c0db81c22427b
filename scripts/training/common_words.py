"""Makes `senses/common_words.yaml`: words so common that they give nobody away.

    python -m soulgraph.scripts.training.common_words DICTIONARY DATA_FOLDER

DICTIONARY is `dict.txt` of the Chinese segmenter jieba: word, frequency, part of speech. DATA_FOLDER holds GoEmotions.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from textwrap import fill

import yaml

TARGET = Path(__file__).parents[2] / "senses" / "common_words.yaml"
_HEAD = """\
# Words so common that they give nobody away. Made by scripts/training/common_words.py, see senses/ATTRIBUTION.md.
"""
# It is nouns that point at somebody: a rare verb says little.
_MIN_NOUN, _MIN_OTHER = 700, 50
_PROPER = ("nr", "ns", "nt", "nz", "m", "j")
_HAN_WORD = re.compile(r"[\u4e00-\u9fff]{2,4}")
_MIN_COUNT = 4  # occurrences of an English word in the comments
_WORD = re.compile(r"(?<![\[\w/@#])[A-Za-z]+(?![\]\w])")
_CRUDE = re.compile(r"fuc?k|shit|cunt|nigg|fagg?|whor|slut|dick|cock|puss|bitch|porn|rape|jerk|tits?$|boob|nazi|retard")


def chinese(dictionary: Path) -> Iterator[str]:
    for line in dictionary.read_text("utf-8").splitlines():
        word, count, tag = line.split()
        least = _MIN_NOUN if tag.startswith(("n", "t", "s")) else _MIN_OTHER
        if _HAN_WORD.fullmatch(word) and not tag.startswith(_PROPER) and int(count) >= least:
            yield word


def english(folder: Path) -> Iterator[str]:
    """Words that are mostly written small: a name is not."""
    small: Counter[str] = Counter()
    capital: Counter[str] = Counter()
    for split in ("train", "dev"):
        for line in (folder / f"goemotions_{split}.tsv").read_text("utf-8").splitlines():
            text = line.partition("\t")[0]
            for found in _WORD.finditer(text):
                inside = re.search(r"[a-z,;] $", text[: found.start()])
                if found[0].islower():
                    small[found[0]] += 1
                elif inside and found[0].istitle():
                    capital[found[0].lower()] += 1
    for word, count in small.items():
        if len(word) > 1 and count >= _MIN_COUNT and count > 1.5 * capital[word] and not _CRUDE.search(word):
            yield word


def main(dictionary: Path, folder: Path) -> None:
    own = yaml.safe_load(Path(__file__).with_name("everyday_words.yaml").read_text("utf-8"))
    given = {name: {*words.split()} for name, words in own.items()}
    lists = {
        "en": sorted({*english(folder)} - given["not_en"] | given["en"]),
        "zh": sorted({*chinese(dictionary)} - given["not_zh"] | given["zh"]),
        "zh_single": sorted({*"".join(own["zh_single"].split())}),
    }
    folded = {
        name: fill(" ".join(words), 118, initial_indent="  ", subsequent_indent="  ") for name, words in lists.items()
    }
    TARGET.write_text(_HEAD + "".join(f"{name}: >-\n{words}\n" for name, words in folded.items()), "utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
