// ResultsWriter: makes results from logs beside the measuring. Thousands of rounds take seconds, in which workers would
// wait.
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
  // Waits for the folder at hand and leaves the others: who ends a run writes the results of all anyway.
  ~ResultsWriter() = default;
  ResultsWriter(const ResultsWriter&) = delete;
  ResultsWriter& operator=(const ResultsWriter&) = delete;

  // Of the log in this folder as it is when its turn comes. What cannot be written is tried again by the next call: the
  // last results of a run are written in the foreground, where an error is told.
  void write_soon(const std::string& folder);

 private:
  void work(const std::stop_token& stopped);

  std::mutex mutex_;
  std::condition_variable_any has_work_;
  std::deque<std::string> folders_;  // each once
  std::jthread thread_;              // ends before what it uses
};

}  // namespace allocbench::front
