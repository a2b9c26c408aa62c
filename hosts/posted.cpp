#include "hosts/posted.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace loco::hosts {

namespace {

using trace::Method;
using trace::Stamp;

constexpr std::uint64_t kWord = 8;

/// A part that the operation has once it is complete.
struct Part {
  Stamp stamp = Stamp::aNLR;
  std::uint16_t node = 0;
  std::uint64_t address = 0;
  friend auto operator<=>(const Part&, const Part&) = default;
};

void add_words(std::vector<Part>& parts, Stamp stamp, nic::NodeId node, std::uint64_t address, std::uint32_t bytes) {
  for (std::uint64_t word = address / kWord * kWord; word < address + bytes; word += kWord)
    parts.push_back({stamp, static_cast<std::uint16_t>(node), word});
}

/// In an order in which a machine could make them: what is read feeds what is written.
std::vector<Part> parts_of(const PostedOperation& o, nic::NodeId here) {
  std::vector<Part> parts;
  switch (o.method) {
    case Method::put:
      add_words(parts, Stamp::aNLR, here, o.local, o.bytes);
      add_words(parts, Stamp::aNRW, o.peer, o.remote, o.bytes);
      break;
    case Method::get:
      add_words(parts, Stamp::aNRR, o.peer, o.remote, o.bytes);
      add_words(parts, Stamp::aNLW, here, o.local, o.bytes);
      break;
    case Method::rfence:
      parts.push_back({Stamp::aRF, 0, 0});
      break;
    default:  // remote atomics
      add_words(parts, Stamp::aNAR, o.peer, o.remote, o.bytes);
      add_words(parts, Stamp::aNRW, o.peer, o.remote, o.bytes);
      add_words(parts, Stamp::aNLW, here, o.local, o.bytes);
  }
  return parts;
}

/// A compare-and-swap writes when it has found what it compares with: until it has looked, nobody knows.
bool may_not_write(const PostedOperation& o, const std::vector<const trace::Subevent*>& begun) {
  if (o.method != Method::remote_cas) return false;
  return std::ranges::none_of(
      begun, [&](const trace::Subevent* s) { return s->stamp == Stamp::aNAR && s->value == o.compare; });
}

std::size_t expected_parts(const PostedOperation& o) {
  const std::uint64_t local = (o.local % kWord + o.bytes + kWord - 1) / kWord;
  const std::uint64_t remote = (o.remote % kWord + o.bytes + kWord - 1) / kWord;
  if (o.method == Method::rfence) return 1;
  if (o.method == Method::put || o.method == Method::get) return local + remote;
  return local + 2 * remote;
}

}  // namespace

void PostedOperations::record_unbegun(trace::Trace& trace) const {
  std::vector<std::uint32_t> begun_parts(trace.calls.size(), 0);
  for (const trace::Subevent& s : trace.subevents) ++begun_parts[s.call - 1];
  std::map<trace::CallId, std::pair<PostedOperation, std::vector<const trace::Subevent*>>> open;
  for (const auto& [call, operation] : posted_)
    if (trace.calls[call - 1].returned && begun_parts[call - 1] < expected_parts(operation))
      open[call].first = operation;
  if (open.empty()) return;
  for (const trace::Subevent& s : trace.subevents)
    if (const auto found = open.find(s.call); found != open.end()) found->second.second.push_back(&s);

  std::vector<trace::Subevent> unbegun;
  for (const auto& [call, entry] : open) {
    const auto& [operation, begun] = entry;
    const std::uint32_t thread = trace.calls[call - 1].thread;
    std::set<Part> there;
    for (const trace::Subevent* s : begun)
      there.insert(s->stamp == Stamp::aRF ? Part{s->stamp, 0, 0} : Part{s->stamp, s->node, s->address});
    const bool no_write = may_not_write(operation, begun);
    const auto known = failed_.find({thread, Link{operation.peer, operation.connection}});
    for (const Part& part : parts_of(operation, trace.threads[thread].node)) {
      if (there.contains(part) || (no_write && part.stamp == Stamp::aNRW)) continue;
      trace::Subevent s{.call = call,
                        .stamp = part.stamp,
                        .peer = static_cast<std::uint16_t>(operation.peer),
                        .node = part.node,
                        .address = part.address,
                        .start = trace::kNever};
      if (known != failed_.end()) s.finish = known->second;
      unbegun.push_back(s);
    }
  }
  trace.subevents.insert(trace.subevents.end(), unbegun.begin(), unbegun.end());
}

}  // namespace loco::hosts
