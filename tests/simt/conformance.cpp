// This is the conformance suite for one back end, which the compiler determines (conformance.hpp).
#include "tests/simt/atomic_tests.hpp"
#include "tests/simt/block_tests.hpp"
#include "tests/simt/family_tests.hpp"
#include "tests/simt/group_tests.hpp"
#include "tests/simt/host_tests.hpp"
