"""Find configurations that are fast and stay fast on every machine."""

__version__ = "0.1.0"
