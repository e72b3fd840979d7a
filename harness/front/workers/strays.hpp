// This file finds and kills processes that workers leave running. A plug-in may start a daemon (fork twice, setsid),
// which leaves the worker's process group and disturbs all later measurements. As a subreaper this program inherits
// such orphans, so it can find and kill them.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace allocbench::front {

// Marks a process id as that of a worker while this object lives. The first object makes this program a subreaper.
class LiveWorker {
 public:
  explicit LiveWorker(pid_t pid);
  ~LiveWorker();
  LiveWorker(const LiveWorker&) = delete;
  LiveWorker& operator=(const LiveWorker&) = delete;

 private:
  pid_t pid_;
};

// Kills all children that are not live workers, and their descendants. Stops when only children are left that a kill
// does not end within a second, or after 1000 rounds. Returns descriptions of the killed processes, such as
// "sleep (process 4711)".
std::vector<std::string> kill_strays();

}  // namespace allocbench::front
