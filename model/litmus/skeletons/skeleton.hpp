// What a program does before any value is known: for each way through each thread's code, its events and
// subevents (LOCO paper, Section 3.1), with the values they write as expressions over the values they read.
//
// A way through the code (a ThreadPath) fixes every branch, whether each CAS succeeds, whether each submit is
// accepted and each receive or tryread finds something; the conditions that these choices put on the values read
// are part of the path. A Skeleton joins one path of each thread. Models (axioms.hpp) and the search (search.hpp)
// work on skeletons; subevents are numbered from 0, thread by thread, in program order.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "model/litmus/language/program.hpp"
#include "model/litmus/skeletons/relation.hpp"
#include "model/stamps.hpp"
#include "model/trace.hpp"
#include "model/verbs/stamps.hpp"

namespace loco::model::litmus {

/// coreRMA's kinds of action (paper, Section 4); `none` in the LOCO models, which use stamps.
enum class Action : std::uint8_t { none, r, w, er, ew, erw, flush };

struct SubEvent {
  Stamp stamp = Stamp::aMF;
  Action action = Action::none;
  Library library = Library::rdmawait;
  bool reads = false;   ///< reads memory: a member of R
  bool writes = false;  ///< writes memory: a member of W
  bool atomic = true;   ///< coreRMA
  bool fused = false;   ///< an aNAR that is the aNRW, too (atomics of the whole system: --variant global-atomics)
  std::int16_t thread = 0;
  std::int16_t event = 0;              ///< index into the path's (then the skeleton's) events
  std::int32_t node = 0;               ///< the n of a family stamp; coreRMA: the process on whose memory it acts
  std::int32_t cell = kNone;           ///< the copy of a location it accesses
  std::int16_t value = kNone;          ///< writes: the value, an index into the path's symbols
  VerbsStamp verbs = VerbsStamp::aMF;  ///< model `verbs`, of posts and polls: in place of `stamp`
  std::int16_t queue = kNone;          ///< model `verbs`: the queue pair that it belongs to
};

/// A value as a function of the values read on the same path.
struct Symbol {
  enum class Kind : std::uint8_t { constant, read, op, select } kind = Kind::constant;
  ExprOp op = ExprOp::constant;
  Value constant = 0;
  int a = kNone;  ///< read: the subevent (of the path); op, select: symbols
  int b = kNone;
  int c = kNone;   ///< select: `a` if it is not 0 gives `b`, else `c`
  int weight = 1;  ///< nodes of the expression as a tree: the cost of evaluating it
};

struct Condition {
  int symbol = 0;
  bool holds = true;  ///< must the symbol's value be other than 0?
};

struct EventInfo {
  int thread = 0;
  int instruction = 0;
  int first = 0;  ///< its subevents are [first, first + count)
  int count = 0;
  Value result = 0;  ///< submit, receive, tryread: kTrue, kFalse, kEmpty, kBottom as chosen by the path
};

struct ThreadPath {
  std::vector<EventInfo> events;
  std::vector<SubEvent> subevents;
  std::vector<Symbol> symbols;
  std::vector<Condition> conditions;
  std::vector<int> registers;  ///< final value of each register, symbols
  std::vector<int> violated;   ///< instructions whose assertion fails on this path
};

/// Copies of locations ("cells"): one for a word or a tuple, one per node for a shared location.
class Cells {
 public:
  explicit Cells(const Program& program);
  [[nodiscard]] int count() const { return len(location_); }
  /// The copy that accesses on `node` touch (words and tuples have one).
  [[nodiscard]] int cell(int location, int node) const;
  [[nodiscard]] int location(int cell) const { return at(location_, cell); }
  [[nodiscard]] int node(int cell) const { return at(node_, cell); }
  [[nodiscard]] Value init(int cell) const { return at(init_, cell); }

