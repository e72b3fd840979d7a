#include "harness/front/cli/results_writer.hpp"

#include <algorithm>
#include <exception>

#include "harness/front/cli/measuring.hpp"

namespace allocbench::front {

ResultsWriter::ResultsWriter() : thread_([this](const std::stop_token& stopped) { work(stopped); }) {}

void ResultsWriter::write_soon(const std::string& folder) {
  {
    const std::scoped_lock lock(mutex_);
    if (std::ranges::find(folders_, folder) != folders_.end()) return;
    folders_.push_back(folder);
  }
  has_work_.notify_one();
}

void ResultsWriter::work(const std::stop_token& stopped) {
  while (true) {
    std::unique_lock lock(mutex_);
    if (!has_work_.wait(lock, stopped, [&] { return !folders_.empty(); })) return;
    const std::string folder = folders_.front();
    folders_.pop_front();
    lock.unlock();
    try {
      write_results_of(folder);
    } catch (const std::exception&) {
    }
    if (stopped.stop_requested()) return;
  }
}

}  // namespace allocbench::front
