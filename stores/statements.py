"""SQLAlchemy writes the SQL of a statement, once; the drivers run it.

To run a statement through SQLAlchemy takes five to ten times what the database needs for those of a turn, which find
or write a few rows by their keys. What it knows of types is used all the same: values are bound and columns are read
by its own processors, and errors are raised as its exceptions.
"""

from abc import ABC, abstractmethod
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple, cast
from weakref import WeakKeyDictionary

from sqlalchemy import Dialect, Executable, Insert, make_url
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.compiler import SQLCompiler

from soulgraph.compat import Extracted, compile_statement, expand_lists

Values = Mapping[str, Any]
Row = Any
"""A named tuple of the columns."""
Description = Sequence[Sequence[Any]]
"""As the DB-API has it: of each column the name, the driver's code of its type, and more."""
_Processor = Callable[[Any], Any]
NO_VALUES: Values = MappingProxyType({})
_REQUIRED = object()
_MAX_KEPT = 2000


@cache
def dialect_of(drivername: str) -> Dialect:
    """One for the whole process, so that all databases of a kind share the SQL that was written for any of them."""
    url = make_url(f"{drivername}://")
    kind = url.get_dialect()
    return cast(type[DefaultDialect], kind)(dbapi=kind.import_dbapi())


class Result:
    """All rows of a statement, and how many it has changed."""

    __slots__ = ("_rows", "rowcount")

    def __init__(self, rows: Sequence[Row], rowcount: int) -> None:
        self._rows = rows
        self.rowcount = rowcount

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def all(self) -> Sequence[Row]:
        return self._rows

    def first(self) -> Row | None:
        return self._rows[0] if self._rows else None

    def one(self) -> Row:
        (row,) = self._rows
        return row

    def scalars(self) -> list[Any]:
        """The first column."""
        return [row[0] for row in self._rows]

    def scalar(self) -> Any:
        """The first column of the first row; None without a row."""
        return self._rows[0][0] if self._rows else None

    def mappings(self) -> list[dict[str, Any]]:
        return [row._asdict() for row in self._rows]


class _Parameter(NamedTuple):
    """One of a statement: its name in the text, the key of its value, what it is without one, and its conversion."""

    name: str
    key: str
    default: Any
    process: _Processor | None


class _Shape(NamedTuple):
    """How rows are read: their class, and the columns that are converted."""

    make: Callable[[Sequence[Any]], Row]
    processors: tuple[tuple[int, _Processor], ...]

    def read(self, raw: Sequence[Sequence[Any]]) -> list[Row]:
        return [self.make(self._processed(row)) for row in raw] if self.processors else [*map(self.make, raw)]

    def _processed(self, row: Sequence[Any]) -> list[Any]:
        values = list(row)
        for at, process in self.processors:
            values[at] = process(values[at])
        return values


class Prepared:
    """A statement as its driver takes it, for values with the same keys."""

    def __init__(self, statement: Executable, dialect: Dialect, keys: tuple[str, ...]) -> None:
        # As for many rows: else SQLAlchemy would have every insert return the key of its row.
        many = isinstance(statement, Insert) and not list(statement.exported_columns)
        self._compiled, self._extracted = compile_statement(statement, dialect, _cache, sorted(keys), many)
        self.returns_rows = statement.is_select or bool(self._compiled.effective_returning)
        # Not the statement itself: what is remembered for as long as it lives must not keep it alive.
        self._columns = () if self._compiled in _shapes else tuple(getattr(statement, "exported_columns", ()))
        self._dialect = dialect
        self._parameters: list[_Parameter] | None = None
        if not any(bound.key in keys for bound in self._compiled.post_compile_params):
            self._text, self._parameters = _bound_once(self._compiled, self._extracted, dialect)

    def bind(self, values: Values) -> tuple[str, Any]:
        """The text and its parameters. Lists of ids are part of the text, so it differs with their lengths."""
        if self._parameters is None:
            return self._bind_lists(values)
        bound = [values.get(key, default) for _, key, default, _ in self._parameters]
        for at, (_, key, _, process) in enumerate(self._parameters):
            if bound[at] is _REQUIRED:
                raise KeyError(f"the statement needs a value for {key!r}")
            if process:
                bound[at] = process(bound[at])
        if self._compiled.positional:
            return self._text, bound
        return self._text, {name: value for (name, *_), value in zip(self._parameters, bound, strict=True)}

    def read(self, raw: Sequence[Sequence[Any]], description: Description) -> list[Row]:
        shape = _shapes.get(self._compiled)
        if shape is None:
            shape = _shapes[self._compiled] = _shape_of(self._columns, description, self._dialect)
        return shape.read(raw)

    def _bind_lists(self, values: Values) -> tuple[str, Any]:
        parameters = dict(
            self._compiled.construct_params(values, extracted_parameters=self._extracted, escape_names=False)
        )
        text, order, listed = expand_lists(self._compiled, parameters)
        processors = _bind_processors(self._compiled, self._dialect) | listed
        bound = {name: processors[name](value) if name in processors else value for name, value in parameters.items()}
        return text, bound if order is None else [bound[name] for name in order]


