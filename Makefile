# The two commands that matter are `make lab` and `make test`; `make help` lists the others.

BOOTSTRAP := cluster_setup/bootstrap.sh
PYTHON := .venv/bin/python
BEOWULF := .venv/bin/beowulf
LOCKS := installer lab setup hub site test modern

VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
NATIVE := $(patsubst beowulf/native/%.c,beowulf/native/build/%.so,$(wildcard beowulf/native/*.c))
C_FILES := $(shell find labs beowulf benchmarks examples tests -name '*.[ch]' 2>/dev/null)
SHELL_FILES := .ci/run $(shell find cluster_setup tests -name '*.sh' 2>/dev/null)
TEXTS := *.md beowulf autograder benchmarks cluster_setup docs examples labs notebooks/source slides tests
TYPED := $(wildcard beowulf autograder benchmarks)

# A course's kit and a master's copy have no tests, slides, benchmarks and sources of notebooks.
ifeq ($(wildcard tests),)
$(foreach target,$(filter check test coverage bench nightly vm-test machines lint format release release-check archive slides,$(MAKECMDGOALS)),\
    $(error `make $(target)` needs a clone of the project; this copy has only what the labs need. Try `make lab`))
endif

# Tests start some thousand Python processes. Where a setting keeps Python from writing down what it has compiled, each
# process compiles our modules again; so that setting does not count here.
WRITING := env -u PYTHONDONTWRITEBYTECODE
PYTEST := $(WRITING) $(PYTHON) -m pytest
# One more than there are cores, since tests wait, too: with two more, ranks that poll slow each other down.
WORKERS = -n $(shell expr $$(nproc) + 1) --dist loadfile --no-loadscope-reorder

# They would put foreign packages before those of .venv, or another Python in its place.
unexport PYTHONPATH PYTHONHOME

.DEFAULT_GOAL := help
.NOTPARALLEL:
# Of `make check`: what boots no cluster, opens no page, simulates nothing and is done within seconds.
OTHERS := nightly or vm or machines or cluster or rootless or browser or simgrid
CHECKED := tests/measure tests/studies tests/labs tests/figures tests/test_record.py tests/test_verdict.py tests/test_lab_file.py \
    tests/test_lab_offers.py tests/test_lab_texts.py tests/test_syllabus.py tests/test_papers.py \
    tests/autograder/test_release.py tests/autograder/test_lab_questions.py

.PHONY: help check demo lab test coverage up bench nightly vm-test machines lint format release release-check archive slides site lock programs \
    clean distclean uninstall ready

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

# Recipes end in `exec`, so that Ctrl-C reaches the program itself and it can take its cluster down.

demo: ## prepare this machine, then boot a cluster, measure and capture a ping-pong, open a page with it, take all down
	@$(BOOTSTRAP) first
	@exec $(BEOWULF) demo

lab: ## prepare this machine, boot the cluster and open the home page; LAB=04 opens a lab
	@$(BOOTSTRAP) first
	@exec $(BEOWULF) lab $(LAB)

test: ## prepare this machine, then run all checks and the fast tests
	@$(WRITING) $(BOOTSTRAP) test
	@$(MAKE) --no-print-directory lint
	@exec $(PYTEST) $(WORKERS)

check: ## check format, style and types, and run the tests of studies and texts; takes a minute
	@$(WRITING) $(BOOTSTRAP) test
	@$(MAKE) --no-print-directory lint
	@exec $(PYTEST) -q $(WORKERS) -m 'not ($(OTHERS))' $(CHECKED)

coverage: ## run the tests of `make test` but those of a second user, and print how many lines of beowulf and autograder they run
	@$(WRITING) $(BOOTSTRAP) test
	@mkdir -p build
	@# Another user cannot write the figure's file, and a command that a test kills may be writing it.
	-@$(PYTEST) -q $(WORKERS) -m 'not (nightly or vm or machines or rootless)' --cov --cov-report=
	@for package in beowulf autograder; do \
	    echo "$$package: $$($(PYTHON) -m coverage report --format=total --include="$$package/*") % of the lines are run"; \
	done

ready:
	@$(BOOTSTRAP) lab

up: ready ## boot the cluster, or repair it
	@exec $(BEOWULF) up

bench: ## measure this project's own speed; NAME=capture measures one thing
	@$(BOOTSTRAP) test
	@exec $(PYTHON) -m benchmarks $(NAME)

# What compares measured times there runs alone; all else may use all cores, and begins with the files that take longest.
ALONE := tests/test_every_lab.py tests/test_node_benchmarks.py tests/capture tests/exercises tests/measure \
    tests/labs/lab_02 tests/labs/lab_04 tests/labs/lab_05 tests/labs/lab_08/test_striping.py \
    tests/suites/test_hpcc_runs.py tests/tuning/test_budget.py
LONGEST := tests/test_handout_commands.py tests/test_handed_out_labs.py tests/test_every_kind.py
OTHERS_TOGETHER := $(filter-out $(ALONE) $(LONGEST),$(patsubst %/,%,$(wildcard tests/*/)) $(wildcard tests/test_*.py))
nightly: ## run only the tests that take minutes or compare measured times; takes hours
	@$(BOOTSTRAP) test
	@$(PYTEST) $(WORKERS) -m nightly $(LONGEST) $(OTHERS_TOGETHER) $(addprefix --ignore ,$(ALONE)); together=$$?; \
	$(PYTEST) $(WORKERS) -m 'nightly and not cluster' $(ALONE); computed=$$?; \
	$(PYTEST) -m 'nightly and cluster' $(ALONE) && exit $$((together + computed))

