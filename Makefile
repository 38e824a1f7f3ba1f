# SPDX-License-Identifier: Apache-2.0
# The main targets are `make bench` and `make test`; both fetch dependencies and are incremental.
#   WORKERS=a,b       build only these workers (default: all that can be built). `make test
#                     WORKERS=all` also tests every Python worker that is set up: minutes for each
#   SAN=address,…     build with sanitizers (address, undefined, thread), in a separate folder
#   JOBS=n            parallel compile jobs
#   LAUNCHER=program  compiler launcher: ccache if it is installed; empty for a unity build
#   CTEST="-L unit"   further arguments of ctest
#   W="a b@1.0"       environments of Python workers for `make workers`, or all
SAN ?=
WORKERS ?= all
JOBS ?= $(shell nproc)
CTEST ?=
comma := ,
BUILD := build$(if $(SAN),-$(subst $(comma),-,$(SAN)))
LAUNCHER ?= $(shell command -v ccache)
# A finding of a sanitizer ends the process and names the place.
export ASAN_OPTIONS ?= detect_leaks=1:abort_on_error=1
export UBSAN_OPTIONS ?= print_stacktrace=1
export TSAN_OPTIONS ?= halt_on_error=1

.PHONY: help deps deps-tests workers configure build test tidy format bench picture fuzz sketches clean
help:
	@echo "make bench    build, run the quick suite, print the ranking, write out/report.html"
	@echo "make test     build, run all tests        [SAN=address,undefined|thread] [CTEST='-L unit']"
	@echo "make build    build/bin/tench and workers [WORKERS=reference,…]"
	@echo "make workers  environments of the Python workers W='jax cntk@2.7', W=all (gigabytes)"
	@echo "make tidy     clang-tidy over the whole tree (needs clang)"
	@echo "make format   clang-format over the whole tree, in place"
	@echo "make fuzz     libFuzzer on every parser   [FUZZ_SECONDS=60] (needs clang)"
	@echo "make picture  docs/report.png of a study  [PICTURE_DB=out/bench.db] (needs chromium)"
	@echo "make sketches reference's results on large networks [SKETCHED='alexnet …'] (minutes)"
	@echo "make install  the program and its workers [PREFIX=/usr/local] [DESTDIR=] [FRAMEWORKS=1]"
	@echo "make package  out/tench_VERSION_ARCH.deb with reference and native (needs dpkg-dev)"
	@echo "make wheel    out/tench-VERSION-…manylinux….whl for pip, with the Python workers"
	@echo "make clean    remove build folders (fetched dependencies stay)"

deps:
	@deps/fetch --workers $(WORKERS)

# Virtual environments with pinned wheels; without W they are only listed.
W ?=
workers:
	@deps/workers $(if $(W),$(W),--list)

configure: deps
	@cmake -S . -B $(BUILD) -G Ninja -DTENCH_SANITIZE=$(SAN) -DTENCH_WORKERS=$(WORKERS) \
	  $(if $(LAUNCHER),-DCMAKE_CXX_COMPILER_LAUNCHER=$(LAUNCHER)) --log-level=WARNING >/dev/null

build: configure
	@cmake --build $(BUILD) -j $(JOBS) --target tench tench_workers

# One new and one old framework on the Python kit, and pandas for the reader of results, where
# their interpreters exist.
TESTED_WORKERS := jax tensorflow1@1.4.0 reader
deps-tests:
	@deps/fetch --workers $(WORKERS) --tests
	@$(if $(filter all,$(WORKERS)),$(if $(SAN),,deps/workers --optional $(TESTED_WORKERS)))

# Of the workers on the Python kit, those of TESTED_WORKERS are tested, or those that WORKERS names.
TENCH_TEST_WORKERS ?= $(if $(filter file,$(origin WORKERS)),,$(WORKERS))
export TENCH_TEST_WORKERS

# TARGETS limits the build to these targets; use CTEST='-E NOT_BUILT' with it.
TARGETS ?=
test: deps-tests configure
	@cmake --build $(BUILD) -j $(JOBS) $(if $(TARGETS),--target $(TARGETS))
	@tests/run $(BUILD) -j $(JOBS) $(CTEST)

# clang-tidy parses every source with the flags of a clang build without unity sources; only the
# generated headers of that build are made.
tidy: deps-tests
	@.ci/tidy --all

format:
	@git ls-files '*.h' '*.cc' | xargs clang-format -i

bench: build
	@mkdir -p out
	@$(BUILD)/bin/tench sweep quick --installed --db out/bench.db
	@$(BUILD)/bin/tench results --db out/bench.db --study latest
	@$(BUILD)/bin/tench report --db out/bench.db --study latest -o out/report.html

# The page's script draws the charts, which takes time before the screenshot.
PICTURE_DB ?= out/bench.db
picture: build
	@mkdir -p out
	@$(BUILD)/bin/tench report --db $(PICTURE_DB) --study latest -o out/picture.html
	@chromium --headless=new --no-sandbox --disable-gpu --no-first-run --hide-scrollbars \
	  --user-data-dir=$(CURDIR)/out/chromium --virtual-time-budget=60000 --window-size=1240,1226 \
	  --screenshot=$(CURDIR)/docs/report.png file://$(CURDIR)/out/picture.html 2>/dev/null
	@rm -rf out/chromium; echo "wrote docs/report.png"

# The reference worker needs minutes to hours on a large network, so the sketches are committed.
SKETCHED ?= alexnet googlenet vgg16 vgg19 resnet18 resnet34 resnet50 resnet101 resnet152
sketches: build
	@$(BUILD)/bin/tench verify $(foreach network,$(SKETCHED),--network $(network)) \
	  --write-sketches sketches

FUZZ_SECONDS ?= 60
fuzz: deps
	@cmake -S . -B build-fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DTENCH_SANITIZE=address \
	  -DTENCH_LIBFUZZER=ON -DTENCH_WORKERS=none \
	  $(if $(LAUNCHER),-DCMAKE_CXX_COMPILER_LAUNCHER=$(LAUNCHER)) --log-level=WARNING >/dev/null
	@cmake --build build-fuzz -j $(JOBS) --target tench_fuzzers
	@fuzz/run build-fuzz $(FUZZ_SECONDS)

# PREFIX and DESTDIR have their usual meaning; FRAMEWORKS=1 also copies the fetched frameworks.
PREFIX ?= /usr/local
DESTDIR ?=
FRAMEWORKS ?=
.PHONY: install package wheel
install: build
	@for component in core workers $(if $(FRAMEWORKS),frameworks); do \
	  DESTDIR=$(DESTDIR) cmake --install $(BUILD) --prefix $(abspath $(PREFIX)) --strip \
	    --component $$component >/dev/null || exit 1; \
	done
	@echo "installed into $(DESTDIR)$(abspath $(PREFIX))"

package:
	@$(MAKE) --no-print-directory build WORKERS=native BUILD=build-package
	@packaging/make-deb build-package out

# The wheel for pip. auditwheel comes from PyPI by a pinned hash.
PYTHON_WORKERS := $(patsubst src/workers/%/worker.py,%,$(wildcard src/workers/*/worker.py))
AUDITWHEEL ?= deps/fetched/python/auditwheel@6/bin/auditwheel
wheel:
	@deps/workers --optional auditwheel
	@$(MAKE) --no-print-directory build BUILD=build-wheel \
	  WORKERS=native,$(subst $(subst ,, ),$(comma),$(strip $(PYTHON_WORKERS)))
	@packaging/make-wheel build-wheel out $(AUDITWHEEL)

clean:
	rm -rf build build-*
