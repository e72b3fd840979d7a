// The first signal that asks the program to end (Ctrl-C, for example) stops the run at the next possible point, and the
// program writes the results. A second signal, unless it is SIGHUP, ends the program immediately.
#pragma once

#include <sys/types.h>

namespace allocbench::front {

// Handles SIGINT, SIGTERM (a cluster's time limit) and SIGHUP (a closed terminal) as the first signal. As the second
// signal, SIGHUP has no effect. Under nohup SIGHUP stays ignored.
void install_interrupt_handlers();

bool interrupted();

// Sets the process group that a second signal also kills; 0 means none.
void set_group_to_kill(pid_t group);
// Clears the group after its end, unless a newer group is set.
void clear_group_to_kill(pid_t group);

}  // namespace allocbench::front
