// The execution of a verbs program as a graph: what its trace recorded, and what is ordered before what.
//
// Events are the subevents of the trace and those of queues (trace/verbs.hpp), one for each word. Each has a point at
// which it starts and one at which it finishes; what reads, waits or takes something does both at once (Inst). An edge
// of `ib`, issued before, leads from start to start, one of `so`, synchronised before, from finish to finish: so that
// [Inst];ib is in `so` by itself. docs/verbs.md has the table of cells and its sources.
// Near-linear in the trace. A pure function of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/verbs/stamps.hpp"
#include "trace/trace.hpp"

namespace loco::model::verbs {

/// Of an event.
using Kind = VerbsStamp;
[[nodiscard]] constexpr bool of_queue_pair(Kind k) { return k >= Kind::aNLR && k != Kind::aRP; }
/// Does it start and finish at once?
[[nodiscard]] constexpr bool instant(Kind k) {
  return k != Kind::aCW && k != Kind::aNRW && k != Kind::aNLW && k != Kind::aRP && k != Kind::aRC && k != Kind::aSC;
}
[[nodiscard]] constexpr bool writes(Kind k) {
  return k == Kind::aCW || k == Kind::aCAS || k == Kind::aNRW || k == Kind::aNLW;
}
[[nodiscard]] constexpr bool reads(Kind k) {
  return k == Kind::aCR || k == Kind::aCAS || k == Kind::aNLR || k == Kind::aNRR || k == Kind::aNAR;
}

inline constexpr std::uint32_t kNone = trace::Verbs::kNone;

struct Event {
  Kind kind = Kind::aCR;
  bool device = false;           ///< its word is in a NIC's memory
  bool relaxed = false;          ///< its word is in a region with relaxed ordering
  bool flag = false;             ///< its word is one by which something is told
  bool payload = false;          ///< aNRW of a SEND
  std::uint32_t thread = kNone;  ///< whose call it is
  std::uint32_t call = 0;        ///< of the trace, from 1; 0: of none
  std::uint32_t request = kNone;
  std::uint32_t item = kNone;  ///< aRP: index of the receive; aRX: message; aRC, aSC: entry; aWT: poll; else subevent
  std::uint32_t node = 0;
  std::uint64_t address = 0;
  std::uint64_t value = 0;
};

enum class Edge : std::uint8_t {
  ppo,
  ippo,
  iso,
  rf,
  rb,
  mo,
  nfo,
  rao,
  matching,
  poll,
  receive_order,
  completion_order,
  starts
};
[[nodiscard]] std::string_view name(Edge edge);

/// The purpose of a graph. A verdict needs every relation of the run; races need the orders that hold in every run
/// (`hb0`), without mo, rb, nfo, rao, rqo, rco, co and without rf except on flags.
enum class Scope : std::uint8_t { run, program };

class Graph {
 public:
  /// Throws std::invalid_argument for a trace that is none of a verbs program.
  Graph(const trace::Trace& trace, Scope scope);

  [[nodiscard]] const trace::Trace& trace() const { return *trace_; }
  [[nodiscard]] const trace::Verbs& verbs() const { return *trace_->verbs; }
  [[nodiscard]] const std::vector<Event>& events() const { return events_; }
  [[nodiscard]] std::uint32_t event_of_poll(std::uint32_t poll) const { return of_poll_[poll]; }
  [[nodiscard]] std::uint32_t event_of_receive(std::uint32_t receive) const { return of_receive_[receive]; }
  /// Events of a request, or of a call.
  [[nodiscard]] std::span<const std::uint32_t> of_request(std::uint32_t request) const { return of_request_[request]; }

  struct Question {
    std::uint32_t from = 0, to = 0;  ///< events
    bool yes = false;
  };
  /// Answers whether the one is so-before the other, for all of them.
  void ask(std::vector<Question>& questions) const;

  struct Step {
    std::uint32_t event = 0;  ///< kNone: a joint of several events
    Edge edge = Edge::ppo;    ///< that leaves it for the next step
  };
  /// A cycle, if there is one.
  [[nodiscard]] std::optional<std::vector<Step>> cycle() const;

 private:
  struct Arc {
    std::uint32_t to = 0;
    Edge edge = Edge::ppo;
  };
  /// Points: 2 * event is its start, 2 * event + 1 its finish; of instant events both are the same. Joints behind them.
  [[nodiscard]] std::uint32_t start(std::uint32_t e) const { return 2 * e; }
  [[nodiscard]] std::uint32_t finish(std::uint32_t e) const { return instant(events_[e].kind) ? 2 * e : 2 * e + 1; }
  std::uint32_t joint();
  void arc(std::uint32_t from, std::uint32_t to, Edge edge) { arcs_[from].push_back({to, edge}); }
  void issued(std::uint32_t a, std::uint32_t b, Edge edge) { arc(start(a), start(b), edge); }
  /// In both orders.
  void both(std::uint32_t a, std::uint32_t b, Edge edge);

  void collect();
  void collect_requests(std::vector<std::uint32_t>& request_of_call, std::vector<std::uint32_t>& poll_of_call);
  void mark_flags();
  void order_threads();
  void order_queue_pairs();
  void order_requests();
  void order_request(std::uint32_t request);
  void order_queues();
  void order_reads();
  void order_memory();
  void order_flushes();
  void order_atomics();
  struct Frontier;
  Frontier behind(const std::vector<std::uint32_t>& events, const Frontier& before);
  void after(const Frontier& before, std::uint32_t event, bool both);

  const trace::Trace* trace_;
  Scope scope_;
  std::vector<Event> events_;
  std::vector<std::uint32_t> of_subevent_;  ///< event of a subevent, from 1; kNone: it has none
  std::vector<std::uint32_t> of_poll_, of_receive_, of_message_, of_entry_;
  std::vector<std::vector<std::uint32_t>> of_request_;
  std::vector<std::vector<Arc>> arcs_;
};

}  // namespace loco::model::verbs
