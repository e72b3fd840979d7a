#include "workloads/group/group_steps_impl.hpp"
