#include "model/verbs/races.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "model/verbs/describe.hpp"
#include "model/verbs/graph.hpp"

namespace loco::model::verbs {

std::string_view name(RaceKind kind) {
  constexpr std::array<std::string_view, kRaceKinds> kNames = {"source changed",
                                                               "result before completion",
                                                               "receive buffer in use",
                                                               "two receives, one buffer",
                                                               "in flight twice",
                                                               "unordered",
                                                               "words of a message",
                                                               "CQ overrun",
                                                               "no receive",
                                                               "unreliable"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string Race::to_text() const {
  std::string text = fmt::format("{}: {}", error ? "race" : "warning", name(kind));
  if (address != 0) text += fmt::format(" of word {}:{:#x}", node, address);
  if (count > 1) text += fmt::format(" ({} times)", count);
  for (const Access* a : {&first, &second})
    if (!a->text.empty())
      text += fmt::format("\n  {}{}{}", a->text, a->thread_name.empty() ? "" : " by " + a->thread_name,
                          a->place.empty() ? "" : ", " + a->place);
  return advice.empty() ? text : text + "\n  " + advice;
}

namespace {

using trace::Verbs;

/// Accesses of a word farther apart than this, among the word's, are not compared: what is between them is ordered with
/// both, or is a race itself. Less in long runs, so that they take time in proportion to their length.
constexpr std::size_t kWindowMost = 256;
constexpr std::size_t kWindowLeast = 16;
constexpr std::size_t kPairsMost = 4'000'000;

bool is_atomic(const Verbs::Request& r) {
  return r.opcode == Verbs::Opcode::compare_swap || r.opcode == Verbs::Opcode::fetch_add;
}

class Finder {
 public:
  Finder(const trace::Trace& trace, const RaceOptions& options)
      : graph_(trace, Scope::program), verbs_(*trace.verbs), options_(options) {
    index();
  }

  std::vector<Race> find() {
    const std::vector<std::uint32_t>* before = nullptr;
    for (const auto& [word, accesses] : words_) {
      if (options_.poll) options_.poll();
      if (before == nullptr || !alike(*before, accesses)) compare(accesses);
      before = &accesses;
    }
    compare_receives();
    settle();
    queues();
    std::vector<Race> found;
    for (auto& [key, race] : races_) found.push_back(std::move(race));
    std::ranges::stable_sort(found, [](const Race& a, const Race& b) {
      return std::tuple(!a.error, a.kind, a.first.call, a.second.call) <
             std::tuple(!b.error, b.kind, b.first.call, b.second.call);
    });
    return found;
  }

 private:
  using Word = std::pair<std::uint32_t, std::uint64_t>;

  /// Two accesses that are a race if none of these answers is yes, and that of `behind`, if there is one.
  struct Candidate {
    RaceKind kind = RaceKind::unordered;
    bool error = true;
    std::uint32_t a = kNone, b = kNone;  ///< events
    std::array<std::size_t, 2> questions{};
    std::size_t asked = 0;
    std::optional<std::size_t> behind{};
  };

  [[nodiscard]] const Event& event(std::uint32_t e) const { return graph_.events()[e]; }
  [[nodiscard]] bool by_cpu(std::uint32_t e) const { return !of_queue_pair(event(e).kind); }
  [[nodiscard]] const Verbs::Request& request_of(std::uint32_t e) const { return verbs_.requests[event(e).request]; }
  [[nodiscard]] std::uint32_t source_of(std::uint32_t e) const {
    return graph_.trace().subevents[event(e).item - 1].source;
  }

  void index();
  void index_completions();
  /// Have two words the same accesses? Those of a long message mostly have: one stands for all.
  [[nodiscard]] bool alike(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) const;
  void compare(const std::vector<std::uint32_t>& accesses);
  void compare(std::uint32_t a, std::uint32_t b);
  void compare_receives();
  void compare_buffers(std::uint32_t r, Word word, const std::vector<std::uint32_t>& accesses);
  void settle();
  void queues();
  void overruns();

  void ask(Candidate& c, std::uint32_t from, std::uint32_t to) {
    if (from == kNone) return;  // never: it did not happen
    c.questions.at(c.asked++) = questions_.size();
    questions_.push_back({from, to, false});
  }
  void suspect(const Candidate& c) { candidates_.push_back(c); }
  void source_changed(std::uint32_t source, std::uint32_t other);
  void result_early(std::uint32_t result, std::uint32_t other);
  void both_ways(RaceKind kind, std::uint32_t a, std::uint32_t b);
  void may_be_lost(std::uint32_t write, std::uint32_t other);
  [[nodiscard]] bool reliable(std::uint32_t qp) const {
    return qp >= verbs_.queue_pairs.size() || verbs_.queue_pairs[qp].type == Verbs::Transport::rc;
  }
  /// The first poll that tells that a request is done; kNone: none did.
  [[nodiscard]] std::uint32_t told(std::uint32_t request) const { return told_[request]; }
  /// A CPU's read that saw this write, where the thread looks until it sees it: it reads the word no more before it
  /// writes it itself.
  [[nodiscard]] bool spins_on(std::uint32_t read, std::uint32_t write) const;
  [[nodiscard]] bool words_of_a_message(std::uint32_t read, std::uint32_t write) const;
  [[nodiscard]] std::string advice(const Candidate& c) const;
  void report(const Candidate& c);
  void add(Race race, std::uint32_t place_a, std::uint32_t place_b);

  Graph graph_;
  const Verbs& verbs_;
  const RaceOptions& options_;
  std::map<Word, std::vector<std::uint32_t>> words_;                                ///< accesses, as they happened
  std::map<std::pair<std::uint32_t, Word>, std::vector<std::uint32_t>> by_thread_;  ///< a CPU's, in program order
  std::vector<std::uint32_t>
      last_look_;  ///< by event, of a CPU's read: the thread's last one before it writes the word
  std::map<std::uint32_t, std::uint32_t> queue_node_;  ///< of receive queues
  std::size_t window_ = kWindowMost;
  std::vector<std::uint32_t> told_;
  std::vector<std::uint32_t> told_receive_;  ///< by receive: the poll of its CQE
  std::vector<std::uint32_t> taken_by_;      ///< by receive: the message
  std::vector<std::uint32_t> arrived_;       ///< by request: the poll of the receive CQE that its message gave
  std::vector<Graph::Question> questions_;
  std::vector<Candidate> candidates_;
  std::map<std::tuple<RaceKind, std::uint32_t, std::uint32_t, Word>, Race> races_;
};

void Finder::index() {
  const auto& events = graph_.events();
  for (std::uint32_t e = 0; e < events.size(); ++e) {
    if (!reads(events[e].kind) && !writes(events[e].kind)) continue;
    words_[{events[e].node, events[e].address}].push_back(e);
    if (by_cpu(e) && events[e].request == kNone)
      by_thread_[{events[e].thread, {events[e].node, events[e].address}}].push_back(e);
  }
  window_ = std::clamp(kPairsMost / (graph_.trace().calls.size() + 1), kWindowLeast, kWindowMost);
  last_look_.assign(events.size(), kNone);
  for (const auto& [of, accesses] : by_thread_) {
    std::uint32_t last = kNone;
    for (std::size_t i = accesses.size(); i-- > 0;) {
      const std::uint32_t e = accesses[i];
      if (writes(event(e).kind)) last = kNone;
      if (event(e).kind == Kind::aCR && last == kNone) last = e;
      last_look_[e] = last;
    }
  }
  for (const Verbs::QueuePair& qp : verbs_.queue_pairs)
    if (qp.receives != kNone) queue_node_[qp.receives] = qp.node;
  index_completions();
}

bool Finder::alike(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) const {
  return std::ranges::equal(a, b, [this](std::uint32_t x, std::uint32_t y) {
    return event(x).call == event(y).call && event(x).kind == event(y).kind && event(x).flag == event(y).flag;
  });
}

void Finder::index_completions() {
  // A CQE tells of its request and all earlier ones of the queue pair's sends.
  told_.assign(verbs_.requests.size(), kNone);
  arrived_.assign(verbs_.requests.size(), kNone);
  std::map<std::uint32_t, std::vector<std::uint32_t>> queues;
  for (std::uint32_t r = 0; r < verbs_.requests.size(); ++r) queues[verbs_.requests[r].qp].push_back(r);
  taken_by_.assign(verbs_.receives.size(), kNone);
  told_receive_.assign(verbs_.receives.size(), kNone);
  for (std::uint32_t m = 0; m < verbs_.messages.size(); ++m)
    if (verbs_.messages[m].receive != kNone) taken_by_[verbs_.messages[m].receive] = m;
  std::map<std::uint32_t, std::size_t> covered;
  for (std::uint32_t p = 0; p < verbs_.polls.size(); ++p) {
    if (verbs_.polls[p].entry == kNone) continue;
    const Verbs::Entry& entry = verbs_.entries[verbs_.polls[p].entry];
    if (entry.receive) {
      if (entry.message == kNone) continue;
      const std::uint32_t receive = verbs_.messages[entry.message].receive;
      if (receive != kNone) told_receive_[receive] = graph_.event_of_poll(p);
      const std::uint32_t request = verbs_.messages[entry.message].request;
      if (request != kNone) arrived_[request] = graph_.event_of_poll(p);
      continue;
    }
    if (entry.request == kNone) continue;
    const std::vector<std::uint32_t>& queue = queues[entry.qp];
    for (std::size_t& next = covered[entry.qp]; next < queue.size() && queue[next] <= entry.request; ++next)
      told_[queue[next]] = graph_.event_of_poll(p);
  }
}

void Finder::compare(const std::vector<std::uint32_t>& accesses) {
  for (std::size_t i = 0; i < accesses.size(); ++i)
    for (std::size_t k = i + 1; k < std::min(accesses.size(), i + window_); ++k) compare(accesses[i], accesses[k]);
}

void Finder::compare(std::uint32_t a, std::uint32_t b) {
  const Event& x = event(a);
  const Event& y = event(b);
  if (!writes(x.kind) && !writes(y.kind)) return;
  if (x.call == y.call || (by_cpu(a) && by_cpu(b))) return;
  for (const auto& [source, other] : {std::pair(a, b), std::pair(b, a)})
    if (event(source).kind == Kind::aNLR && writes(event(other).kind)) return source_changed(source, other);
  for (const auto& [result, other] : {std::pair(a, b), std::pair(b, a)})
    if (event(result).kind == Kind::aNLW && by_cpu(other)) return result_early(result, other);
  if (x.payload || y.payload) return;  // the receive's
  if (!by_cpu(a) && !by_cpu(b)) {
    const bool atomics =
        is_atomic(request_of(a)) && is_atomic(request_of(b)) && x.kind != Kind::aNLW && y.kind != Kind::aNLW;
    if (!atomics) both_ways(RaceKind::in_flight_twice, a, b);
    return;
  }
  if (!x.flag && !y.flag) both_ways(RaceKind::unordered, a, b);
  for (const auto& [write, other] : {std::pair(a, b), std::pair(b, a)})
    if (event(write).kind == Kind::aNRW && by_cpu(other) && !event(write).flag && !reliable(request_of(write).qp))
      may_be_lost(write, other);
}

/// An access behind an unreliable message's write: does it know that this message has come, or only of another one?
void Finder::may_be_lost(std::uint32_t write, std::uint32_t other) {
  Candidate c{.kind = RaceKind::unreliable, .error = false, .a = write, .b = other, .behind = questions_.size()};
  questions_.push_back({write, other, false});
  const std::uint32_t request = event(write).request;
  ask(c, arrived_[request], other);
  for (const std::uint32_t flag : graph_.of_request(request)) {
    if (event(flag).kind != Kind::aNRW || !event(flag).flag || c.asked == c.questions.size()) continue;
    const auto looks = by_thread_.find({event(other).thread, {event(flag).node, event(flag).address}});
    if (looks == by_thread_.end()) continue;
    const auto saw = std::ranges::find_if(
        looks->second, [&](std::uint32_t e) { return reads(event(e).kind) && source_of(e) == event(flag).item; });
    if (saw != looks->second.end()) ask(c, *saw, other);
  }
  suspect(c);
}

void Finder::source_changed(std::uint32_t source, std::uint32_t other) {
  Candidate c{.kind = RaceKind::source_changed, .a = source, .b = other};
  ask(c, other, source);
  ask(c, told(event(source).request), other);
  suspect(c);
}

void Finder::result_early(std::uint32_t result, std::uint32_t other) {
  Candidate c{.kind = RaceKind::result_before_completion, .a = result, .b = other};
  const std::uint32_t request = event(result).request;
  std::uint32_t begun = kNone;  // where the operation reads
  for (const std::uint32_t e : graph_.of_request(request))
    if (event(e).kind == Kind::aNRR || event(e).kind == Kind::aNAR) begun = e;
  if (begun != kNone) ask(c, other, begun);
  ask(c, told(request), other);
  c.error = !spins_on(other, result) || verbs_.requests[request].bytes > 8 || event(result).relaxed;
  suspect(c);
}

void Finder::both_ways(RaceKind kind, std::uint32_t a, std::uint32_t b) {
  Candidate c{.kind = kind, .a = a, .b = b};
  ask(c, a, b);
  ask(c, b, a);
  suspect(c);
}

bool Finder::spins_on(std::uint32_t read, std::uint32_t write) const {
  if (event(read).kind != Kind::aCR || event(read).request != kNone) return false;
  return source_of(last_look_[read]) == event(write).item;
}

// --- receives --------------------------------------------------------------------------------------------------------

void Finder::compare_receives() {
  for (std::uint32_t r = 0; r < verbs_.receives.size(); ++r) {
    const Verbs::Receive& receive = verbs_.receives[r];
    if (receive.bytes == 0) continue;
    if (options_.poll) options_.poll();
    const auto queue = queue_node_.find(receive.queue);
    if (queue == queue_node_.end()) continue;
    const std::uint32_t node = queue->second;
    const std::vector<std::uint32_t>* before = nullptr;
    for (auto at = words_.lower_bound({node, receive.address / 8 * 8});
         at != words_.end() && at->first.first == node && at->first.second < receive.address + receive.bytes; ++at) {
      if (before == nullptr || !alike(*before, at->second)) compare_buffers(r, at->first, at->second);
      before = &at->second;
    }
  }
}

void Finder::compare_buffers(std::uint32_t r, Word word, const std::vector<std::uint32_t>& accesses) {
  const std::uint32_t posted = graph_.event_of_receive(r);
  const std::uint32_t message = taken_by_[r];
  const std::uint32_t taker = message == kNone ? kNone : verbs_.messages[message].request;
  const bool by_send = taker != kNone && verbs_.requests[taker].opcode == Verbs::Opcode::send;
  // Those around its own payload, and around where it was posted: the rest is behind or in front of these.
  auto near =
      std::ranges::lower_bound(accesses, event(posted).call, {}, [this](std::uint32_t e) { return event(e).call; });
  std::uint32_t payload = kNone;
  if (by_send)
    for (const std::uint32_t e : graph_.of_request(taker))
      if (event(e).payload && event(e).address == word.second) payload = e;
  if (payload != kNone) near = std::ranges::lower_bound(accesses, payload);
  const auto middle = static_cast<std::size_t>(near - accesses.begin());
  const std::size_t from = middle > window_ ? middle - window_ : 0;
  for (std::size_t i = from; i < std::min(accesses.size(), middle + window_); ++i) {
    const Event& a = event(accesses[i]);
    if (taker != kNone && a.request == taker) continue;
    if (!writes(a.kind) && !by_send) continue;
    if (a.payload) continue;  // another receive's: "two receives, one buffer"
    Candidate c{.kind = RaceKind::receive_buffer_in_use, .a = posted, .b = accesses[i]};
    ask(c, accesses[i], posted);
    ask(c, told_receive_[r], accesses[i]);
    if (payload != kNone)
      c.error = !spins_on(accesses[i], payload) || verbs_.requests[taker].bytes > 8 || event(payload).relaxed;
    suspect(c);
  }
}

// --- what they are ---------------------------------------------------------------------------------------------------

bool Finder::words_of_a_message(std::uint32_t read, std::uint32_t write) const {
  if (event(read).kind != Kind::aCR || event(write).kind != Kind::aNRW) return false;
  const std::uint32_t request = event(write).request;
  if (graph_.of_request(request).size() < 3) return false;
  for (const std::uint32_t other : graph_.of_request(request)) {
    if (event(other).kind != Kind::aNRW || event(other).address == event(write).address) continue;
    const auto reads_of = by_thread_.find({event(read).thread, {event(other).node, event(other).address}});
    if (reads_of == by_thread_.end()) continue;
    for (const std::uint32_t e : reads_of->second)
      if (event(e).flag && event(e).kind == Kind::aCR && event(e).call < event(read).call &&
          source_of(e) == event(other).item)
        return true;
  }
  return false;
}

std::string Finder::advice(const Candidate& c) const {
  switch (c.kind) {
    case RaceKind::source_changed:
      return fmt::format(
          "ordered by: polling the completion of this request, or of a later one of queue pair {}, before "
          "the word is changed; or an inline payload",
          request_of(c.a).qp);
    case RaceKind::result_before_completion:
      return fmt::format(
          "ordered by: polling the completion of this request, or of a later one of queue pair {}, first",
          request_of(c.a).qp);
    case RaceKind::receive_buffer_in_use:
      return "ordered by: polling the receive's completion first, or posting it later";
    case RaceKind::unreliable:
      return fmt::format(
          "the message may be lost, and what comes behind it on queue pair {} arrive: ordered by its own receive "
          "completion (immediate data, or a SEND), a flag among its own words, or a reliable connection",
          request_of(c.a).qp);
    case RaceKind::in_flight_twice: {
      const Verbs::Request& a = request_of(c.a);
      const Verbs::Request& b = request_of(c.b);
      if (a.qp == b.qp) {
        const bool reads_first = a.opcode != Verbs::Opcode::write || b.opcode != Verbs::Opcode::write;
        return reads_first ? "ordered by: the fence flag on the later one, or polling the completion of the earlier one"
                           : "ordered by: polling a completion that says so between the two";
      }
      return "ordered by: one queue pair for both, or a completion of the first that is polled and told to who posts "
             "the "
             "second (of a WRITE: of a READ behind it, or its receive completion)";
    }
    default:
      break;
  }
  const std::uint32_t nic = by_cpu(c.a) ? c.b : c.a;
  const Verbs::Request& r = request_of(nic);
  if (event(nic).kind == Kind::aNRW)
    return fmt::format(
        "ordered by: a receive completion of queue pair {} polled before it (immediate data, or a SEND behind this "
        "request); or a flag written behind it on the same queue pair; or a READ behind it on that queue pair whose "
        "completion is polled before a flag is sent on another. The completion of a WRITE says nothing of memory",
        r.qp);
  return fmt::format("ordered by: polling the completion of this request of queue pair {} and telling the other thread",
                     r.qp);
}

void Finder::report(const Candidate& c) {
  const Event& a = event(c.a);
  const Event& b = event(c.b);
  const Event& word = a.kind == Kind::aRP ? b : a;
  Race race{.kind = c.kind, .error = c.error, .node = word.node, .address = word.address};
  if (c.kind == RaceKind::unordered)
    for (const auto& [read, write] : {std::pair(c.a, c.b), std::pair(c.b, c.a)})
      if (words_of_a_message(read, write)) race.kind = RaceKind::words_of_a_message;
  race.first = access_of(graph_, c.a);
  race.second = access_of(graph_, c.b);
  race.advice = advice(c);
  if (race.kind == RaceKind::words_of_a_message)
    race.advice = "the words of a message reach memory in any order; " + race.advice;
  add(std::move(race), place_of(graph_, c.a), place_of(graph_, c.b));
}

void Finder::add(Race race, std::uint32_t place_a, std::uint32_t place_b) {
  const Word word = place_a != 0 && place_b != 0 ? Word{} : Word{race.node, race.address};
  const auto key = std::tuple(race.kind, std::min(place_a, place_b), std::max(place_a, place_b), word);
  const auto [found, fresh] = races_.try_emplace(key, race);
  if (fresh) return;
  ++found->second.count;
  if (race.error && !found->second.error) {
    race.count = found->second.count;
    found->second = std::move(race);
  }
}

void Finder::settle() {
  graph_.ask(questions_);
  for (const Candidate& c : candidates_) {
    bool ordered = c.behind && !questions_[*c.behind].yes;
    for (std::size_t i = 0; i < c.asked; ++i) ordered = ordered || questions_[c.questions[i]].yes;
    if (!ordered) report(c);
  }
  // Two receives of the same word at once.
  std::map<Word, std::vector<std::uint32_t>> buffers;
  std::vector<std::tuple<std::uint32_t, std::uint32_t, Word, std::size_t, std::size_t>> pairs;
  std::vector<Graph::Question> questions;
  for (std::uint32_t r = 0; r < verbs_.receives.size(); ++r) {
    const Verbs::Receive& receive = verbs_.receives[r];
    if (receive.bytes == 0) continue;
    const auto queue = queue_node_.find(receive.queue);
    if (queue == queue_node_.end()) continue;
    const std::uint32_t node = queue->second;
    // The latest one that had the first or the last word: buffers are used again as they are, or they overlap there.
    std::set<std::uint32_t> before;
    for (const std::uint64_t at : {receive.address / 8 * 8, (receive.address + receive.bytes - 1) / 8 * 8}) {
      std::vector<std::uint32_t>& users = buffers[{node, at}];
      if (!users.empty() && users.back() != r) before.insert(users.back());
      if (users.empty() || users.back() != r) users.push_back(r);
    }
    for (const std::uint32_t other : before) {
      pairs.emplace_back(other, r, Word{node, receive.address / 8 * 8}, questions.size(),
                         told_receive_[other] == kNone ? 0 : 1);
      if (told_receive_[other] != kNone) questions.push_back({told_receive_[other], graph_.event_of_receive(r), false});
    }
  }
  graph_.ask(questions);
  for (const auto& [earlier, later, word, question, asked] : pairs) {
    if (asked != 0 && questions[question].yes) continue;
    Race race{.kind = RaceKind::two_receives_one_buffer,
              .error = taken_by_[earlier] != kNone && taken_by_[later] != kNone,
              .node = word.first,
              .address = word.second};
    const std::uint32_t a = graph_.event_of_receive(earlier), b = graph_.event_of_receive(later);
    race.first = access_of(graph_, a);
    race.second = access_of(graph_, b);
    race.advice = "ordered by: polling the completion of the earlier receive before the later one is posted";
    add(std::move(race), place_of(graph_, a), place_of(graph_, b));
  }
}

// --- queues ----------------------------------------------------------------------------------------------------------

void Finder::queues() {
  overruns();
  std::set<std::uint32_t> failed;  // requests
  for (const Verbs::Entry& e : verbs_.entries)
    if (e.failed && !e.receive) failed.insert(e.request);
  for (const Verbs::Message& m : verbs_.messages) {
    if (m.receive != kNone) continue;
    const bool reliable = this->reliable(m.qp);
    const bool given_up = m.request != kNone && failed.contains(m.request);
    Race race{.kind = RaceKind::no_receive, .error = !reliable || given_up};
    std::uint32_t place = 0;
    if (m.request != kNone) {
      race.first = access_of_call(
          graph_, verbs_.requests[m.request].call,
          fmt::format("{} on queue pair {}", name_of(verbs_.requests[m.request]), verbs_.requests[m.request].qp));
      place = place_of_call(graph_, verbs_.requests[m.request].call);
    }
    race.advice = reliable
                      ? "nothing was posted for it: the sender was told to come again (RNR NAK). Post receives before "
                        "the peer may send"
                      : "nothing was posted for it: the message is lost, and nobody is told";
    add(std::move(race), place, place);
  }
}

void Finder::overruns() {
  const auto& v = verbs_;
  for (const std::uint32_t cq : v.overruns) {
    Race race{.kind = RaceKind::cq_overrun, .node = 0};
    race.advice = fmt::format(
        "completion queue {} has {} entries, and one more was written (IBV_EVENT_CQ_ERR): its queue "
        "pairs are in the error state",
        cq, cq < v.cq_entries.size() ? v.cq_entries[cq] : 0);
    race.first.text = fmt::format("a completion of completion queue {}", cq);
    add(std::move(race), cq, cq);
  }
  if (!v.overruns.empty()) return;
  // Could it have been: signaled requests and receives that are posted and whose completions have not been polled.
  struct Step {
    std::uint32_t call = 0;
    std::uint32_t cq = 0;
    int change = 0;
    std::uint32_t poster = 0;
  };
  std::vector<Step> steps;
  std::map<std::uint32_t, std::uint32_t> recv_cq;
  for (const Verbs::QueuePair& qp : v.queue_pairs)
    if (qp.receives != kNone) recv_cq[qp.receives] = qp.recv_cq;
  for (const Verbs::Request& r : v.requests)
    if (r.signaled && r.qp < v.queue_pairs.size()) steps.push_back({r.call, v.queue_pairs[r.qp].send_cq, 1, r.call});
  for (const Verbs::Receive& r : v.receives)
    if (recv_cq.contains(r.queue)) steps.push_back({r.after, recv_cq[r.queue], 1, 0});
  for (const Verbs::Poll& p : v.polls) steps.push_back({p.call, p.cq, -1, 0});
  std::ranges::stable_sort(steps, {}, &Step::call);
  std::map<std::uint32_t, std::int64_t> outstanding;
  std::set<std::uint32_t> told;
  for (const Step& s : steps) {
    const std::int64_t now = outstanding[s.cq] += s.change;
    if (s.cq >= v.cq_entries.size() || now <= static_cast<std::int64_t>(v.cq_entries[s.cq]) ||
        !told.insert(s.cq).second)
      continue;
    Race race{.kind = RaceKind::cq_overrun, .error = false};
    if (s.poster != 0) race.first = access_of_call(graph_, s.poster, "a request with a completion");
    if (s.poster == 0) race.first.text = "a receive";
    race.advice =
        fmt::format("completion queue {} has {} entries; that many and one more may be written before one is polled",
                    s.cq, v.cq_entries[s.cq]);
    add(std::move(race), s.poster == 0 ? 0 : place_of_call(graph_, s.poster), s.cq);
  }
}

}  // namespace

std::vector<Race> races(const trace::Trace& trace, const RaceOptions& options) { return Finder(trace, options).find(); }

}  // namespace loco::model::verbs
