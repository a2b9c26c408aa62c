// Decides which candidates are races, and tells each in words: its name, both accesses, and the call that would order
// them.
#include <array>
#include <fmt/format.h>
#include <set>
#include <stdexcept>
#include <string>

#include "model/verbs/describe.hpp"
#include "model/verbs/race_finder.hpp"

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

bool RaceFinder::words_of_a_message(std::uint32_t read, std::uint32_t write) const {
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

std::string RaceFinder::advice(const Candidate& c) const {
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

void RaceFinder::report(const Candidate& c) {
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

void RaceFinder::add(Race race, std::uint32_t place_a, std::uint32_t place_b) {
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

void RaceFinder::settle() {
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

}  // namespace loco::model::verbs
