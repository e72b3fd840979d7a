# The README names `make demo` and `make test`. On a fresh Debian 12 machine, each also installs what it needs.
# `make help` prints the text behind each ##. Programs and plug-ins are in build/bin/.

JOBS ?= $(shell nproc)
# Tests of whole programs often wait, so JOBS + 1 tests run at a time.
TEST_JOBS = $(shell expr $(JOBS) + 1)
# nvcc is often installed outside of PATH.
export PATH := $(PATH):/usr/local/cuda/bin

.PHONY: help demo test test-all test-rest check-full test-contract-seeds test-asan-device test-sanitizers test-pandas build build-all dependencies check-format regenerate clean

# Builds only what configs/smoke.json needs on this machine's best back end. Python's libraries are installed meanwhile.
demo:  ## install what is missing, build, run configs/smoke.json on the best back end, draw its figures
	tools/install-dependencies.sh --build
	tools/install-dependencies.sh --figures & packages=$$!; \
	  cmake --preset release && cmake --build --preset demo --parallel $(JOBS); built=$$?; \
	  wait $$packages && exit $$built
	tools/demo.sh

test: dependencies  ## install what is missing, build, run the quick tests; without a GPU, compile no device code
	cmake --preset release
	cmake --build --preset quick --parallel $(JOBS)
	ctest --preset quick --parallel $(TEST_JOBS)

test-all: build-all  ## compile everything, device code too, and run all tests
	ctest --preset release --parallel $(TEST_JOBS)

# This target needs a build folder in which `make test` has just passed, as in .ci/run. It runs full tests, and tests of
# programs that now find more workers and plug-ins. The tests that it leaves out depend on their own program or on sources
# alone (allocbench_tests_alone in tests/CMakeLists.txt).
test-rest: build-all  ## after make test: compile everything, and run the tests that it did not run or whose programs changed
	ctest --preset release --parallel $(TEST_JOBS) --label-exclude '^(device|alone)$$'

check-full: build-all  ## search all allocators and the bug zoo for bugs at full counts
	cmake --build --preset release --target check_full

test-contract-seeds: build-all  ## the contract suite with ten seeds on the CPU back end; writes tests/contract/seeds.md
	cmake --build --preset release --target contract_seeds

test-asan-device: dependencies  ## executor, allocators and workloads under AddressSanitizer: the quick part of test-sanitizers
	cmake --preset asan && cmake --build --preset asan-device --parallel $(JOBS) && ctest --preset asan-device --parallel $(JOBS)

# Tests the CPU back end under AddressSanitizer with UBSan and under ThreadSanitizer. Tests of documents are left
# out under ThreadSanitizer, because its workers are too slow for the deadlines in the documents.
test-sanitizers: dependencies  ## all tests of the CPU back end under AddressSanitizer with UBSan, then under ThreadSanitizer
	cmake --preset asan && cmake --build --preset asan --parallel $(JOBS) && ctest --preset asan --parallel $(JOBS)
	cmake --preset tsan && cmake --build --preset tsan --parallel $(JOBS) && ctest --preset tsan --parallel $(JOBS)

# This target needs PyPI, so `make test` does not include it. `make test` uses Debian's pandas. pandas 3 needs
# Python 3.11.
PANDAS := 1.5 2.2 3
NUMPY_1.5 := 'numpy<2'
test-pandas: $(PANDAS:%=build/pandas/%/tested)  ## the Python package with pandas 1.5, 2.2 and 3 from PyPI; a warning is an error

.PHONY: $(PANDAS:%=build/pandas/%/tested)
$(PANDAS:%=build/pandas/%/tested): build/pandas/%/tested:
	python3 -m venv build/pandas/$*
	build/pandas/$*/bin/pip install --quiet 'pandas==$*.*' $(NUMPY_$*) jsonschema pytest setuptools wheel
	build/pandas/$*/bin/python -B -W error -m pytest -q -p no:cacheprovider tests/plots/test_package.py

build: dependencies  ## all programs and plug-ins
	cmake --preset release
	cmake --build --preset programs --parallel $(JOBS)

build-all: dependencies  ## all programs, plug-ins, tests and benchmarks
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS)

dependencies:  ## install the Debian packages that are missing
	tools/install-dependencies.sh

check-format:  ## compare C++ and CUDA files with clang-format 14
	git ls-files '*.hpp' '*.cpp' '*.cu' | xargs clang-format-14 --dry-run --Werror

regenerate: dependencies  ## make figures, ledger, tables, pages and numbers in texts again from the kept results
	/usr/bin/python3 -m plots regenerate

clean:  ## remove build/
	rm -rf build

help:  ## print this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24
	@echo "JOBS=n limits parallel jobs (default: one per core)."
