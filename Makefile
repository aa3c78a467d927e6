# SPDX-License-Identifier: GPL-2.0-only
# The commands of the README; `make help` lists them.

WERROR ?= ON
NATIVE ?= ON
SANITIZE ?=
JOBS ?= $(shell nproc)
SECONDS ?= 60

BUILD := build$(if $(SANITIZE),-$(SANITIZE))
FLAGS := -DFEDERATED_WERROR=$(WERROR) -DFEDERATED_NATIVE=$(NATIVE) -DFEDERATED_SANITIZE=$(SANITIZE)
ifeq ($(SANITIZE),)
FLAGS += -DCMAKE_BUILD_TYPE=Release
else
FLAGS += -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g"
endif
CONFIGURE = cmake -S . -B $(BUILD) -G Ninja $(FLAGS) -Wno-dev --log-level=WARNING
ALGORITHMS = alg1 fwo fwo-cso
SOURCES = $(shell git ls-files '*.h' '*.cc')

.DEFAULT_GOAL := help
.PHONY: help run figures test build data bench fuzz format format-check lint docs clean

help:
	@echo 'make run           install, build, get MNIST, run a wifi cell in three ways into results/'
	@echo 'make figures       every figure and table of the paper and the documentation into results/figures'
	@echo '                   (QUICK=1: in minutes; ONLY="fig4 distance": some; DOC=1: into doc/)'
	@echo 'make test          install, build everything with warnings as errors, run every test'
	@echo 'make build         install and build the library and the examples'
	@echo 'make data          get MNIST into data/mnist'
	@echo 'make bench         install, build and run the benchmarks'
	@echo 'make fuzz          install, build and run every fuzz harness for SECONDS=60, two at a time'
	@echo 'make format        format the sources (format-check: only say what is not formatted)'
	@echo 'make lint          cppcheck and clang-tidy (CHANGED=1: clang-tidy only on what a change concerns)'
	@echo 'make docs          the documentation as web pages, in build/doc'
	@echo 'make clean         remove what was built'
	@echo 'Options: SANITIZE=address|thread  WERROR=OFF  NATIVE=OFF  JOBS=$(JOBS)'

run: build data
	@tools/install-dependencies campaign
	@mkdir -p results
	set -e; for algorithm in $(ALGORITHMS); do \
	    $(BUILD)/examples/federated-wifi --devices=40 --rounds=15 --radius=60 --fading=rayleigh \
	        --algorithm=$$algorithm --output=results/wifi-$$algorithm; \
	done
	tools/plot --output=results/wifi.png --title="A wifi cell of 40 devices within 60 m" \
	    $(foreach algorithm,$(ALGORITHMS),$(algorithm)=results/wifi-$(algorithm))
	tools/report --output=results/wifi.html $(ALGORITHMS:%=results/wifi-%)
	@echo "Picture: $(CURDIR)/results/wifi.png"
	@echo "Report:  $(CURDIR)/results/wifi.html"

figures: build data
	@tools/install-dependencies campaign
	tools/figures --jobs=$(JOBS) $(if $(QUICK),--quick) \
	    $(if $(DOC),--formats=png --output=doc/figures --tables=doc/tables) $(ONLY)

test: data
	@tools/install-dependencies build test
	$(CONFIGURE)
	cmake --build $(BUILD) -j $(JOBS)
	ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

build:
	@tools/install-dependencies build
	$(CONFIGURE)
	cmake --build $(BUILD) -j $(JOBS) --target federated examples scratch

data:
	@tools/get-mnist

bench: data
	@tools/install-dependencies build bench
	$(CONFIGURE)
	cmake --build $(BUILD) -j $(JOBS) --target federated-bench packet-bench wifi-bench \
	    planning-bench ideal-speedup examples
	bench/run $(BUILD)
	bench/applications $(BUILD)

fuzz:
	@tools/install-dependencies build fuzz
	cmake -S . -B build-fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DFEDERATED_SANITIZE=fuzzer \
	    -DFEDERATED_NATIVE=OFF -DFEDERATED_WERROR=$(WERROR) -DCMAKE_BUILD_TYPE=RelWithDebInfo \
	    -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -gline-tables-only" -Wno-dev --log-level=WARNING
	cmake --build build-fuzz -j $(JOBS) --target harnesses
	fuzz/run build-fuzz $(SECONDS)

format:
	@tools/install-dependencies format
	clang-format -i $(SOURCES)

format-check:
	@tools/install-dependencies format
	clang-format --dry-run --Werror $(SOURCES)

lint:
	@tools/install-dependencies build test bench lint
	$(CONFIGURE)
	tools/lint $(if $(CHANGED),--changed) $(BUILD) $(JOBS)

docs:
	@tools/install-dependencies docs
	@tools/get-mathjax
	sphinx-build -q -W -b html doc $(BUILD)/doc

clean:
	rm -rf build build-address build-thread build-fuzz
