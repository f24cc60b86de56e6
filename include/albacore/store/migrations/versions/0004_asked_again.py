"""Let an ask be for a further measurement of a rung that was judged."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Give asks their repeat; those that are there are the first of their rung."""
    with op.batch_alter_table("ask") as table:
        table.add_column(sa.Column("repeat", sa.Integer(), nullable=False, server_default="0"))
