// nfo: the NIC flush order (LOCO paper, Appendix G.2). PCIe reads push earlier posted writes, so for each thread
// and remote node every pair (aNLR, aNLW) and every pair (aNRR, aNRW) is ordered one way or the other.
//
// The trace says which: a write that finished before the read was flushed by it; any other write is issued after
// the read. Walking both by time, a chain of the writes finished so far precedes each read, and a chain of the
// reads made so far precedes each write's start: all pairs, in linear space. What had not begun when the run ended is
// after all that had, and in no order among itself.
#pragma once

#include <cstdint>
#include <vector>

#include "model/library_checker.hpp"

namespace loco::model {

class NicFlushOrder {
 public:
  explicit NicFlushOrder(const CheckContext& context)
      : context_(&context), pairs_(std::size_t{2} * context.index.trace().nodes) {}

  /// Walks the thread's NIC accesses by time and adds the edges into its reads.
  void begin_thread(std::uint32_t thread);
  /// For the thread's aNLW and aNRW in program order: the point before which they cannot be issued.
  [[nodiscard]] Point next_write() { return before_write_[next_++]; }

 private:
  struct Item {
    std::uint64_t when = 0;  // position of its finish
    SubeventId id = 0;
    std::uint32_t write = 0;  // number of the write in the thread + 1; 0 for reads
  };

  void walk(std::vector<Item>& items);

  const CheckContext* context_;
  std::vector<std::vector<Item>> pairs_;  // 2n: local accesses of operations with node n; 2n+1: remote ones
  std::vector<std::uint32_t> touched_;
  std::vector<Point> before_write_;
  std::size_t next_ = 0;
};

}  // namespace loco::model
