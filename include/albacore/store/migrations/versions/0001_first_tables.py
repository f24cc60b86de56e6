"""Create the first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create every table of the store."""
    op.create_table(
        "archive",
        sa.Column("digest", sa.String(length=250), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("digest"),
    )
    op.create_table(
        "campaign_run",
        sa.Column("id", sa.String(length=250), nullable=False),
        sa.Column("campaign", sa.String(length=250), nullable=False),
        sa.Column("logical_date", sa.String(length=40), nullable=True),
        sa.Column("opened_at", sa.Float(), nullable=False),
        sa.Column("effective", sa.JSON(), nullable=False),
        sa.Column("benchmark", sa.JSON(), nullable=False),
        sa.Column("space", sa.JSON(), nullable=True),
        sa.Column("benchmark_digest", sa.String(length=250), nullable=False),
        sa.Column("policy_digest", sa.String(length=250), nullable=False),
        sa.Column("library", sa.String(length=250), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_campaign_run_campaign"), "campaign_run", ["campaign"], unique=False)
    op.create_table(
        "claim",
        sa.Column("run_id", sa.String(length=250), nullable=False),
        sa.Column("config_id", sa.String(length=250), nullable=False),
        sa.Column("node", sa.String(length=250), nullable=False),
        sa.Column("purpose", sa.String(length=250), nullable=False),
        sa.Column("repeat", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("slot", sa.String(length=250), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "config_id", "node", "purpose", "repeat"),
    )
    op.create_table(
        "config",
        sa.Column("run_id", sa.String(length=250), nullable=False),
        sa.Column("config_id", sa.String(length=250), nullable=False),
        sa.Column("knobs", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "config_id"),
    )
    op.create_table(
        "event",
        sa.Column("run_id", sa.String(length=250), nullable=False),
        sa.Column("n", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(length=250), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "n"),
    )
    op.create_table(
        "lease",
        sa.Column("resource", sa.String(length=250), nullable=False),
        sa.Column("owner", sa.String(length=250), nullable=True),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("resource"),
    )
    op.create_table(
        "node",
        sa.Column("run_id", sa.String(length=250), nullable=False),
        sa.Column("name", sa.String(length=250), nullable=False),
        sa.Column("host", sa.String(length=250), nullable=False),
        sa.Column("role", sa.String(length=250), nullable=False),
        sa.Column("address", sa.JSON(), nullable=False),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "name"),
    )
    op.create_table(
        "ask",
        sa.Column("run_id", sa.String(length=250), nullable=False),
        sa.Column("n", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("index", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=250), nullable=False),
        sa.Column("lane", sa.Integer(), nullable=False),
        sa.Column("config_id", sa.String(length=250), nullable=False),
        sa.Column("rung", sa.Integer(), nullable=False),
        sa.Column("bracket", sa.Integer(), nullable=False),
        sa.Column("read_n", sa.Integer(), nullable=False),
        sa.Column("inputs_digest", sa.String(length=250), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id", "n"],
            ["event.run_id", "event.n"],
        ),
        sa.PrimaryKeyConstraint("run_id", "n"),
        sa.UniqueConstraint("run_id", "index", name="ask_index_once"),
        sa.UniqueConstraint("run_id", "key", name="ask_once_per_iteration"),
    )
    op.create_table(
        "failure",
        sa.Column("run_id", sa.String(length=250), nullable=False),
        sa.Column("n", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("config_id", sa.String(length=250), nullable=False),
        sa.Column("node", sa.String(length=250), nullable=False),
        sa.Column("host", sa.String(length=250), nullable=False),
        sa.Column("purpose", sa.String(length=250), nullable=False),
        sa.Column("slot", sa.Integer(), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("blame", sa.String(length=250), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("log", sa.Text(), nullable=False),
        sa.Column("started_at", sa.Float(), nullable=False),
        sa.Column("duration_s", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id", "n"],
            ["event.run_id", "event.n"],
        ),
        sa.PrimaryKeyConstraint("run_id", "n"),
        sa.UniqueConstraint("run_id", "config_id", "purpose", "slot", "attempt", name="failure_once_per_attempt"),
    )
    op.create_table(
        "judgement",
        sa.Column("run_id", sa.String(length=250), nullable=False),
        sa.Column("n", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("config_id", sa.String(length=250), nullable=False),
        sa.Column("rung", sa.Integer(), nullable=False),
        sa.Column("stability", sa.String(length=250), nullable=False),
        sa.Column("relative_range", sa.Float(), nullable=False),
        sa.Column("raw", sa.JSON(), nullable=False),
        sa.Column("adjusted", sa.JSON(), nullable=False),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("reasons", sa.JSON(), nullable=False),
        sa.Column("read_n", sa.Integer(), nullable=False),
        sa.Column("is_capped", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id", "n"],
            ["event.run_id", "event.n"],
        ),
        sa.PrimaryKeyConstraint("run_id", "n"),
        sa.UniqueConstraint("run_id", "config_id", "rung", name="judged_once_per_rung"),
    )
    op.create_table(
        "note",
        sa.Column("run_id", sa.String(length=250), nullable=False),
        sa.Column("n", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(length=250), nullable=False),
        sa.Column("key", sa.String(length=250), nullable=True),
        sa.Column("body", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id", "n"],
            ["event.run_id", "event.n"],
        ),
        sa.PrimaryKeyConstraint("run_id", "n"),
        sa.UniqueConstraint("run_id", "kind", "key", name="note_once_per_key"),
    )
    op.create_table(
        "sample",
        sa.Column("run_id", sa.String(length=250), nullable=False),
        sa.Column("n", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("config_id", sa.String(length=250), nullable=False),
        sa.Column("node", sa.String(length=250), nullable=False),
        sa.Column("host", sa.String(length=250), nullable=False),
        sa.Column("deployment", sa.String(length=250), nullable=False),
        sa.Column("purpose", sa.String(length=250), nullable=False),
        sa.Column("slot", sa.Integer(), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("component", sa.String(length=250), nullable=False),
        sa.Column("metrics", sa.JSON(), nullable=False),
        sa.Column("telemetry", sa.JSON(), nullable=False),
        sa.Column("notes", sa.JSON(), nullable=False),
        sa.Column("started_at", sa.Float(), nullable=False),
        sa.Column("duration_s", sa.Float(), nullable=False),
        sa.Column("benchmark_digest", sa.String(length=250), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id", "n"],
            ["event.run_id", "event.n"],
        ),
        sa.PrimaryKeyConstraint("run_id", "n"),
        sa.UniqueConstraint(
            "run_id", "config_id", "node", "purpose", "repeat", "component", name="sample_once_per_config_and_node"
        ),
        sa.UniqueConstraint("run_id", "config_id", "purpose", "slot", "component", name="sample_once_per_slot"),
    )
