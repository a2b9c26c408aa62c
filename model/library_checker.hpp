// One checker a library, all behind one narrow interface.
//
// A checker is shown the events of its library, thread by thread in program order, and answers with the edges of
// its `so` (rdmawait: of `ib` too) and with violations of its predicates. Program order is not its business: the
// driver (level_run.hpp) adds ppo for all libraries alike. A new library is a new subclass, its stamps in
// level.hpp, and a line in make_checker.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/check.hpp"
#include "model/event.hpp"
#include "model/level.hpp"
#include "model/order.hpp"

namespace loco::model {

/// Where checkers report violated predicates. Keeps the first few, counts all.
class Reports {
 public:
  explicit Reports(std::size_t max) : max_(max) {}
  /// `message` makes the text; it is called only when the violation is kept.
  template <class Message>
  void add(Rule rule, Message message) {
    if (violations_.size() < max_) violations_.push_back({rule, message(), {}});
    ++total_;
    if (rule == Rule::budget) ++given_up_;
  }
  [[nodiscard]] bool wanted() const { return violations_.size() < max_; }
  [[nodiscard]] std::size_t total() const { return total_; }
  /// Is all that was found that something could not be decided?
  [[nodiscard]] bool undecided() const { return total_ > 0 && given_up_ == total_; }
  [[nodiscard]] std::vector<Violation>& violations() { return violations_; }

 private:
  std::size_t max_;
  std::size_t total_ = 0;
  std::size_t given_up_ = 0;  ///< of the total: questions that were too large
  std::vector<Violation> violations_;
};

/// The level under check, its order, and the list of violations that a checker adds to. Outlives the checker.
struct CheckContext {
  const TraceIndex& index;
  Level& level;
  Order& order;
  Reports& reports;

  /// Gives the event a subevent that nothing recorded stands for.
  void synthesise(Event& event, Stamp stamp, std::uint32_t peer, Seq when) const {
    const Point at = order.synthesise(event.id, stamp, peer, when);
    event.nodes.push_back({0, stamp, peer, at, at});
  }
  /// Gives the event those subevents of its implementation that stand for its own. Returns when the implementation's
  /// last wait finished; `otherwise` where it has none.
  Seq take_visible(Event& event, Seq otherwise) const {
    const std::uint32_t visible = visible_stamps(event.call->library, event.call->method);
    for (const CallId call : event.calls)
      for (const SubeventId id : index.subevents_of(call)) {
        const Kind s = index.kind(id);
        if (s.stamp == Stamp::aWT) otherwise = index.subevent(id).finish;
        if ((visible >> static_cast<unsigned>(s.stamp) & 1U) == 0) continue;
        const Point at = order.finish(id);
        event.nodes.push_back({id, s.stamp, s.peer, at, at});
      }
    return otherwise;
  }
};

class LibraryChecker {
 public:
  virtual ~LibraryChecker() = default;
  virtual void begin_thread(std::uint32_t /*thread*/) {}
  /// Gives the event its subevents: those of the implementation that stand for them, or synthesised ones.
  virtual void subevents(Event& event) = 0;
  /// An event of this library; ppo edges into its subevents have been added. Adds all edges into its starts.
  virtual void visit(Event& event) = 0;
  /// All threads have been shown.
  virtual void finish() {}
};

[[nodiscard]] std::unique_ptr<LibraryChecker> make_rdmawait_checker(const CheckContext& context);
[[nodiscard]] std::unique_ptr<LibraryChecker> make_sv_checker(const CheckContext& context);
[[nodiscard]] std::unique_ptr<LibraryChecker> make_bal_checker(const CheckContext& context);
[[nodiscard]] std::unique_ptr<LibraryChecker> make_rbl_checker(const CheckContext& context);
[[nodiscard]] std::unique_ptr<LibraryChecker> make_msw_checker(const CheckContext& context);

}  // namespace loco::model
