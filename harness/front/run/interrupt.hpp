// The first Ctrl-C stops the run at the next possible point and writes the results. A second one exits immediately.
#pragma once

#include <sys/types.h>

namespace allocbench::front {

// Handles SIGINT, SIGTERM and SIGHUP (a closed terminal, a cluster's time limit) in the same way. Under nohup SIGHUP
// stays ignored.
void install_interrupt_handlers();

bool interrupted();

// Sets the process group that a second signal also kills; 0 means none.
void set_group_to_kill(pid_t group);
// Clears the group after its end. A newer group is not changed.
void clear_group_to_kill(pid_t group);

}  // namespace allocbench::front
