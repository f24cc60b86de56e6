"""The one way in which a command gives up: a line with the remedy, exit code 2, nothing left running."""


class RefusalError(Exception):
    """Say in one line what stands in the way and what the user can do."""
