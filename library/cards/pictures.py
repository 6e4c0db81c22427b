"""The pictures of a card: its avatar, and the faces among its assets. Nothing is fetched from an address."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes

from soulgraph.errors import InvalidInput, UnsupportedMedia
from soulgraph.library.cards.expressions import emotion_of
from soulgraph.library.cards.files import CardFile, decoded
from soulgraph.library.cards.lenient import Json
from soulgraph.library.cards.limits import MAX_PICTURE_BYTES
from soulgraph.library.cards.png import SIGNATURE, without_texts
from soulgraph.library.cards.spec import Data
from soulgraph.library.images import CheckedImage, check_image

AVATAR = "avatar"
_REMOTE = ("http://", "https://", "//")
_INSIDE = ("embeded://", "embedded://", "__asset:")
_MAX_NOTED = 20


class Candidate(NamedTuple):
    """A picture that may be kept as `name`; the lowest `rank` of those with one name is."""

    name: str
    rank: int
    place: str
    label: str
    uri: str


@dataclass(slots=True)
class Pictures:
    """The pictures that were read, by the name under which a character keeps them, and notes about the others."""

    images: dict[str, CheckedImage] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def take(self, candidates: Iterable[Candidate], read: Callable[[str], bytes]) -> None:
        """Keep the best picture for each name that can be read."""
        for one in sorted(candidates, key=lambda one: (one.name, one.rank)):
            if one.name in self.images:
                self.notes.append(f"{one.place}: not kept, because there is another picture for {one.name}")
                continue
            try:
                self.images[one.name] = checked(read(one.uri))
            except (InvalidInput, UnsupportedMedia) as error:
                self.notes.append(f"{one.place}: the picture is not kept: {error.detail}")
                continue
            if one.name not in (AVATAR, one.label):
                self.notes.append(f"{one.place}: kept as {one.name}")


def checked(content: bytes) -> CheckedImage:
    """The picture; raises InvalidInput or UnsupportedMedia if it cannot be kept."""
    if len(content) > MAX_PICTURE_BYTES:
        raise InvalidInput(f"it is too large: at most {MAX_PICTURE_BYTES} bytes are kept")
    return check_image(content)


def pictures_of(file: CardFile, data: Data, raw: Json) -> Pictures:
    """The pictures of a card that can be kept, and notes on its files that cannot."""
    pictures = Pictures()
    if file.picture is not None:
        _take_own_picture(file, pictures)
    candidates, notes = _sorted_out([*_assets(data), *_risu_pictures(raw)], has_picture=file.picture is not None)
    pictures.take(candidates, lambda uri: _content(uri, file))
    pictures.notes.extend(notes)
    if others := [name for name in file.names if name == "module.risum"]:
        pictures.notes.append(f"{', '.join(others)}: RisuAI's module is not read, its scripts and lore are not kept")
    if len(pictures.notes) > _MAX_NOTED:
        more = len(pictures.notes) - _MAX_NOTED
        pictures.notes = [*pictures.notes[:_MAX_NOTED], f"and {more} more files that are not kept, or not as they came"]
    return pictures


def pack_pictures(names: Mapping[str, str], read: Callable[[str], bytes]) -> Pictures:
    """The pictures of an expression pack: `names` are the labels of its files, by their path."""
    pictures = Pictures()
    candidates = []
    for path, label in names.items():
        found = (AVATAR, 0) if label.casefold() == AVATAR else emotion_of(label)
        if found:
            candidates.append(Candidate(*found, path, label.casefold(), path))
        else:
            pictures.notes.append(f"{path}: not kept, because no emotion of ours is called so: rename it to one")
    pictures.take(candidates, read)
    return pictures


def label_of(path: str) -> str:
    """The name of a file without its folders and its ending."""
    return PurePosixPath(path).stem


class _Asset(NamedTuple):
    place: str
    type: str
    name: str
    uri: str


def _assets(data: Data) -> list[_Asset]:
    return [_Asset(f"data.assets.{n}", one.type, one.name, one.uri) for n, one in enumerate(data.assets) if one.uri]


def _risu_pictures(raw: Json) -> list[_Asset]:
    """Pictures that RisuAI lists among its extensions of V2."""
    extensions = raw.get("extensions")
    risu = extensions.get("risuai") if isinstance(extensions, dict) else None
    if not isinstance(risu, dict):
        return []
    return [
        _Asset(f"data.extensions.risuai.{field}.{n}", kind, str(pair[0]), str(pair[1]))
        for field, kind in (("emotions", "emotion"), ("additionalAssets", "asset"))
        for n, pair in enumerate(_pairs(risu.get(field)))
    ]


def _pairs(value: Any) -> list[Any]:
    listed = value if isinstance(value, list) else []
    return [pair for pair in listed if isinstance(pair, list) and len(pair) >= 2 and isinstance(pair[1], str)]


def _sorted_out(assets: list[_Asset], has_picture: bool) -> tuple[list[Candidate], list[str]]:
    """Those assets that may be kept, and notes on the others."""
    candidates, notes = [], []
    for asset in assets:
        place = f"{asset.place} ({asset.type}, {asset.name[:60]})"
        if asset.uri.startswith("ccdefault:"):
            continue
        name = _name_of(asset)
        if asset.uri.startswith(_REMOTE):
            notes.append(f"{place}: not fetched from {asset.uri[:120]}: save the picture, and add it by hand")
        elif name is None:
            notes.append(f"{place}: not kept, because a character here has an avatar and faces for its emotions alone")
        elif has_picture and name[0] == AVATAR and asset.name in ("main", ""):
            continue  # it is the picture that the card came in
        else:
            candidates.append(Candidate(*name, place, asset.name.strip().casefold(), asset.uri))
    return candidates, notes


def _name_of(asset: _Asset) -> tuple[str, int] | None:
    if asset.type == "icon":
        return AVATAR, 0 if asset.name == "main" else 1
    return emotion_of(asset.name) if asset.type == "emotion" else None


def _take_own_picture(file: CardFile, pictures: Pictures) -> None:
    picture = _own_picture(file)
    if len(picture) > MAX_PICTURE_BYTES:
        pictures.notes.append(f"the picture has {len(picture)} bytes, and is not kept: at most {MAX_PICTURE_BYTES} are")
        return
    try:
        pictures.images[AVATAR] = check_image(picture)
    except InvalidInput as error:
        pictures.notes.append(f"the picture is not kept: {error.detail}")


def _own_picture(file: CardFile) -> bytes:
    """The picture that the file is, without the card in it or the archive behind it."""
    picture = file.picture or b""
    if picture.startswith(SIGNATURE):
        return without_texts(picture)
    end = picture.rfind(b"\xff\xd9", 0, picture.find(b"PK\x03\x04")) if file.packed else -1
    return picture[: end + 2] if end > 0 else picture


def _content(uri: str, file: CardFile) -> bytes:
    """The bytes behind an address inside of the file."""
    if uri.startswith("data:"):
        kind, _, content = uri.partition(",")
        return decoded(content.encode()) if kind.endswith(";base64") else unquote_to_bytes(content)
    for scheme in _INSIDE:
        if uri.startswith(scheme):
            name = uri.removeprefix(scheme)
            try:
                return file.embedded(name)
            except InvalidInput as error:
                raise InvalidInput(f"{name[:120]}: {error.detail}") from error
    raise InvalidInput(f"{uri[:60]!r} is no place in the card")
