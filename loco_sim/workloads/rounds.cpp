#include "loco_sim/workloads/rounds.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "fabric/report.hpp"
#include "nic_model/system.hpp"

namespace loco::workloads {

namespace {
/// FastForward::approximate: rounds are alike if their times differ by at most one part in this many.
constexpr std::int64_t kOneIn = 500;

bool alike(FastForward mode, std::int64_t a, std::int64_t b) {
  return mode == FastForward::exact ? a == b : std::abs(a - b) * kOneIn <= std::max(a, b);
}
}  // namespace

Rounds::Round page_period(const nic::HardwareProfile& profile, std::uint64_t bytes) {
  const std::uint64_t page = profile.nic_translation_entries == 0 ? 1 : profile.nic_translation_page.count;
  return static_cast<Rounds::Round>(page / std::gcd(page, bytes));
}

std::uint64_t disturbances(const nic::System& system) {
  const nic::Counters& nics = system.counters();
  std::uint64_t sum = nics.retransmissions + nics.timeouts + nics.rnr_naks + nics.rx_discards + nics.tx_pauses;
  if (const fabric::PacketNetwork* network = system.network().packet_network()) {
    const fabric::LinkCounters links = fabric::totals(*network);
    sum += links.drops + links.marks + links.pauses;
  }
  return sum;
}

Rounds::Rounds(FastForward mode, std::uint32_t nodes, std::vector<Row> rows, Disturbances disturbances)
    : mode_(mode), nodes_(nodes), disturbances_(std::move(disturbances)) {
  if (mode_ != FastForward::off) rows_ = std::move(rows);
}

void Rounds::ended(NodeId node, Round round, std::int64_t now_ps) {
  const auto row = std::ranges::find_if(rows_, [&](const Row& r) { return r.first <= round && round < r.last; });
  if (row == rows_.end()) return;
  Watched& w = watched_[row->first];
  if (w.ends_ps.empty()) {
    w.row = *row;
    w.ends_ps.resize(nodes_);
  }
  std::vector<std::int64_t>& ends = w.ends_ps[node];
  ends.push_back(now_ps);
  if (w.nodes.size() < ends.size()) w.nodes.push_back(0);
  if (++w.nodes[ends.size() - 1] < nodes_) return;
  w.disturbances.push_back(disturbances_());
  ++w.done;
  decide(w);
}

void Rounds::decide(const Watched& w) {
  const Row row = w.row;
  const std::optional<std::int64_t> time = period_ps(w);
  const Round from = front_ + 1;
  const Round periods = time && from + kLast < row.last ? (row.last - kLast - from) / row.period : 0;
  if (periods > 0) gaps_.push_back({.from = from, .to = from + periods * row.period, .time_ps = periods * *time});
  const bool over = periods > 0 || row.first + w.done == row.last;
  if (!over) return;
  watched_.erase(row.first);
  std::erase_if(rows_, [&](const Row& r) { return r.first == row.first; });
}

std::optional<std::int64_t> Rounds::period_ps(const Watched& w) const {
  const Round period = w.row.period, looks = std::max(kAlike, period);
  if (w.done < looks + period) return std::nullopt;
  const Round last = w.done - 1;
  if (mode_ == FastForward::exact && w.disturbances[last] != w.disturbances[last - (looks + period - 1)])
    return std::nullopt;
  const auto took = [&](NodeId node, Round i) { return w.ends_ps[node][i] - w.ends_ps[node][i - period]; };
  std::int64_t sum = 0;
  for (NodeId n = 0; n < nodes_; ++n) {
    for (Round back = 0; back < looks; ++back)
      if (!alike(mode_, took(n, last - back), took(0, last))) return std::nullopt;
    sum += took(n, last);
  }
  return sum / nodes_;
}

std::optional<Rounds::Gap> Rounds::gap_behind(Round round) const {
  const auto found = std::ranges::find(gaps_, round + 1, &Gap::from);
  return found == gaps_.end() ? std::nullopt : std::optional(*found);
}

std::int64_t Rounds::left_out_ps(Round round) const {
  std::int64_t sum = 0;
  for (const Gap& gap : gaps_)
    if (gap.to <= round) sum += gap.time_ps;
  return sum;
}

bool Rounds::leaves_out(Round round) const {
  return std::ranges::any_of(gaps_, [&](const Gap& gap) { return gap.from <= round && round < gap.to; });
}

}  // namespace loco::workloads
