"""Start, watch, follow and stop the Airflow of this clone, from outside of it.

Nothing here is imported by Airflow or by the library. Only `follow` and `status` need installed packages; the rest
is the standard library, so that `make down` works when `.venv` does not.
"""