_cache: dict[Any, Any] = {}
"""What SQLAlchemy has compiled, by its own keys: statements that are built anew every time are found there too."""
_shapes: "WeakKeyDictionary[SQLCompiler, _Shape]" = WeakKeyDictionary()
_prepared: "WeakKeyDictionary[Executable, dict[tuple[Any, ...], Prepared]]" = WeakKeyDictionary()


def prepare(statement: Executable, dialect: Dialect, values: Values) -> Prepared:
    """Remembered for as long as the statement lives: those that are built once are found at once."""
    keys = tuple(values)
    known = _prepared.get(statement)
    if known is None:
        if len(_cache) > _MAX_KEPT:
            _cache.clear()
        known = _prepared[statement] = {}
    found = known.get((dialect.name, *keys))
    if found is None:
        found = known[dialect.name, *keys] = Prepared(statement, dialect, keys)
    return found


def _bound_once(compiled: SQLCompiler, extracted: Extracted, dialect: Dialect) -> tuple[str, list[_Parameter]]:
    """The text, in which lists that are part of the statement are written out, and its parameters in their order."""
    required = {name for bound, name in compiled.bind_names.items() if bound.required}
    keys = {name: bound.key for bound, name in compiled.bind_names.items()}
    defaults = dict(compiled.construct_params(extracted_parameters=extracted, escape_names=False, _check=False))
    text, order, listed = expand_lists(compiled, defaults)
    processors = _bind_processors(compiled, dialect) | listed
    parameters = {
        name: _Parameter(name, keys.get(name, name), _REQUIRED if name in required else default, processors.get(name))
        for name, default in defaults.items()
    }
    return text, [parameters[name] for name in order or parameters]


def _bind_processors(compiled: SQLCompiler, dialect: Dialect) -> dict[str, _Processor]:
    found = {name: bound.type.dialect_impl(dialect) for bound, name in compiled.bind_names.items()}
    return {name: process for name, kind in found.items() if (process := kind.bind_processor(dialect))}


def _shape_of(columns: Sequence[Any], description: Description, dialect: Dialect) -> _Shape:
    """Text that was written by hand tells no types: its columns are as the driver reads them."""
    told_of = zip(columns, description, strict=False)
    kinds = ((column.type.dialect_impl(dialect), told[1]) for column, told in told_of)
    processors = [kind.result_processor(dialect, code) for kind, code in kinds]
    row = namedtuple("row", [told[0] for told in description], rename=True)  # type: ignore[misc]
    return _Shape(row._make, tuple((at, process) for at, process in enumerate(processors) if process))


@contextmanager
def raised_as_ours(sql: str, driver: Any, dialect: Dialect) -> Iterator[None]:
    """Raise a driver's error as SQLAlchemy's of the same kind, without what users have said in its parameters."""
    try:
        yield
    except driver.Error as error:
        raise DBAPIError.instance(sql, None, error, driver.Error, hide_parameters=True, dialect=dialect) from error


class Fetched(NamedTuple):
    """What a driver says of a statement: its rows, if it has any their columns, and how many rows it has changed."""

    rows: Sequence[Sequence[Any]]
    description: Description | None
    rowcount: int


class Statements(ABC):
    """Runs statements on one connection of a driver; each backend says how."""

    dialect: Dialect
    driver_module: Any

    async def execute(self, statement: Executable, parameters: Values | Sequence[Values] = NO_VALUES, /) -> Result:
        """Run a statement; with a list of values, once for each of them."""
        batch = (parameters,) if isinstance(parameters, Mapping) else parameters
        if not batch:
            return Result((), 0)
        prepared = prepare(statement, self.dialect, batch[0])
        if len(batch) == 1:
            return await self._run(prepared, batch[0])
        if prepared.returns_rows:
            results = [await self._run(prepared, values) for values in batch]
            return Result([row for result in results for row in result], len(results))
        sql, _ = prepared.bind(batch[0])
        with raised_as_ours(sql, self.driver_module, self.dialect):
            return Result((), await self._execute_many(sql, [prepared.bind(values)[1] for values in batch]))

    async def _run(self, prepared: Prepared, values: Values) -> Result:
        sql, bound = prepared.bind(values)
        with raised_as_ours(sql, self.driver_module, self.dialect):
            fetched = await self._execute(sql, bound)
        rows = prepared.read(fetched.rows, fetched.description) if fetched.description else ()
        return Result(rows, fetched.rowcount)

    @abstractmethod
    async def _execute(self, sql: str, bound: Any) -> Fetched: ...

    @abstractmethod
    async def _execute_many(self, sql: str, batch: Sequence[Any]) -> int:
        """Returns how many rows were changed in all."""
