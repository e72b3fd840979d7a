// Ctrl-C once: stop at the next possible point and write the results. Ctrl-C twice: exit immediately.
#pragma once

#include <sys/types.h>

namespace allocbench::front {

// Handles SIGINT, SIGTERM and SIGHUP (a closed terminal, a cluster's time limit) in the same way. Under nohup SIGHUP
// stays ignored.
void install_interrupt_handlers();

bool interrupted();

// The process group that a second signal also kills; 0 = none.
void set_group_to_kill(pid_t group);
// That group has ended. A newer group is not changed.
void clear_group_to_kill(pid_t group);

}  // namespace allocbench::front
