// The parts of the race detector: races on words (races.cpp), of receives and queues (race_queues.cpp), and their text
// (race_words.cpp). Private to these files.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "model/verbs/graph.hpp"
#include "model/verbs/races.hpp"

namespace loco::model::verbs {

using trace::Verbs;

class RaceFinder {
 public:
  RaceFinder(const trace::Trace& trace, const RaceOptions& options)
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
  std::size_t window_ = 0;
  std::vector<std::uint32_t> told_;
  std::vector<std::uint32_t> told_receive_;  ///< by receive: the poll of its CQE
  std::vector<std::uint32_t> taken_by_;      ///< by receive: the message
  std::vector<std::uint32_t> arrived_;       ///< by request: the poll of the receive CQE that its message gave
  std::vector<Graph::Question> questions_;
  std::vector<Candidate> candidates_;
  std::map<std::tuple<RaceKind, std::uint32_t, std::uint32_t, Word>, Race> races_;
};

}  // namespace loco::model::verbs
