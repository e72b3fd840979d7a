// Ctrl-C: once = stop at the next possible point and write what exists, twice = leave now.
#pragma once

#include <sys/types.h>

namespace allocbench::front {

// Handles SIGINT, SIGTERM and SIGHUP (a closed terminal, a cluster's end of time) alike. Under nohup SIGHUP stays
// ignored.
void install_interrupt_handlers();

bool interrupted();

// The process group that a second signal takes along; 0 = none.
void set_group_to_kill(pid_t group);
// That group is gone; a newer one stays.
void clear_group_to_kill(pid_t group);

}  // namespace allocbench::front