 private:
  std::vector<int> first_;  // per location
  std::vector<int> location_;
  std::vector<int> node_;
  std::vector<Value> init_;
};

struct PathOptions {
  bool core_rma = false;
  bool transitive_barriers = false;  ///< every barrier is
  bool global_atomics = false;       ///< a remote atomic reads and writes at once
  int loop_bound = 4;                ///< times that control may go back to the head of a loop
  int paths_max = 20'000;            ///< per thread
  int symbols_max = 1'000'000;       ///< of all paths of a thread together
  int weight_max = 500;              ///< of one value
};

/// A thread's code has at most so many symbols on one way through it: SubEvent::value numbers them with 16 bits.
inline constexpr int kPathSymbolsMax = 4000;

/// Why ways through the code were left out, beside the loop bound.
struct TooLarge {
  int subevents = 0;        ///< of the largest way, or way to join the threads', that has more than kSubeventsMax
  bool paths = false;       ///< a thread has more than PathOptions::paths_max, or symbols_max in all
  bool arithmetic = false;  ///< values are longer expressions than PathOptions::weight_max or kPathSymbolsMax allow

  [[nodiscard]] bool any() const { return subevents > 0 || paths || arithmetic; }
  void unite(const TooLarge& other) {
    subevents = std::max(subevents, other.subevents);
    paths = paths || other.paths;
    arithmetic = arithmetic || other.arithmetic;
  }
  /// Names each limit that was reached, its unit and the amount.
  [[nodiscard]] std::string text() const;
};

struct ThreadPaths {
  std::vector<ThreadPath> paths;
  bool cut_loops = false;  ///< a path was cut at the loop bound
  TooLarge too_large;      ///< paths were left out at one of the other limits
};

/// Every way through the thread's code.
[[nodiscard]] ThreadPaths enumerate_paths(const Program& program, const Cells& cells, int thread,
                                          const PathOptions& options);

struct VerbsFacts;

struct Skeleton {
  const Program* program = nullptr;
  const VerbsFacts* facts = nullptr;  ///< of model `verbs` (verbs/skeletons.hpp)
  const Cells* cells = nullptr;
  std::vector<const ThreadPath*> paths;  ///< one per thread
  std::vector<int> offset;               ///< first subevent of each thread
  std::vector<EventInfo> events;
  int n = 0;  ///< subevents
  std::array<SubEvent, kSubeventsMax> subevents;

  std::array<Set, kStamps> stamped;  ///< G.aCR, ...
  std::array<Set, 5> libraries;      ///< subevents by library, rdmawait .. msw
  Set reads, writes;                 ///< R and W, of all libraries
  Relation po, ppo;                  ///< on subevents
  Relation weakened;                 ///< pairs that ppo lacks because of their words' regions: they start in order
  Relation same_cell;                ///< pairs that access one cell, identity included

  /// Joins the paths; false if they have more than kSubeventsMax subevents, `n` of them.
  [[nodiscard]] bool build(const Program& p, const Cells& c, const std::vector<const ThreadPath*>& chosen,
                           const StampOrder& order);

  [[nodiscard]] const SubEvent& sub(int i) const { return subevents[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const Set& stamp(Stamp s) const { return stamped[static_cast<std::size_t>(s)]; }
  [[nodiscard]] const Set& library(Library l) const { return libraries[static_cast<std::size_t>(l)]; }
  [[nodiscard]] const EventInfo& event_of(int i) const { return at(events, sub(i).event); }
  [[nodiscard]] const Instruction& instruction(int event) const {
    const EventInfo& e = at(events, event);
    return at(at(program->threads, e.thread).code, e.instruction);
  }
  /// The location that a subevent accesses.
  [[nodiscard]] const Location& location(int i) const { return at(program->locations, cells->location(sub(i).cell)); }
  /// Are the words that two subevents access in one memory of their node, the host's or a device's?
  [[nodiscard]] bool one_memory(int i, int j) const { return location(i).device == location(j).device; }
  /// Subevents of the event with the given stamp.
  [[nodiscard]] Set of_event(int event) const;

 private:
  void join_paths();
  void relate(const StampOrder& order);
  [[nodiscard]] bool region_weakens(int i, int j) const;
};

}  // namespace loco::model::litmus
