"""Run the store's migrations on the connection that the store passes in."""

from alembic import context

from albacore.store.schema import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
