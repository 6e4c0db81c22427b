"""How far the conversations of other programs were imported, for each soul and person."""

from soulgraph.stores import schema_memory
from soulgraph.stores.records import ChatImport
from soulgraph.stores.repository import Repository, fields_of


class ChatImports(Repository[ChatImport]):
    table = schema_memory.chat_imports
    record = ChatImport

    async def of(self, soul_id: str, user_id: str) -> list[ChatImport]:
        return await self._all(self._rows("soul_id", "user_id"), soul_id=soul_id, user_id=user_id)

    async def put(self, imported: ChatImport) -> None:
        await self._put(**fields_of(imported))
