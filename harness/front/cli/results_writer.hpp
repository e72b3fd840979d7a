// ResultsWriter makes results from logs in a background thread. With thousands of rounds this takes seconds, and
// without the thread the workers would wait.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

namespace allocbench::front {

class ResultsWriter {
 public:
  ResultsWriter();
  // Waits for the current folder and skips the remaining folders, because the end of a run writes all results anyway.
  ~ResultsWriter() = default;
  ResultsWriter(const ResultsWriter&) = delete;
  ResultsWriter& operator=(const ResultsWriter&) = delete;

  // Writes the results of this folder soon, from the log as it is then. If writing fails, the next call tries again.
  // The end of a run writes the last results in the foreground, and reports errors.
  void write_soon(const std::string& folder);

 private:
  void work(const std::stop_token& stopped);

  std::mutex mutex_;
  std::condition_variable_any has_work_;
  std::deque<std::string> folders_;  // folders to write, without duplicates
  std::jthread thread_;              // last member, so that the thread ends before the data that it uses
};

}  // namespace allocbench::front
