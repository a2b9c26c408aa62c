// Linearisability of a key-value store, key by key: keys are independent, so the store is linearisable iff each
// key is (Herlihy and Wing's locality).
#include <algorithm>
#include <tuple>

#include "model/histories.hpp"
#include "model/key_history.hpp"

namespace loco::model {

std::uint64_t check_kvstores(const TraceIndex& index, Reports& reports) {
  const Trace& trace = index.trace();
  std::vector<CallId> calls;
  for (CallId id = 1; id <= trace.calls.size(); ++id)
    if (trace.calls[id - 1].library == Library::kvstore) calls.push_back(id);
  const auto key = [&](CallId id) {
    const Call& c = index.call(id);
    return std::pair(c.object, c.argument);
  };
  std::stable_sort(calls.begin(), calls.end(), [&](CallId a, CallId b) { return key(a) < key(b); });
  for (auto first = calls.begin(); first != calls.end();) {
    const auto last = std::find_if(first, calls.end(), [&](CallId id) { return key(id) != key(*first); });
    const std::span<const CallId> of_key(first, last);
    if (!check_key_by_intervals(index, of_key, reports)) check_key_by_search(index, of_key, reports);
    first = last;
  }
  return calls.size();
}

}  // namespace loco::model
