# The commands of this project. The work is in tools/ and in CMakePresets.json.
PORT ?= 8080

help:
	@echo "make explain [PORT=8080]  set up, build, print the report, serve the explainer"
	@echo "make test                 set up, build, run every suite"
	@echo "make test-full            the same with sanitizers and g++ on everything, and long fuzzing"
	@echo "make build                native and WebAssembly programs into build/bin, the page into build/page"
	@echo "make bench                build, then time attention here and under Node"
	@echo "make goals                build, then every speed goal beside what this machine reaches"
	@echo "make lint                 formatting and static checks"
	@echo "make clean                remove build/ (the toolchain in .toolchain/ stays)"

explain:
	@case '$(PORT)' in ''|*[!0-9]*) echo "make explain: PORT=$(PORT) is not a number" >&2; exit 2;; esac
	@tools/setup.sh --for explain
	@tools/build.sh explain
	@tools/explain.sh $(PORT)

test:
	@tools/setup.sh --for test
	@tools/with_toolchain.sh node tools/test.mjs

test-full:
	@tools/setup.sh --for test
	@tools/with_toolchain.sh env ATTN_FULL=1 node tools/test.mjs

build:
	@tools/setup.sh --for explain
	@tools/build.sh

bench: build
	@build/bin/attn bench
	@tools/with_toolchain.sh node $$(node tools/relaxed_flag.mjs) build/bin/attn_relaxed.mjs bench

goals: build
	@tools/with_toolchain.sh node bench/goals.mjs

lint:
	@tools/setup.sh --for test
	@tools/with_toolchain.sh node tools/lint.mjs

clean:
	@rm -rf build

.PHONY: help explain test test-full build bench goals lint clean
