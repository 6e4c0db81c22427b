"""Tasks whose result several callers want: each is done once, and given up when nobody waits for it any more."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class SharedTasks(Generic[T]):
    def __init__(self) -> None:
        self._tasks: dict[Hashable, asyncio.Task[T]] = {}
        self._waiting: Counter[asyncio.Task[T]] = Counter()

    def __len__(self) -> int:
        return len(self._tasks)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._tasks

    async def result(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of the task of this key, which is begun if there is none."""
        task = self._tasks.get(key) or self._begin(key, work())
        self._waiting[task] += 1
        try:
            return await asyncio.shield(task)
        finally:
            self._waiting[task] -= 1
            if not self._waiting[task]:
                self._end(key, task)

    def _begin(self, key: Hashable, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = self._tasks[key] = asyncio.create_task(work, name=f"shared: {str(key)[:40]}")
        return task

    def _end(self, key: Hashable, task: asyncio.Task[T]) -> None:
        """Forgets a task that is done, or that its last caller has left; who comes now begins another."""
        del self._waiting[task]
        del self._tasks[key]
        task.cancel()
