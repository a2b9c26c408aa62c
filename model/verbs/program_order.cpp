// Preserved program order of a verbs program: the cells, along threads and along send queues.
//
// For each kind of event (row) a frontier is kept: points that all earlier events of that kind have behind them. An
// edge from it to a later event is an edge from each of them.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "model/verbs/graph.hpp"

namespace loco::model::verbs {

namespace {

/// Kinds of events of a thread; the others are of a queue pair.
constexpr std::array kOfThread = {Kind::aCR, Kind::aCW, Kind::aCAS, Kind::aMF, Kind::aWT, Kind::aRP};

enum class Order : std::uint8_t { none, issued, both };

Order cell(Kind row, Kind column) {
  const char c = kVerbsOrder.cell(row, column);
  if (c == '.') return Order::none;
  return c == 'I' || c == 'i' ? Order::issued : Order::both;
}

/// The cell of a pair of NIC accesses to different kinds of memory, which are two ordering domains of a node.
bool by_memory(Kind row, Kind column) {
  const bool from_write = row == Kind::aNRW || row == Kind::aNLW;
  const bool later = column == Kind::aNRW || column == Kind::aNLW || column == Kind::aNRR || column == Kind::aNAR;
  return from_write && later;
}

/// The cell as regions, placement and transport leave it (docs/verbs.md, "Regions", "Placement", "UC, UD"). `device`:
/// whether the word of the column's access is in device memory; for the local write of a READ, the word that the READ
/// reads.
Order cell(const trace::Verbs& verbs, trace::Verbs::Transport transport, Kind row, bool row_device, const Event& e,
           bool device) {
  using Transport = trace::Verbs::Transport;
  Order order = cell(row, e.kind);
  if (order == Order::none) return order;
  if (verbs.writes_overtake && row == Kind::aNRW && e.kind == Kind::aNRW) return Order::none;
  if (verbs.reads_as_they_come && row == Kind::aNRW && (e.kind == Kind::aNRR || e.kind == Kind::aNLW))
    return Order::none;
  const auto remote = [](Kind k) { return k == Kind::aNRW || k == Kind::aRX || k == Kind::aRC; };
  if (transport != Transport::rc && e.kind == Kind::aSC && remote(row)) return Order::none;
  const bool arrives = remote(row) || e.kind == Kind::aRX || e.kind == Kind::aRC;
  if (transport == Transport::ud && arrives) return Order::none;
  const bool same_kind = row == e.kind && (e.kind == Kind::aNRW || e.kind == Kind::aNLW);
  if (same_kind && e.relaxed) order = Order::issued;
  if (by_memory(row, e.kind) && row_device != device) order = Order::issued;
  return order;
}

}  // namespace

/// For each kind of event, a point that comes after all earlier events of that kind.
struct Graph::Frontier {
  std::uint32_t begun = kNone;
  std::uint32_t done = kNone;
  [[nodiscard]] bool any() const { return begun != kNone; }
};

/// A point that comes after all these events, and after `before`.
Graph::Frontier Graph::behind(const std::vector<std::uint32_t>& events, const Frontier& before) {
  const Frontier all{joint(), joint()};
  if (before.any()) {
    arc(before.begun, all.begun, Edge::ppo);
    arc(before.done, all.done, Edge::ppo);
  }
  for (const std::uint32_t e : events) {
    arc(start(e), all.begun, Edge::ppo);
    arc(finish(e), all.done, Edge::ppo);
  }
  return all;
}

/// Puts an event behind those of a frontier: in both orders, or in ib only.
void Graph::after(const Frontier& before, std::uint32_t e, bool both) {
  arc(before.begun, start(e), both ? Edge::ppo : Edge::ippo);
  if (both) arc(before.done, finish(e), Edge::ppo);
}

void Graph::order_threads() {
  // Of each thread, in program order: a receive that was posted behind a call comes behind it.
  std::map<std::uint32_t, std::vector<std::pair<std::pair<std::uint32_t, bool>, std::uint32_t>>> threads;
  for (std::uint32_t e = 0; e < events_.size(); ++e)
    if (events_[e].thread != kNone)
      threads[events_[e].thread].push_back({{events_[e].call, events_[e].kind == Kind::aRP}, e});
  for (auto& [thread, order] : threads) {
    std::ranges::sort(order);
    std::array<Frontier, kVerbsStamps> frontier{};
    for (std::size_t i = 0; i < order.size();) {
      std::size_t end = i;
      const bool receive = order[i].first.second;  // each for itself
      while (end < order.size() && order[end].first == order[i].first && (end == i || !receive)) ++end;
      std::array<std::vector<std::uint32_t>, kVerbsStamps> group;
      for (std::size_t k = i; k < end; ++k) {
        const std::uint32_t e = order[k].second;
        const Kind kind = events_[e].kind;
        for (const Kind row : kOfThread) {
          const Frontier& before = frontier[static_cast<std::size_t>(row)];
          const Order o = before.any() ? cell(row, kind) : Order::none;
          if (o != Order::none) after(before, e, o == Order::both);
        }
        if (!of_queue_pair(kind)) group[static_cast<std::size_t>(kind)].push_back(e);
      }
      for (const Kind kind : kOfThread) {
        const auto row = static_cast<std::size_t>(kind);
        if (group[row].size() == 1) frontier[row] = {start(group[row][0]), finish(group[row][0])};
        if (group[row].size() > 1) frontier[row] = behind(group[row], {});
      }
      i = end;
    }
  }
}

void Graph::order_queue_pairs() {
  constexpr std::size_t kFirst = static_cast<std::size_t>(Kind::aNLR);
  struct Queue {
    std::array<std::array<Frontier, 2>, kVerbsStamps - kFirst> frontier;  // by kind, and by where the word is
  };
  std::map<std::uint32_t, Queue> queues;
  const trace::Verbs& v = verbs();
  for (std::uint32_t r = 0; r < v.requests.size(); ++r) {
    const std::uint32_t qp = v.requests[r].qp;
    const trace::Verbs::Transport transport =
        qp < v.queue_pairs.size() ? v.queue_pairs[qp].type : trace::Verbs::Transport::rc;
    Queue& queue = queues[qp];
    const auto read = std::ranges::find_if(of_request_[r], [this](std::uint32_t e) {
      return events_[e].kind == Kind::aNRR || events_[e].kind == Kind::aNAR;
    });
    const bool reads_device = read != of_request_[r].end() && events_[*read].device;
    for (const std::uint32_t e : of_request_[r]) {
      if (!of_queue_pair(events_[e].kind)) continue;
      for (std::size_t row = kFirst; row < kVerbsStamps; ++row) {
        for (const bool device : {false, true}) {
          const Frontier& f = queue.frontier[row - kFirst][device ? 1 : 0];
          if (!f.any()) continue;
          const bool remote = static_cast<Kind>(row) == Kind::aNRW && events_[e].kind == Kind::aNLW;
          const Order o =
              cell(v, transport, static_cast<Kind>(row), device, events_[e], remote ? reads_device : events_[e].device);
          if (o != Order::none) after(f, e, o == Order::both);
        }
      }
    }
    // Behind all of the kind until now, whether or not these are ordered among each other.
    std::array<std::array<std::vector<std::uint32_t>, 2>, kVerbsStamps - kFirst> group;
    for (const std::uint32_t e : of_request_[r])
      if (of_queue_pair(events_[e].kind))
        group[static_cast<std::size_t>(events_[e].kind) - kFirst][events_[e].device ? 1 : 0].push_back(e);
    for (std::size_t row = 0; row < group.size(); ++row) {
      for (std::size_t memory = 0; memory < 2; ++memory) {
        if (group[row][memory].empty()) continue;
        Frontier& f = queue.frontier[row][memory];
        f = behind(group[row][memory], f);
      }
    }
  }
}

void Graph::order_requests() {
  for (std::uint32_t r = 0; r < verbs().requests.size(); ++r) order_request(r);
}

void Graph::order_request(std::uint32_t request) {
  const trace::Verbs::Request& r = verbs().requests[request];
  const trace::Verbs::Transport transport =
      r.qp < verbs().queue_pairs.size() ? verbs().queue_pairs[r.qp].type : trace::Verbs::Transport::rc;
  std::array<std::vector<std::uint32_t>, kVerbsStamps> by_kind;
  for (const std::uint32_t e : of_request_[request]) by_kind[static_cast<std::size_t>(events_[e].kind)].push_back(e);
  const auto of = [&](Kind k) -> std::vector<std::uint32_t>& { return by_kind[static_cast<std::size_t>(k)]; };
  for (const Kind k : {Kind::aCR, Kind::aNLR, Kind::aNRW, Kind::aNRR, Kind::aNLW})
    std::ranges::sort(of(k), {}, [&](std::uint32_t e) { return events_[e].address; });
  // A word is copied to a word; where they do not lie alike, each is copied to those that it has a part of.
  const auto copied = [&](std::vector<std::uint32_t>& from, std::vector<std::uint32_t>& to) {
    for (std::size_t i = 0; i < to.size(); ++i)
      for (std::size_t k = 0; k < from.size(); ++k)
        if (from.size() == to.size() ? k == i : k + 1 >= i && k <= i + 1) both(from[k], to[i], Edge::iso);
  };
  const auto each = [&](Kind from, Kind to, bool in_so) {
    for (const std::uint32_t a : of(from))
      for (const std::uint32_t b : of(to)) {
        if (in_so) both(a, b, Edge::iso);
        if (!in_so) issued(a, b, Edge::iso);
      }
  };
  const bool send = r.opcode == trace::Verbs::Opcode::send;
  copied(of(Kind::aNLR), of(Kind::aNRW));
  if (r.inline_data) copied(of(Kind::aCR), of(Kind::aNRW));
  copied(of(Kind::aNRR), of(Kind::aNLW));
  each(Kind::aNAR, Kind::aNRW, true);
  each(Kind::aNAR, Kind::aNLW, true);
  if (send) {
    each(Kind::aNLR, Kind::aRX, true);
    if (r.inline_data) each(Kind::aCR, Kind::aRX, true);
    each(Kind::aRX, Kind::aNRW, true);
  } else {
    each(Kind::aNRW, Kind::aRX, false);
  }
  each(Kind::aNRW, Kind::aRC, true);
  each(Kind::aRX, Kind::aRC, true);
  each(Kind::aNLW, Kind::aSC, true);
  if (transport == trace::Verbs::Transport::rc) {
    each(Kind::aNRW, Kind::aSC, false);
    each(Kind::aRX, Kind::aSC, true);
  } else {
    each(Kind::aNLR, Kind::aSC, true);
    if (r.inline_data) each(Kind::aCR, Kind::aSC, true);
  }
  for (const Kind k : {Kind::aNLR, Kind::aNRW, Kind::aNRR, Kind::aNLW, Kind::aNAR, Kind::aRX, Kind::aRC, Kind::aSC})
    each(Kind::aRF, k, true);
}

}  // namespace loco::model::verbs
