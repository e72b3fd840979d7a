#include "workloads/kd_tree/build_memory_impl.hpp"
