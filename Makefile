# SPDX-License-Identifier: GPL-2.0-only
# The commands of the README; `make help` lists them.

WERROR ?= ON
NATIVE ?= ON
SANITIZE ?=
JOBS ?= $(shell nproc)

BUILD := build$(if $(SANITIZE),-$(SANITIZE))
FLAGS := -DFEDERATED_WERROR=$(WERROR) -DFEDERATED_NATIVE=$(NATIVE) -DFEDERATED_SANITIZE=$(SANITIZE)
ifeq ($(SANITIZE),)
FLAGS += -DCMAKE_BUILD_TYPE=Release
else
FLAGS += -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g"
endif
CONFIGURE = cmake -S . -B $(BUILD) -G Ninja $(FLAGS) -Wno-dev --log-level=WARNING
ALGORITHMS = alg1 fwo fwo-cso
PAPER_ALGORITHMS = fwo-cso alg1 laplacesq
SOURCES = $(shell git ls-files '*.h' '*.cc')

.DEFAULT_GOAL := help
.PHONY: help run paper study test build data bench format format-check lint docs clean

help:
	@echo 'make run           install, build, get MNIST, run a wifi cell in three ways into results/'
	@echo 'make paper         the same over ideal links, with the noise of the paper'
	@echo 'make study         install, build, get MNIST, study the radius of a wifi cell into results/'
	@echo 'make test          install, build everything with warnings as errors, run every test'
	@echo 'make build         install and build the library and the examples'
	@echo 'make data          get MNIST into data/mnist'
	@echo 'make bench         install, build and run the benchmarks'
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

paper: build data
	@tools/install-dependencies campaign
	@mkdir -p results
	set -e; for algorithm in $(PAPER_ALGORITHMS); do \
	    $(BUILD)/examples/federated-paper --profile=sound --algorithm=$$algorithm \
	        --output=results/$$algorithm; \
	done
	tools/plot --output=results/accuracy.png $(PAPER_ALGORITHMS:%=results/%)

study: build data
	tools/study-distance --jobs=$(JOBS) --program=$(BUILD)/examples/federated-wifi

test: data
	@tools/install-dependencies build test
	$(CONFIGURE)
	cmake --build $(BUILD) -j $(JOBS)
	ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

build:
	@tools/install-dependencies build
	$(CONFIGURE)
	cmake --build $(BUILD) -j $(JOBS) --target federated examples

data:
	@tools/get-mnist

bench: data
	@tools/install-dependencies build bench
	$(CONFIGURE)
	cmake --build $(BUILD) -j $(JOBS) --target federated-bench packet-bench wifi-bench \
	    planning-bench examples
	bench/run $(BUILD)
	bench/applications $(BUILD)

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
	sphinx-build -q -W -b html doc $(BUILD)/doc

clean:
	rm -rf build build-address build-thread
