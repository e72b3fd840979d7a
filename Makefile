# The two commands of the README, each enough on a fresh Debian 12 machine:
#   make demo   install what is missing, build the programs, run configs/smoke.json, draw its figures
#   make test   the same set-up, then all tests
# `make check-full` searches allocators and the bug zoo for bugs at full counts.
# `make build` builds all programs and plug-ins. They land in build/bin/.

JOBS ?= $(shell nproc)
# nvcc is often installed beside PATH.
export PATH := $(PATH):/usr/local/cuda/bin

.PHONY: demo test check-full test-asan-device test-sanitizers build build-all dependencies check-format clean

# Builds what configs/smoke.json needs on this machine's best back end, no more.
demo: dependencies
	cmake --preset release
	cmake --build --preset demo --parallel $(JOBS)
	tools/demo.sh

test: build-all
	ctest --preset release --parallel $(JOBS)

# The bug zoo and `allocbench check` over all allocators at full counts.
check-full: build-all
	cmake --build --preset release --target check_full

# Executor, allocators and workloads under AddressSanitizer with UBSan: the quick part of test-sanitizers.
test-asan-device: dependencies
	cmake --preset asan && cmake --build --preset asan-device --parallel $(JOBS) && ctest --preset asan-device --parallel $(JOBS)

# The CPU back end once under AddressSanitizer with UBSan and once under ThreadSanitizer, the latter without the documents:
# their commands have deadlines that a worker ten times slower does not meet.
test-sanitizers: dependencies
	cmake --preset asan && cmake --build --preset asan --parallel $(JOBS) && ctest --preset asan --parallel $(JOBS)
	cmake --preset tsan && cmake --build --preset tsan --parallel $(JOBS) && ctest --preset tsan --parallel $(JOBS)

build: dependencies
	cmake --preset release
	cmake --build --preset programs --parallel $(JOBS)

# With tests and benchmarks.
build-all: dependencies
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS)

dependencies:
	tools/install-dependencies.sh

check-format:
	git ls-files '*.hpp' '*.cpp' '*.cu' | xargs clang-format-14 --dry-run --Werror

clean:
	rm -rf build
