"""Let a slot be asked for again and a rung be judged again, beside what is there."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

SAMPLE = ["run_id", "config_id", "purpose", "slot", "repeat", "component"]
FAILURE = ["run_id", "config_id", "purpose", "slot", "repeat", "attempt"]
JUDGEMENT = ["run_id", "config_id", "rung", "revision"]


def upgrade() -> None:
    """Count the repeat among what makes a slot's fact unique, and the revision of a judgement."""
    _replace("sample", "sample_once_per_slot", SAMPLE)
    _replace("failure", "failure_once_per_attempt", FAILURE)
    with op.batch_alter_table("judgement") as table:
        table.add_column(sa.Column("revision", sa.Integer(), nullable=False, server_default="0"))
    _replace("judgement", "judged_once_per_rung", JUDGEMENT)


def _replace(name: str, constraint: str, columns: list[str]) -> None:
    """Give a unique constraint other columns; SQLite copies the table for it."""
    with op.batch_alter_table(name) as table:
        table.drop_constraint(constraint, type_="unique")
        table.create_unique_constraint(constraint, columns)
