"""Add what belongs to history: where imported runs come from, and what other policies say of recorded runs."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the tables `imported` and `rescoring`."""
    op.create_table(
        "imported",
        sa.Column("run_id", sa.String(length=250), nullable=False),
        sa.Column("campaign", sa.String(length=250), nullable=False),
        sa.Column("digest", sa.String(length=250), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("method", sa.String(length=250), nullable=False),
        sa.Column("licence", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("run_id"),
        sa.UniqueConstraint("campaign", "digest", name="imported_once_per_campaign"),
    )
    op.create_table(
        "rescoring",
        sa.Column("run_id", sa.String(length=250), nullable=False),
        sa.Column("policy_digest", sa.String(length=250), nullable=False),
        sa.Column("policy", sa.String(length=250), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("library", sa.String(length=250), nullable=False),
        sa.Column("body", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "policy_digest"),
    )
