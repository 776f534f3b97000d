# Every command of the project. `make test` and `make train` need nothing but Python 3.10 to 3.13: they make .venv themselves.
PYTHON ?= python3
BIN := .venv/bin
VENV := .venv/.installed
LOWEST := .venv-lowest
TOOLBOXES := .venv-toolboxes
LANGUAGE := .venv-language
# A process of tests that is lost ends the run: with loadfile, a new one might wait for ever for work.
PARALLEL := -n auto --max-worker-restart 0 --dist loadfile --no-loadscope-reorder
TOOL := PYTHONPATH=tests $(BIN)/python -m tools
JAVASCRIPT := tests/javascript
PAGE := krypenv/ui/browser/static
EXTRAS := train,render,table,dev

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help train play table test browser lowest toolboxes language slow check others format format-check lint types javascript notebooks nojit docs dist soak pages golden pictures bench clean

help:  ## list these commands
	@sed -nE 's/^([a-z-]+):.*## (.*)/make \1	\2/p' $(MAKEFILE_LIST) | expand -t 20

train: $(VENV)  ## train an agent by self-play for about a minute and evaluate it; ARGS="--frames 100_000" or others change it
	$(BIN)/krypenv train $(ARGS)

play: $(VENV)  ## play against the champion in the terminal
	$(BIN)/krypenv play

table: $(VENV)  ## learn the game and play it in the browser
	$(BIN)/krypenv table

test: $(VENV)  ## run the tests but those that are slow by nature or need a browser: four minutes
	$(BIN)/python -m pytest $(PARALLEL)
	@echo "Left out: tests in chromium (make browser), slow tests (make slow), other toolboxes (make toolboxes, make language). To run the first two and all checks: make check"

browser: $(VENV)  ## run the tests of the table's page in chromium
	$(BIN)/python -m pytest $(PARALLEL) -m browser

lowest: $(LOWEST)/.installed  ## run the tests of test and browser, one case of each, at the lowest versions that pyproject.toml allows
	NUMBA_CACHE_DIR=$(CURDIR)/$(LOWEST)/kernels $(LOWEST)/bin/python -m pytest $(PARALLEL) --cases 1 -m "not slow"

toolboxes: $(TOOLBOXES)/.installed  ## run the tests of the toolboxes that need an environment of their own
	$(TOOLBOXES)/bin/python -m pytest $(PARALLEL) tests/toolboxes

language: $(LANGUAGE)/.installed  ## run the tests of what trains language models, which need an environment of their own
	$(LANGUAGE)/bin/python -m pytest $(PARALLEL) tests/language

slow: $(VENV)  ## run the tests that are slow by nature
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[ray]"
	$(BIN)/python -m pytest $(PARALLEL) -m slow

check: others test  ## format, lint, types, site, notebooks, all tests: all that CI runs but toolboxes, language and lowest

others: format-check lint types javascript docs browser notebooks nojit slow  ## all of check but test

format: $(VENV) $(JAVASCRIPT)/node_modules/.installed  ## format the code and mend what the linter can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(JAVASCRIPT)/node_modules/.bin/biome check --write --config-path=$(JAVASCRIPT) $(PAGE)

format-check: $(VENV)
	$(BIN)/ruff format --check .

lint: $(VENV)  ## lint the code
	$(BIN)/ruff check .

types: $(VENV)  ## check the types
	$(BIN)/mypy -p krypenv

javascript: $(JAVASCRIPT)/node_modules/.installed  ## check format, lint and types of the page of the table in the browser
	$(JAVASCRIPT)/node_modules/.bin/biome check --error-on-warnings --config-path=$(JAVASCRIPT) $(PAGE)
	$(JAVASCRIPT)/node_modules/.bin/tsc --project $(JAVASCRIPT)

notebooks: $(VENV)  ## run every notebook from top to bottom
	$(BIN)/python -m pytest --nbmake -n auto --max-worker-restart 0 notebooks

nojit: $(VENV)  ## run the rules as plain Python, where an index out of bounds is an error
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest $(PARALLEL) tests/rules --ignore tests/rules/test_bounds.py

docs: $(VENV)  ## build the site into site/html/, where a warning is an error
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[docs]"
	$(BIN)/python -m sphinx -q -E -W --keep-going docs site/html

dist: $(VENV)  ## build the wheel and the sdist into dist/, and check both
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[release]"
	$(BIN)/python -m build --outdir dist
	$(BIN)/twine check --strict dist/*

soak: $(VENV)  ## try new examples of all fuzzers, random rules among them, for an hour; SOAK="-k text" tries some
	end=$$(($$(date +%s) + 3600)); while [ $$(date +%s) -lt $$end ]; do \
	  $(BIN)/python -m pytest -n auto -m slow -q --hypothesis-profile soak tests/fuzz $(SOAK) || exit 1; \
	done

pages: $(VENV)  ## write the pages of the environments anew
	$(TOOL).pages

golden: $(VENV)  ## write the golden files of the tests anew: playthroughs, narration, the terminal, analyses, pictures, choices
	$(BIN)/python -m pytest --regen-all tests/game/test_golden.py tests/training/test_analysis.py tests/agents/test_frozen.py
	$(BIN)/python -m pytest --regen-all tests/ui -k stored

pictures: $(VENV)  ## draw the pictures of the pages anew
	$(TOOL).pictures

bench: $(VENV)  ## measure the speed
	$(BIN)/krypenv bench

clean:  ## remove what was built and cached (not .venv, not trained models)
	rm -rf build dist site docs/commands.md docs/sheet.md docs/regler.md docs/relatives.md docs/notebooks jupyter_execute *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find krypenv agents training tests -name __pycache__ -prune -exec rm -rf {} +

$(VENV): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing into .venv: a few minutes the first time."
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[$(EXTRAS)]"
	touch $@

$(LOWEST)/.installed: pyproject.toml constraints-lowest.txt
	test -x $(LOWEST)/bin/python || $(PYTHON) -m venv $(LOWEST)
	@echo "Installing into $(LOWEST): a few minutes the first time."
	$(LOWEST)/bin/python -m pip install --quiet -c constraints-lowest.txt -e ".[$(EXTRAS),ray]"
	touch $@

$(TOOLBOXES)/.installed: pyproject.toml constraints-toolboxes.txt
	test -x $(TOOLBOXES)/bin/python || $(PYTHON) -m venv $(TOOLBOXES)
	@echo "Installing into $(TOOLBOXES): a few minutes the first time."
	$(TOOLBOXES)/bin/python -m pip install --quiet -c constraints-toolboxes.txt -e ".[train,dev,rllib,tianshou,torchrl,toolboxes]"
	touch $@

$(LANGUAGE)/.installed: pyproject.toml constraints-language.txt
	test -x $(LANGUAGE)/bin/python || $(PYTHON) -m venv $(LANGUAGE)
	@echo "Installing into $(LANGUAGE): a few minutes the first time."
	$(LANGUAGE)/bin/python -m pip install --quiet -c constraints-language.txt -e ".[language]"
	touch $@

$(JAVASCRIPT)/node_modules/.installed: $(JAVASCRIPT)/package.json
	@command -v npm > /dev/null || { echo "npm is missing; on Debian: apt-get install --no-install-recommends nodejs npm"; exit 1; }
	npm install --prefix $(JAVASCRIPT) --no-package-lock --no-audit --no-fund --loglevel error
	touch $@
