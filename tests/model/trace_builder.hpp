// Builds traces by hand: a memory that knows who wrote each word last, and a clock that ticks with every step.
// A test says which step happens when; what it wants wrong it sets in the trace afterwards.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "model/check.hpp"
#include "model/trace.hpp"

namespace loco::model::test {

struct Place {
  std::uint16_t node = 0;
  std::uint64_t address = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};

class TraceBuilder {
 public:
  /// One thread on each node.
  explicit TraceBuilder(std::uint32_t nodes);

  Trace trace;

  std::uint32_t thread(std::uint32_t node);
  std::uint32_t node_set(std::vector<std::uint32_t> nodes);
  std::uint32_t object(Object object);
  /// The set of all nodes: that of a bcast, gf or barrier for which none is given.
  std::uint32_t everywhere();
  Seq tick() { return ++now_; }

  /// A call that starts now, inside the thread's open one.
  CallId open(std::uint32_t thread, Method method, Call fields = {});
  void close(CallId call, std::uint64_t result = 0);

  // Base calls, and the steps they take. Each returns the new subevent (a call: its id).
  SubeventId write(std::uint32_t thread, Place place, std::uint64_t value);  ///< into the store buffer
  void commit(SubeventId write);                                             ///< a write reaches memory
  SubeventId read(std::uint32_t thread, Place place);                        ///< from memory
  SubeventId read_from(std::uint32_t thread, Place place, SubeventId source);
  SubeventId cas(std::uint32_t thread, Place place, std::uint64_t expected, std::uint64_t desired);
  SubeventId mfence(std::uint32_t thread);
  SubeventId wait(std::uint32_t thread, std::uint64_t work_id);
  SubeventId rfence(std::uint32_t thread, std::uint16_t peer);
  CallId put(std::uint32_t thread, std::uint64_t work_id = 0);
  CallId get(std::uint32_t thread, std::uint64_t work_id = 0);
  SubeventId nlr(CallId put, std::uint16_t peer, Place local);
  SubeventId nrw(CallId put, Place remote);  ///< issued; the value is that of the last aNLR or aNRR
  SubeventId nrr(CallId get, Place remote);
  SubeventId nar(CallId atomic, Place remote);  ///< the next one of its node
  SubeventId nlw(CallId get, std::uint16_t peer, Place local);
  /// A whole put or get, one step after the other.
  CallId put_now(std::uint32_t thread, Place remote, std::uint64_t local, std::uint64_t work_id = 0);
  CallId get_now(std::uint32_t thread, std::uint64_t local, Place remote, std::uint64_t work_id = 0);

  [[nodiscard]] Subevent& at(SubeventId id) { return trace.subevents[id - 1]; }
  [[nodiscard]] Call& call(CallId id) { return trace.calls[id - 1]; }

 private:
  SubeventId add(CallId call, Stamp stamp, std::uint16_t peer, Place place);
  CallId leaf(std::uint32_t thread, Method method, Call fields = {});

  Seq now_ = 0;
  std::uint32_t everywhere_ = 0;
  std::map<Place, SubeventId> memory_;
  std::map<CallId, std::uint64_t> carried_;
  std::map<std::uint16_t, std::uint64_t> atomics_;  // by node
  std::vector<std::vector<CallId>> open_;
};

/// Does the result for the library have the rule, as a predicate or on its cycle?
[[nodiscard]] bool names_rule(const Verdict& verdict, Library library, Rule rule);

}  // namespace loco::model::test
