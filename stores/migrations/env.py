"""Alembic's entry point; `Database` passes the connection in the attributes of the configuration."""

from alembic import context

from soulgraph.stores.columns import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
