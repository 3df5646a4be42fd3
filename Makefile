# All commands of the project; `make` alone lists them. All targets can be repeated.
SHELL := /bin/sh
VENV := .venv
PY := $(VENV)/bin/python
PIP := -m pip --disable-pip-version-check
WHEEL_VENV := .venv-wheel
OLDEST_VENV := .venv-oldest
OLDEST_PYSPARK := 4.0.*
# For reproducible wheels: no debug information (it names temporary folders), and one time for all files. The same
# sources, compiler and Python make the same wheel, byte for byte.
COMMIT_TIME = $(or $(shell git log -1 --format=%ct 2>/dev/null),946684800)

PYTEST_ARGS ?=
# Tests of one xdist group (those with Spark) share a worker, and so one JVM.
PYTEST_WORKERS ?= 2
FUZZ_ARGS ?=
BENCH_ARGS ?=
DEMO_ARGS ?=

# Spark uses the loopback, instead of guessing an address of this machine.
export SPARK_LOCAL_IP ?= 127.0.0.1
export SPARK_CONF_DIR ?= $(CURDIR)/conf
export PYSPARK_PYTHON ?= $(CURDIR)/$(PY)
export PYTHONUTF8 := 1

# Compiled sources: a change of one of these repeats the editable install. Python changes need nothing.
COMPILED := $(wildcard kafkalog_source/*/*.pyx kafkalog_source/*/*.pxd kafkalog_source/*/*.h)
SOURCES := pyproject.toml README.md LICENSE \
    $(shell find kafkalog_source spark_jobs -name '*.py' -o -name '*.py[xi]' -o -name '*.pxd' -o -name '*.h')

# What is missing, as one line; expanded only by the targets that need it.
missing = $(shell sh .ci/prerequisites)
stop_if = $(if $(1),$(error $(1)))

.PHONY: help prerequisites demo test coverage test-oldest test-wheel lint format docs wheel fuzz fuzz-guided notebooks bench clean
.DELETE_ON_ERROR:

help:
	@sed -n 's/^## //p' Makefile

## make demo         set up and run the main job on the sample segments; writes Parquet to build/demo
demo: $(VENV)/.package
	$(VENV)/bin/kafkalog job log_to_parquet --config conf/log_to_parquet.toml $(DEMO_ARGS)

## make test         set up and run the tests (PYTEST_ARGS="-k name -m slow" selects tests)
test: $(VENV)/.installed
	$(PY) -m pytest -n $(PYTEST_WORKERS) --dist loadgroup $(PYTEST_ARGS)

## make coverage     run the tests and report which lines of Python they miss, in build/coverage (PYTEST_ARGS)
coverage: $(VENV)/.installed
	mkdir -p build
	COVERAGE_FILE=build/.coverage $(PY) -m pytest -n $(PYTEST_WORKERS) --dist loadgroup \
	    --cov --cov-report=term --cov-report=html $(PYTEST_ARGS)

## make lint         ruff, mypy, the stubs of the compiled modules and the import contracts
lint: $(VENV)/.installed
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(PY) -m mypy.stubtest kafkalog_source._core --concise --mypy-config-file pyproject.toml \
	    --ignore-disjoint-bases --allowlist .stubtest-allowlist
	$(VENV)/bin/lint-imports --no-cache

## make format       apply the fixes and the format of ruff
format: $(VENV)/.installed
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

## make docs         build the documentation into build/docs; fails on a broken link
docs: $(VENV)/.installed
	$(VENV)/bin/zensical build --strict --clean --config-file .zensical.toml

## make wheel        build the source distribution, and from it one wheel, into dist/
wheel: dist/.built

## make test-wheel   install the wheel without a compiler, and use it
test-wheel: dist/.built
	rm -rf $(WHEEL_VENV)
	$(PY) -m pytest -q -m "" tests/packaging/test_wheel.py
	sh tests/packaging/without_compiler.sh $(PY) $(WHEEL_VENV)

## make test-oldest  use the wheel with the oldest supported pyspark
test-oldest: $(OLDEST_VENV)/.installed
	PYSPARK_PYTHON=$(CURDIR)/$(OLDEST_VENV)/bin/python $(OLDEST_VENV)/bin/python -P tests/packaging/smoke.py --spark

## make fuzz         feed mutated input to the core under the sanitizers (FUZZ_ARGS)
fuzz: $(VENV)/.installed
	$(PY) -m tests.fuzz.run $(FUZZ_ARGS)

## make fuzz-guided  coverage-guided fuzzing with libFuzzer; needs clang and atheris (FUZZ_ARGS)
fuzz-guided: $(VENV)/.installed
	$(PY) -m tests.fuzz.guided $(FUZZ_ARGS)

## make notebooks    run the notebooks and save their outputs
notebooks: $(VENV)/.installed
	$(PY) -m tests.notebooks.executing

## make bench        print the table of benchmarks (BENCH_ARGS)
bench: $(VENV)/.installed
	$(PY) -m tests.bench $(BENCH_ARGS)

## make clean        remove the output of all other targets
clean:
	rm -rf build dist $(VENV) $(WHEEL_VENV) $(OLDEST_VENV) *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .cache
	rm -f kafkalog_source/_core/*.c kafkalog_source/*/*.so
	find kafkalog_source spark_jobs tests -name __pycache__ -type d -exec rm -rf {} +

# Spark searches the folders of sys.path for pyspark_kafkalog, where a wheel installs it. An editable
# install uses an import hook, which such a search does not see, so its folder is added.
define add_registration
import pathlib, sysconfig
place = pathlib.Path(sysconfig.get_path("purelib"), "kafkalog_registration.pth")
place.write_text(str(pathlib.Path("kafkalog_source/spark/registration").resolve()) + chr(10))
endef
export add_registration

prerequisites:
	$(call stop_if,$(missing))@:

# The package with what it needs to run. pip shows what it downloads and that it compiles.
$(VENV)/.package: pyproject.toml $(COMPILED) | prerequisites
	@echo "Setting up $(VENV): downloads pyspark and others, and compiles the core (a few minutes the first time)"
	@test -x $(PY) || "$$(sh .ci/prerequisites --python)" -m venv $(VENV)
	@$(PY) $(PIP) install --editable .
	@$(PY) -c "$$add_registration"
	@touch $@

# What tests and development need besides; the package itself is already there.
$(VENV)/.installed: $(VENV)/.package
	@echo "Setting up $(VENV): downloads what tests and development need"
	@$(PY) $(PIP) install --quiet 'kafkalog[test,dev]'
	@touch $@

dist/.built: $(VENV)/.installed $(SOURCES) $(COMPILED)
	rm -rf dist
	CFLAGS="-g0 $(CFLAGS)" SOURCE_DATE_EPOCH="$(COMMIT_TIME)" $(PY) -m build --outdir dist .
	@touch $@

$(OLDEST_VENV)/.installed: dist/.built
	@test -x $(OLDEST_VENV)/bin/python || $(PY) -m venv $(OLDEST_VENV)
	$(OLDEST_VENV)/bin/python $(PIP) install --quiet --force-reinstall --no-deps dist/*.whl
	$(OLDEST_VENV)/bin/python $(PIP) install --quiet dist/*.whl 'pyspark==$(OLDEST_PYSPARK)'
	@touch $@
