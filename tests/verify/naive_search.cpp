#include "tests/verify/naive_search.hpp"

#include <algorithm>
#include <deque>
#include <set>
#include <string>
#include <utility>

#include "verify/semantics.hpp"

namespace loco::test {

using namespace loco::verify;

namespace {

std::string key(const State& state) {
  std::string key;
  for (const std::uint32_t at : state.at) key += std::to_string(at) + ',';
  for (const Integer& v : state.shared) key += v.str() + ',';
  for (const Integer& v : state.locals) key += v.str() + ',';
  for (const PendingOperation& o : state.pending)
    key += std::to_string(o.statement) + ':' + std::to_string(static_cast<int>(o.next)) + ':' + o.operand.str() + ':' +
           o.swap.str() + ':' + o.result.str() + ';';
  return key;
}

}  // namespace

Naive naive_search(const Program& program, const FlushMask& flushes, Network network, std::size_t states_max,
                   std::size_t pending_max) {
  const Semantics semantics(program, flushes, network);
  Naive result;
  std::set<std::string> seen;
  std::deque<std::pair<State, std::size_t>> queue{{semantics.initial(), 0}};
  result.broken = semantics.broken_in(queue.front().first).has_value();
  while (!queue.empty() && !result.broken) {
    const auto [state, steps] = std::move(queue.front());
    queue.pop_front();
    for (const Step& step : semantics.steps(state)) {
      const State next = semantics.after(state, step);
      result.steps = steps + 1;
      result.broken = semantics.broken_by(state, step) || semantics.broken_in(next);
      if (result.broken) break;
      if (next.pending.size() > pending_max || seen.size() >= states_max) {
        result.complete = false;
      } else if (seen.insert(key(next)).second) {
        queue.emplace_back(next, steps + 1);
      }
    }
  }
  return result;
}

}  // namespace loco::test
