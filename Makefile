# Thin on purpose: what concerns the environment and the running Airflow is in ops/, the rest calls a tool.
# Paths are relative to this folder, so that a clone's path may hold spaces.

SHELL := /bin/sh
BOOTSTRAP := $(or $(shell command -v python3 || command -v python3.12 || command -v python3.11),python3) ops/bootstrap.py
PY := .venv/bin/python
TEST := PYTHONPATH=include:plugins:ops $(PY) -m pytest
SLOW := e2e_one or e2e or faults or soak or perf or paper
CAMPAIGN ?= demo

.DEFAULT_GOAL := help
.PHONY: help tune follow up down status doctor clean-history check install dev lint format layers types unit contracts dags e2e-one test \
	e2e faults soak paper perf lock

help:  ## List what can be made
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

tune:  ## Install, start Airflow, run the campaign CAMPAIGN=demo and follow it to its verdict
	@$(BOOTSTRAP) tune "$(CAMPAIGN)"

follow:  ## Follow the campaign that runs, or show the verdict of the last one
	@$(BOOTSTRAP) follow "$(CAMPAIGN)"

up:  ## Start Airflow on 127.0.0.1, port ALBACORE_PORT=18080
	@$(BOOTSTRAP) up

down:  ## Stop everything that was started, jobs and servers of local nodes included
	@$(BOOTSTRAP) down

status:  ## Show the processes and the address of the UI
	@$(BOOTSTRAP) status

doctor:  ## Say what is wrong, e.g. a component with an old heartbeat
	@$(BOOTSTRAP) doctor

clean-history:  ## Let Airflow forget iterations older than their campaign's keep_days; campaign runs and the store stay
	@$(BOOTSTRAP) clean-history

install:  ## Install the pinned packages into .venv
	@$(BOOTSTRAP) install

dev:  ## Install the tools for tests and checks too
	@$(BOOTSTRAP) dev

lint: dev layers  ## Check style, security, Airflow rules and layers
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

format: dev  ## Format the code
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

layers: dev
	PYTHONPATH=include:plugins:ops $(PY) -c 'from importlinter.cli import lint_imports_command as run; run()'

types: dev  ## Check types
	$(PY) -m pyright

unit: dev  ## Run the unit tests
	$(TEST) tests --ignore=tests/contracts --ignore=tests/dags --ignore=tests/e2e -m "not ($(SLOW))" --cov --cov-report=

contracts: dev  ## Run the suites that every kind of a noun passes
	@test ! -d tests/contracts || $(TEST) tests/contracts -m "not ($(SLOW))" --cov --cov-append --cov-report=

dags: dev  ## Run the tests of the DAGs
	@test ! -d tests/dags || $(TEST) tests/dags -m "not ($(SLOW))" --cov --cov-append --cov-report=

e2e-one: dev  ## Run one campaign through a real Airflow
	$(MAKE) --no-print-directory marked MARK=e2e_one

test: lint types unit contracts dags e2e-one  ## Run all that must pass before a commit
	@$(PY) -m coverage report --skip-covered | tail -n 1

e2e faults soak: dev  ## Run the long suites: end to end, faults, soak
	$(MAKE) --no-print-directory marked MARK=$@

paper: dev  ## Compute what is missing of the papers' experiments (hours), bring docs/experiments up to date, run their tests
	$(PY) experiments/tuna/play.py
	$(PY) experiments/tuna/adjusters.py
	$(PY) experiments/tuna/neighbours.py
	$(PY) experiments/tuna/forests.py
	@test -z "$$ALBACORE_SAMPLES" || \
		$(PY) experiments/tuna/early.py
	@test -z "$$ALBACORE_SAMPLES" || \
		PYTHONPATH=include $(PY) -m albacore.cli cluster-size "$$ALBACORE_SAMPLES"/*.samples.csv.gz --json > experiments/tuna/runs/recorded.json
	$(PY) experiments/tuna/page.py
	for experiment in metis bestconfig microservices; do $(PY) experiments/optimizers/$$experiment.py || exit; done
	PYTHONPATH=include $(PY) experiments/optimizers/page.py
	PYTHONPATH=include $(PY) experiments/optimizers/figure.py docs/figures/optimizers.svg
	$(PY) experiments/verdict/figures.py
	$(PY) experiments/verdict/page.py
	$(PY) experiments/recorded/decisions.py
	$(PY) experiments/recorded/page.py
	$(MAKE) --no-print-directory marked MARK=paper

perf: dev  ## Measure Albacore itself into perf/results.json
	$(PY) perf/run.py
	$(PY) perf/table.py

# No test with a mark yet is no failure: pytest says 5 for "nothing collected".
.PHONY: marked
marked:
	@$(TEST) tests -m "$(MARK)" || test $$? -eq 5

lock: dev  ## Pin requirements anew from requirements.in and requirements-dev.in
	for name in requirements requirements-dev; do \
		$(PY) -m uv pip compile -q --upgrade --universal --python-version 3.11 --no-emit-index-url --no-emit-find-links \
			--custom-compile-command "make lock" $$name.in -o $$name.txt || exit 1; \
	done