vm-test: ## boot four VMs and test them, as root, for 20 minutes once the box is made; LABS=all runs the labs, for hours
	@$(BOOTSTRAP) vm
	@BEOWULF_VM_LABS='$(LABS)' exec $(PYTHON) -m pytest -m vm -s -x --no-header \
	    tests/vm/$(if $(LABS),test_labs_on_vms.py --maxfail=7,test_four_vms.py)

machines: ## walk through a lab in fresh userlands of four systems, as root; QUICK=1 takes minutes
	@$(BOOTSTRAP) test
	@QUICK='$(QUICK)' $(PYTEST) -n 0 -m machines tests/machines
	@$(if $(QUICK),,$(PYTHON) -m tests.machines.table)

lint: ## check format, style and types
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .
# On a busy machine its workers sometimes do not answer in time.
	$(PYTHON) -m mypy --strict --num-workers 2 $(TYPED) || $(PYTHON) -m mypy --strict $(TYPED)
	@mkdir -p build
	.venv/bin/lint-imports --no-cache >build/imports.txt || { cat build/imports.txt; exit 1; }
	.venv/bin/codespell $(TEXTS)
	.venv/bin/shellcheck $(SHELL_FILES)
	$(if $(C_FILES),.venv/bin/clang-format --dry-run -Werror $(C_FILES))

format: ## write the format that lint checks
	$(PYTHON) -m ruff format .
	$(PYTHON) -m ruff check --fix .
	$(if $(C_FILES),.venv/bin/clang-format -i $(C_FILES))

release: ## build the learners' notebooks from their sources
	@exec $(PYTHON) -m autograder.course.release

# Commit the documents that it writes; then `make archive`.
release-check: ## run all that a release asks for, as root on a quiet machine, for hours
	@$(MAKE) --no-print-directory machines
	@$(MAKE) --no-print-directory nightly
	@$(MAKE) --no-print-directory bench
	@$(PYTHON) -m benchmarks.results_page
	@$(MAKE) --no-print-directory site

# The same commit gives the same archive, on any machine.
archive: ## pack what is committed into build/ and print its SHA-256
	@git diff --quiet HEAD || { echo 'Commit what has changed, then type `make archive`: it packs what is committed.' >&2; exit 1; }
	@mkdir -p build
	@git archive --prefix=beowulf-labs-$(VERSION)/ HEAD | gzip -9n >build/beowulf-labs-$(VERSION).tar.gz
	@sha256sum build/beowulf-labs-$(VERSION).tar.gz

slides: ## build the slides into build/slides
	@exec $(PYTHON) -m slides.build

# A page that names one that is not there, or a heading, is an error; so all pages are read again each time.
site: ## build the documents as pages with a search into build/site
	@$(BOOTSTRAP) site
	@$(PYTHON) -m sphinx -c docs/site -d build/site-cache -j auto --fresh-env --write-all --quiet \
	    --nitpicky --fail-on-warning --keep-going --no-color . build/site
	@echo "Open build/site/index.html in a browser; its search needs no server."

# The locked versions are kept where they still fit; UPGRADE=1 takes the newest of everything.
lock: ## resolve requirements/*.in into requirements/*.lock
	@$(BOOTSTRAP) lab
	@for name in $(LOCKS); do \
	    .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes $(if $(UPGRADE),--upgrade) \
	        --no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' \
	        requirements/$$name.in --output-file requirements/$$name.lock || exit 1; \
	    echo "requirements/$$name.lock"; \
	done

programs: $(NATIVE) ## build this project's own C parts

beowulf/native/build/%.so: beowulf/native/%.c
	@mkdir -p $(@D)
	$(CC) -O2 -Wall -Wextra -Werror -shared -fPIC -o $@ $<

clean: ## remove what was built; .venv stays
	rm -rf build beowulf/native/build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -path ./.venv -prune -o -path ./.mpi -prune -o -name __pycache__ -type d -exec rm -rf {} +

distclean: clean ## remove .venv and .mpi as well
	rm -rf .venv .mpi

uninstall: ## list what the labs have installed outside of this folder, and remove it; YES=1 asks nothing
	@YES='$(YES)' exec cluster_setup/uninstall.sh
