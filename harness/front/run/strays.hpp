// Processes that workers leave behind. A plug-in may start a daemon (fork twice, setsid) that leaves its process group
// and disturbs every later measurement. As a subreaper this program inherits such orphans, finds and kills them.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace allocbench::front {

// A process id that belongs to a worker as long as this lives. The first one makes this program a subreaper.
class LiveWorker {
 public:
  explicit LiveWorker(pid_t pid);
  ~LiveWorker();
  LiveWorker(const LiveWorker&) = delete;
  LiveWorker& operator=(const LiveWorker&) = delete;

 private:
  pid_t pid_;
};

// Kills all children that are not live workers, and theirs, until none is left. Returns what they were:
// "sleep (process 4711)".
std::vector<std::string> kill_strays();

}  // namespace allocbench::front
