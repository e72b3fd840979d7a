#include "workloads/join/join_steps_impl.hpp"
