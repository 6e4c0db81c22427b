"""Which endpoints a path leads to: every method of it, and words of the API that stand where others have an id."""

from collections.abc import Iterable, Iterator

from starlette.routing import BaseRoute, Match, Route
from starlette.types import Scope


def allowed_methods(routes: Iterable[BaseRoute], scope: Scope) -> str:
    """For `Allow`: the methods of all endpoints at this path; empty if there is none.

    The framework would name those of the first one, and every endpoint here has one method.
    """
    whole = {**scope, "root_path": scope.get("app_root_path", scope["root_path"])}  # not the path inside of a folder
    found = [route for route in routes if route.matches(whole)[0] is not Match.NONE]
    literal = min(map(_parameters, found), default=0)
    methods = {method for route in found if _parameters(route) == literal for method in _methods(route)}
    if "GET" in methods:
        methods.add("HEAD")
    return ", ".join(sorted({*methods, "OPTIONS"})) if methods else ""


def _parameters(route: BaseRoute) -> int:
    return len(route.param_convertors) if isinstance(route, Route) else 0


def _methods(route: BaseRoute) -> Iterable[str]:
    return getattr(route, "methods", None) or ("GET",)  # what has none is a folder of files


class Words:
    """Paths that end with a word where others have an id, such as `/v1/souls/import`: the word is no id.

    Without this, `PUT /v1/characters/import` would make a character, and an id could say two things.
    """

    def __init__(self, routes: Iterable[BaseRoute]) -> None:
        self._routes: dict[str, list[Route]] = {}
        for route in _ending_with_words([route for route in routes if isinstance(route, Route)]):
            self._routes.setdefault(route.path.rpartition("/")[2], []).append(route)

    def forbid(self, method: str, path: str) -> bool:
        """Whether the path ends with such a word and has no such method."""
        named = [route for route in self._routes.get(path.rpartition("/")[2], ()) if route.path_regex.match(path)]
        return bool(named) and not any(method in _methods(route) for route in named)


def _ending_with_words(routes: list[Route]) -> Iterator[Route]:
    ids = {route.path.rpartition("/")[0] for route in routes if route.path.endswith("}")}
    for route in routes:
        head, _, word = route.path.rpartition("/")
        if head in ids and not word.startswith("{"):
            yield route
