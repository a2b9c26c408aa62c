#include "loco_sim/workloads/flows/arrivals.hpp"

#include <algorithm>
#include <queue>
#include <string>

#include "fabric/topology/reports.hpp"

namespace loco::workloads::flows {

namespace {
__extension__ using Wide = unsigned __int128;

/// The receivers of each host, which it sends to in turn; empty: none.
std::vector<std::vector<NodeId>> receivers_of(const FlowRule& rule) {
  const std::uint32_t n = rule.nodes;
  std::vector<std::vector<NodeId>> to(n);
  switch (rule.pattern) {
    case Pattern::incast: {
      const std::uint32_t senders = rule.senders == 0 ? n - 1 : rule.senders;
      for (std::uint32_t k = 1; k <= senders; ++k) to[(rule.receiver + k) % n] = {rule.receiver};
      break;
    }
    case Pattern::permutation:
      for (const auto& flow : fabric::topology::permutation_pattern(n, rule.seed)) to[flow.source] = {flow.destination};
      break;
    case Pattern::shift:
      for (NodeId s = 0; s < n; ++s) to[s] = {(s + rule.shift) % n};
      break;
    case Pattern::all_to_all:
    case Pattern::random:
      for (NodeId s = 0; s < n; ++s)
        for (std::uint32_t k = 1; k < n; ++k) to[s].push_back((s + k) % n);
      break;
    case Pattern::victim:
      for (NodeId s = 2; s + 1 < n; ++s) to[s] = {0};
      to[n - 1] = {1};
      break;
  }
  return to;
}

class Source {
 public:
  Source(NodeId node, const std::vector<NodeId>& to, const FlowRule& rule)
      : node_(node),
        to_(to),
        drawn_(rule.pattern == Pattern::random),
        draws_(sim::Stream(rule.seed, "traffic.flows").derive("host " + std::to_string(node))) {}

  [[nodiscard]] std::size_t receivers() const { return drawn_ ? 1 : to_.size(); }

  Flow next(const SizeDistribution& sizes, std::int64_t start) {
    const std::size_t which = drawn_ ? draws_.below(to_.size()) : turn_++ % to_.size();
    return {.source = node_, .destination = to_[which], .bytes = sizes.draw(draws_), .start_ps = start};
  }

  /// An exponential gap in picoseconds with the mean that gives the rule's load of the port for messages of this mean
  /// size.
  std::int64_t gap(const FlowRule& rule, std::uint64_t mean_thousandths) {
    const std::uint64_t log = negative_log(std::max<std::uint64_t>(1, draws_()));
    constexpr std::uint64_t kBitsPs = std::uint64_t{8} * 1'000'000'000'000U;  // of a byte at one bit per second
    const Wide ps = static_cast<Wide>(mean_thousandths) * kBitsPs / rule.port_rate / rule.load_thousandths;
    return static_cast<std::int64_t>(ps * log >> 32U);
  }

 private:
  NodeId node_;
  const std::vector<NodeId>& to_;
  bool drawn_;
  sim::Stream draws_;
  std::size_t turn_ = 0;
};

class Generator {
 public:
  Generator(const FlowRule& rule, const SizeDistribution& sizes)
      : rule_(rule), sizes_(sizes), to_(receivers_of(rule)), mean_(sizes.mean_thousandths()) {
    for (NodeId n = 0; n < rule.nodes; ++n)
      if (!to_[n].empty()) sources_.emplace_back(n, to_[n], rule);
  }

  FlowList run() {
    if (rule_.arrivals == Arrivals::poisson) {
      poisson();
    } else {
      rounds();
    }
    for (std::size_t i = 0; i < list_.flows.size(); ++i) list_.flows[i].id = i + 1;
    return std::move(list_);
  }

 private:
  [[nodiscard]] bool full() const { return rule_.count != 0 && list_.flows.size() == rule_.count; }

  void rounds() {
    const bool once = rule_.count == 0 && rule_.until_ps == std::numeric_limits<std::int64_t>::max();
    for (std::int64_t at = 0; at <= rule_.until_ps && !full(); at += rule_.every_ps) {
      for (Source& source : sources_)
        for (std::size_t k = 0; k < source.receivers() && !full(); ++k) list_.flows.push_back(source.next(sizes_, at));
      if (once || (rule_.every_ps == 0 && rule_.count == 0)) return;
    }
  }

  void poisson() {
    using Next = std::pair<std::int64_t, std::size_t>;  // the time of its next flow, and the source
    std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
    for (std::size_t i = 0; i < sources_.size(); ++i) next.emplace(sources_[i].gap(rule_, mean_), i);
    while (!full() && next.top().first <= rule_.until_ps) {
      const auto [at, i] = next.top();
      next.pop();
      list_.flows.push_back(sources_[i].next(sizes_, at));
      next.emplace(at + sources_[i].gap(rule_, mean_), i);
    }
  }

  const FlowRule& rule_;
  const SizeDistribution& sizes_;
  std::vector<std::vector<NodeId>> to_;
  std::uint64_t mean_;
  std::vector<Source> sources_;
  FlowList list_;
};

}  // namespace

FlowList generate(const FlowRule& rule, const SizeDistribution& sizes) { return Generator(rule, sizes).run(); }

}  // namespace loco::workloads::flows
