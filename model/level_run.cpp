#include "model/level_run.hpp"

#include <array>
#include <memory>

#include "model/program_order.hpp"

namespace loco::model {
namespace {

constexpr std::size_t kCheckers = static_cast<std::size_t>(Library::kvstore) + 1;

std::unique_ptr<LibraryChecker> make_checker(Library library, const CheckContext& context) {
  switch (library) {
    case Library::rdmawait:
      return make_rdmawait_checker(context);
    case Library::sv:
      return make_sv_checker(context);
    case Library::bal:
      return make_bal_checker(context);
    case Library::rbl:
      return make_rbl_checker(context);
    case Library::msw:
      return make_msw_checker(context);
    default:
      return nullptr;
  }
}

class LevelRun {
 public:
  LevelRun(Level& level, Order& order, Reports& reports, std::span<const StampPair> without)
      : context_{level.index(), level, order, reports},
        program_order_(order, level.index().trace().nodes, without),
        after_failure_(order, level.index().trace().nodes, without) {
    for (std::size_t l = 0; l < kCheckers; ++l)
      if ((level.libraries() >> l & 1U) != 0) checkers_[l] = make_checker(static_cast<Library>(l), context_);
  }

  LevelCounts run() {
    const auto threads = static_cast<std::uint32_t>(context_.index.trace().threads.size());
    for (std::uint32_t t = 0; t < threads; ++t) thread(t);
    for (const auto& checker : checkers_)
      if (checker) checker->finish();
    return counts_;
  }

 private:
  void thread(std::uint32_t t) {
    program_order_.begin_thread();
    gave_up_ = context_.index.gave_up(t);
    if (gave_up_ != kNever) after_failure_.begin_thread();
    for (const auto& checker : checkers_)
      if (checker) checker->begin_thread(t);
    const std::span<const CallId> calls = context_.index.calls_of(t);
    for (std::size_t first = 0; first < calls.size();) {
      const CallId event = context_.level.event_of(calls[first]);
      std::size_t last = first + 1;
      if (event != 0) {  // the calls below it follow it directly
        while (last < calls.size() && context_.level.event_of(calls[last]) == event) ++last;
        visit(event, t, calls.subspan(first, last - first));
      }
      first = last;
    }
  }

  void visit(CallId id, std::uint32_t t, std::span<const CallId> calls) {
    event_.id = id;
    event_.thread = t;
    event_.call = &context_.index.call(id);
    event_.calls = calls;
    event_.nodes.clear();
    LibraryChecker& checker = *checkers_[static_cast<std::size_t>(event_.call->library)];
    checker.subevents(event_);
    context_.index.poll(1 + event_.nodes.size());
    counts_.subevents += event_.nodes.size();
    const bool issue = event_.call->library == Library::rdmawait;
    const bool fails = gave_up_ != kNever;
    if (fails)
      for (Node& node : event_.nodes)
        node.given_up = node.subevent != 0 && is_given_up(context_.index.subevent(node.subevent));
    ProgramOrder& before = fails && event_.call->begin >= gave_up_ ? after_failure_ : program_order_;
    before.enter(event_, issue);
    checker.visit(event_);
    program_order_.leave(event_, issue);
    if (fails) {
      std::erase_if(event_.nodes, [](const Node& node) { return node.given_up; });
      after_failure_.leave(event_, issue);
    }
    ++counts_.calls;
  }

  CheckContext context_;
  ProgramOrder program_order_;
  // Program order without the operations that failed and whose failure the thread was told: its later calls are not
  // ordered behind them.
  ProgramOrder after_failure_;
  Seq gave_up_ = kNever;  // when the thread at hand was first told so
  std::array<std::unique_ptr<LibraryChecker>, kCheckers> checkers_;
  Event event_;
  LevelCounts counts_;
};

}  // namespace

LevelCounts run_level(Level& level, Order& order, Reports& reports, std::span<const StampPair> without) {
  return LevelRun(level, order, reports, without).run();
}

}  // namespace loco::model
