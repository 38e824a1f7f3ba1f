# SPDX-License-Identifier: Apache-2.0
# The two commands are `make bench` and `make test`; both set up, build and go on where they stopped.
#   WORKERS=a,b   build only these workers (default: all that can be built)
#   SAN=address|undefined|thread   a sanitizer build, in a folder of its own
#   JOBS=n        parallel compile jobs
SAN ?=
WORKERS ?= all
JOBS ?= $(shell nproc)
BUILD := build$(if $(SAN),-$(SAN))
# With ccache, if it is there, otherwise with precompiled headers.
LAUNCHER := $(shell command -v ccache)
# Sanitizers must fail loudly and tell where.
export ASAN_OPTIONS ?= detect_leaks=1:abort_on_error=1
export UBSAN_OPTIONS ?= print_stacktrace=1
export TSAN_OPTIONS ?= halt_on_error=1

.PHONY: help deps deps-tests configure build test bench picture fuzz sketches clean
help:
	@echo "make bench    set up, build, run the quick suite, print the ranking, write out/report.html"
	@echo "make test     set up, build, run all tests        [SAN=address|undefined|thread]"
	@echo "make build    build/bin/tench and its workers     [WORKERS=reference,…]"
	@echo "make fuzz     libFuzzer over every parser         [FUZZ_SECONDS=60] (needs clang)"
	@echo "make picture  the README's picture of the report, from out/bench.db [PICTURE_DB=file] (needs chromium)"
	@echo "make sketches the reference's answers on big networks, again [SKETCHED=\"alexnet …\"] (takes minutes)"
	@echo "make clean    remove build folders (fetched dependencies stay)"

deps:
	@deps/fetch --workers $(WORKERS)

configure: deps
	@cmake -S . -B $(BUILD) -G Ninja -DTENCH_SANITIZE=$(SAN) -DTENCH_WORKERS=$(WORKERS) \
	  $(if $(LAUNCHER),-DCMAKE_CXX_COMPILER_LAUNCHER=$(LAUNCHER)) --log-level=WARNING >/dev/null

build: configure
	@cmake --build $(BUILD) -j $(JOBS) --target tench tench_workers

deps-tests:
	@deps/fetch --workers $(WORKERS) --tests

test: deps-tests configure
	@cmake --build $(BUILD) -j $(JOBS)
	@ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

bench: build
	@mkdir -p out
	@$(BUILD)/bin/tench sweep quick --installed --db out/bench.db
	@$(BUILD)/bin/tench results --db out/bench.db --study latest
	@$(BUILD)/bin/tench report --db out/bench.db --study latest -o out/report.html

# A page that is drawn by a script needs time of its own before it is pictured.
PICTURE_DB ?= out/bench.db
picture: build
	@mkdir -p out
	@$(BUILD)/bin/tench report --db $(PICTURE_DB) --study latest -o out/picture.html
	@chromium --headless=new --no-sandbox --disable-gpu --no-first-run --hide-scrollbars --user-data-dir=$(CURDIR)/out/chromium --virtual-time-budget=15000 \
	  --window-size=1240,1226 --screenshot=$(CURDIR)/docs/report.png file://$(CURDIR)/out/picture.html 2>/dev/null
	@rm -rf out/chromium; echo "wrote docs/report.png"

# What naive loops over a big network need minutes to hours for; committed, so that nobody else has to wait.
SKETCHED ?= alexnet googlenet vgg16 vgg19 resnet18 resnet34 resnet50 resnet101 resnet152
sketches: build
	@$(BUILD)/bin/tench verify $(foreach network,$(SKETCHED),--network $(network)) --write-sketches sketches

FUZZ_SECONDS ?= 60
fuzz: deps
	@cmake -S . -B build-fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DTENCH_SANITIZE=address -DTENCH_LIBFUZZER=ON \
	  -DTENCH_WORKERS=none --log-level=WARNING >/dev/null
	@cmake --build build-fuzz -j $(JOBS) --target tench_fuzzers
	@fuzz/run build-fuzz $(FUZZ_SECONDS)

clean:
	rm -rf build build-address build-undefined build-thread build-fuzz
