// TraceRecorder owns the memory of a TraceLedger and adds its records to a trace, kernel by kernel.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "allocators/support/adaptors/trace_ledger.hpp"
#include "allocators/support/contract/allocator.hpp"
#include "allocators/support/contract/arena.hpp"
#include "traces/trace.hpp"

namespace allocbench {

struct TraceOptions {
  // The buffers have room for this number of calls of one kernel. Calls that find no room are lost and counted.
  std::uint32_t calls_per_kernel = 1u << 20;
  bool clocks = false;
};

class TraceRecorder {
 public:
  // Allocates the buffers. The allocator's blocks are in `pool`, at distances that are multiples of `alignment`, a
  // power of two. Takes device memory: at least 24 B for each of `calls_per_kernel`, and 4 B for each possible block
  // address. Throws simt::Fault if the memory is exhausted.
  TraceRecorder(simt::Stream& stream, const Pool& pool, std::uint32_t alignment, const TraceOptions& options)
      : stream_(stream),
        buffers_(std::clamp(options.calls_per_kernel / TraceLedger::chunk_records, 1u, most_buffers)),
        chunks_(options.calls_per_kernel / TraceLedger::chunk_records + 1 + buffers_),
        records_(std::size_t{chunks_} * TraceLedger::chunk_records),
        heads_(std::size_t{buffers_} * TraceLedger::words_apart),
        next_chunk_(1),
        lost_(1),
        owners_((pool.bytes + alignment - 1) / alignment) {
    ledger_.records = records_.data();
    ledger_.heads = heads_.data();
    ledger_.next_chunk = next_chunk_.data();
    ledger_.lost = lost_.data();
    ledger_.owners = owners_.data();
    ledger_.pool_begin = reinterpret_cast<std::uint64_t>(pool.base);
    ledger_.pool_end = ledger_.pool_begin + pool.bytes;
    ledger_.log_granule = static_cast<std::uint32_t>(std::countr_zero(alignment));
    ledger_.chunks = chunks_;
    ledger_.buffers = buffers_;
    ledger_.has_clocks = options.clocks;
    trace_.has_clocks = options.clocks;
    owners_.fill_bytes(stream_, 0);
    empty_buffers();
  }

  // Returns the ledger for the next kernel. Get a new ledger after each end_kernel().
  const TraceLedger& ledger() const { return ledger_; }

  // Waits for the kernels since the last end_kernel() and adds their calls to the trace as one kernel. Each of these
  // kernels must have the shape `shape`. Throws traces::TraceError if the trace becomes too long.
  void end_kernel(std::string name, simt::LaunchShape shape) {
    const std::uint32_t used = std::min(chunks_, next_chunk_.to_host(stream_).front()) * TraceLedger::chunk_records;
    std::vector<TraceRecord> records(used);
    if (used != 0) simt::copy_to_host(stream_, records.data(), records_.data(), used * sizeof(TraceRecord));
    const std::uint64_t lost = lost_.to_host(stream_).front();
    const std::size_t begin = trace_.calls.size();
    append(records);
    trace_.kernels.push_back(
        {std::move(name), shape.blocks, shape.threads_per_block, trace_.calls.size() - begin, lost});
    if (traces::no_block - ledger_.first - used <= records_.size()) {
      throw traces::TraceError("a trace has at most " + std::to_string(traces::no_block) + " calls");
    }
    ledger_.first += used;
    empty_buffers();
  }

  const traces::Trace& trace() const { return trace_; }
  traces::Trace& trace() { return trace_; }

 private:
  void empty_buffers() {
    records_.fill_bytes(stream_, 0xff);
    heads_.fill_bytes(stream_, 0);
    next_chunk_.fill_bytes(stream_, 0);
    lost_.fill_bytes(stream_, 0);
  }

  void append(const std::vector<TraceRecord>& records) {
    std::vector<std::uint32_t> order;
    std::uint64_t start = ~std::uint64_t{0};
    for (std::uint32_t i = 0; i < records.size(); ++i) {
      if (records[i].thread == TraceRecord::unused) continue;
      order.push_back(i);
      start = std::min(start, records[i].clock);
    }
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return records[i].thread; });
    auto call = static_cast<std::uint32_t>(trace_.calls.size());
    for (const std::uint32_t i : order) {
      if ((records[i].call & 0xff) == TraceRecord::malloc) made_by_.emplace(ledger_.first + i + 1, call);
      ++call;
    }
    for (const std::uint32_t i : order) add(records[i], start);
  }

  void add(const TraceRecord& record, std::uint64_t start) {
    traces::Call call{.thread = record.thread, .block = traces::no_block};
    if (trace_.has_clocks) {
      call.clock = static_cast<std::uint32_t>(std::min<std::uint64_t>(record.clock - start, traces::no_block));
    }
    call.alignment = static_cast<std::uint8_t>(record.call >> 8);
    const std::uint32_t kind = record.call & 0xff;
    if (kind == TraceRecord::free) {
      call.operation = traces::Operation::free;
      const auto made = made_by_.find(static_cast<std::uint32_t>(record.value));
      if (made != made_by_.end()) {
        call.block = made->second;
        made_by_.erase(made);
      }
    } else {
      call.bytes = record.value;
      if (kind == TraceRecord::malloc) call.block = static_cast<std::uint32_t>(trace_.calls.size());
    }
    trace_.calls.push_back(call);
  }

  static constexpr std::uint32_t most_buffers = 4096;

  simt::Stream& stream_;
  std::uint32_t buffers_;
  std::uint32_t chunks_;  // the last chunk of a buffer may be almost empty
  simt::Buffer<TraceRecord> records_;
  simt::Buffer<std::uint64_t> heads_;
  simt::Buffer<std::uint32_t> next_chunk_;
  simt::Buffer<std::uint64_t> lost_;
  simt::Buffer<std::uint32_t> owners_;
  TraceLedger ledger_;
  traces::Trace trace_;
  // For each live block, this map gives the number of the malloc in the trace. The key is the number of the malloc's
  // record plus one.
  std::unordered_map<std::uint32_t, std::uint32_t> made_by_;
};

}  // namespace allocbench
