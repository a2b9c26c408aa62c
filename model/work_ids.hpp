// The operations that a thread has posted under each work id `d` and not yet waited for.
#pragma once

#include <cstdint>

#include "model/flat_map.hpp"
#include "model/order.hpp"

namespace loco::model {

class WorkIds {
 public:
  struct Outstanding {
    Point finished;         ///< after all operations that a wait sees finished
    Point started;          ///< after all operations that a wait sees issued only
    CallId incomplete = 0;  ///< a call that has not written (yet)
  };

  void begin_thread() { table_.clear(); }
  Outstanding& of(std::uint64_t work_id) { return table_[NumberKey{work_id}]; }
  /// Returns and removes the operations that a wait is for: later waits are ordered after this one anyway.
  Outstanding take(std::uint64_t work_id) {
    Outstanding* found = table_.find(NumberKey{work_id});
    if (found == nullptr) return {};
    const Outstanding out = *found;
    *found = {};
    return out;
  }

 private:
  FlatMap<NumberKey, Outstanding> table_;
};

/// The work id of a wait: its subevent's value where one call waits for several, else the call's.
[[nodiscard]] inline std::uint64_t waited_for(const Call& call, const Subevent& wait) {
  return wait.value != 0 ? wait.value : call.work_id;
}

}  // namespace loco::model
