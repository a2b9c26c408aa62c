#include "hosts/posted.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_set>

namespace loco::hosts {

trace::Method method_of(nic::Opcode opcode) {
  switch (opcode) {
    case nic::Opcode::rdma_read:
      return trace::Method::get;
    case nic::Opcode::compare_swap:
      return trace::Method::remote_cas;
    case nic::Opcode::fetch_add:
      return trace::Method::remote_faa;
    default:
      return trace::Method::put;
  }
}

std::uint64_t argument_of(const nic::Wqe& wqe) {
  if (wqe.opcode == nic::Opcode::fetch_add) return wqe.compare_add;
  return wqe.opcode == nic::Opcode::compare_swap ? wqe.swap : 0;
}

namespace {

using trace::Method;
using trace::Stamp;

constexpr std::uint64_t kWord = 8;

/// A subevent of the operation, once it is complete.
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

/// In a possible order of execution: reads come before the writes that they feed.
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

/// Words of memory that subevents of the trace access.
class Accessed {
 public:
  explicit Accessed(const std::vector<trace::Subevent>& subevents) {
    for (const trace::Subevent& s : subevents) words_.insert(key(s.node, s.address));
  }
  [[nodiscard]] bool contains(const Part& part) const { return words_.contains(key(part.node, part.address)); }

 private:
  static std::uint64_t key(std::uint16_t node, std::uint64_t address) {
    return (address / kWord) ^ (std::uint64_t{node} << 48U);
  }
  std::unordered_set<std::uint64_t> words_;  // only looked up, never iterated; two words taken for one are both kept
};

/// Keeps the parts of a put or a get that a trace needs: those at words that something else accesses, with the parts
/// that they feed or are fed by, since only these can be ordered with anything else by their word. All other words of a
/// message are ordered alike, and the first one stands for them.
void keep_what_is_told_apart(std::vector<Part>& parts, const Accessed& accessed) {
  if (parts.empty()) return;
  const auto second = std::ranges::find_if(parts, [&](const Part& p) { return p.stamp != parts.front().stamp; });
  const auto first_words = static_cast<std::size_t>(second - parts.begin());
  const std::size_t second_words = parts.size() - first_words;
  const std::size_t slack = first_words == second_words ? 0 : 1;  // the alignments may differ
  const auto any = [&](std::size_t begin, std::size_t words, std::size_t w, std::size_t around) {
    for (std::size_t i = w < around ? 0 : w - around; i < words && i <= w + around; ++i)
      if (accessed.contains(parts[begin + i])) return true;
    return false;
  };
  std::vector<Part> kept;
  const auto keep = [&](std::size_t begin, std::size_t words, std::size_t other, std::size_t others) {
    bool first = true;
    for (std::size_t w = 0; w < words; ++w) {
      const bool apart = any(begin, words, w, 0) || any(other, others, w, slack);
      if (apart || first) kept.push_back(parts[begin + w]);
      first = first && apart;
    }
  };
  keep(0, first_words, first_words, second_words);
  keep(first_words, second_words, 0, first_words);
  parts = std::move(kept);
}

/// True if a compare-and-swap may not write: it does only if the compared value matches, which is unknown until it has
/// read.
bool may_not_write(const PostedOperation& o, const trace::Trace& trace, const std::vector<std::size_t>& begun) {
  if (o.method != Method::remote_cas) return false;
  return std::ranges::none_of(begun, [&](std::size_t s) {
    return trace.subevents[s].stamp == Stamp::aNAR && trace.subevents[s].value == o.compare;
  });
}

std::size_t expected_parts(const PostedOperation& o) {
  const std::uint64_t local = (o.local % kWord + o.bytes + kWord - 1) / kWord;
  const std::uint64_t remote = (o.remote % kWord + o.bytes + kWord - 1) / kWord;
  if (o.method == Method::rfence) return 1;
  if (o.method == Method::put || o.method == Method::get) return local + remote;
  return local + 2 * remote;
}

}  // namespace

bool PostedOperations::record_unbegun(trace::Trace& trace, const std::function<bool()>& goes_on) const {
  std::vector<std::uint32_t> begun_parts(trace.calls.size(), 0);
  for (const trace::Subevent& s : trace.subevents) ++begun_parts[s.call - 1];
  std::map<trace::CallId, std::pair<PostedOperation, std::vector<std::size_t>>> open;
  for (const auto& [call, operation] : posted_)
    if (trace.calls[call - 1].returned && begun_parts[call - 1] < expected_parts(operation))
      open[call].first = operation;
  if (open.empty()) return true;
  const std::size_t recorded = trace.subevents.size();
  for (std::size_t s = 0; s < recorded; ++s)
    if (const auto found = open.find(trace.subevents[s].call); found != open.end()) found->second.second.push_back(s);

  const Accessed accessed(trace.subevents);
  std::size_t asked = 0;
  for (const auto& [call, entry] : open) {
    const auto& [operation, begun] = entry;
    const std::uint32_t thread = trace.calls[call - 1].thread;
    std::set<Part> there;
    for (const std::size_t b : begun) {
      const trace::Subevent& s = trace.subevents[b];
      there.insert(s.stamp == Stamp::aRF ? Part{s.stamp, 0, 0} : Part{s.stamp, s.node, s.address});
    }
    const bool no_write = may_not_write(operation, trace, begun);
    const auto known = failed_.find({thread, Link{operation.peer, operation.connection}});
    std::vector<Part> parts = parts_of(operation, trace.threads[thread].node);
    if (operation.method == Method::put || operation.method == Method::get) keep_what_is_told_apart(parts, accessed);
    for (const Part& part : parts) {
      if (there.contains(part) || (no_write && part.stamp == Stamp::aNRW)) continue;
      constexpr std::size_t kAskEvery = 4096;
      if (++asked % kAskEvery == 0 && !goes_on()) return false;
      trace::Subevent s{.call = call,
                        .stamp = part.stamp,
                        .peer = static_cast<std::uint16_t>(operation.peer),
                        .node = part.node,
                        .address = part.address,
                        .start = trace::kNever};
      if (known != failed_.end()) s.finish = known->second;
      trace.subevents.push_back(s);
    }
  }
  return true;
}

}  // namespace loco::hosts
