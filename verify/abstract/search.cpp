#include "verify/abstract/search.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace loco::verify::abstract {

namespace {

constexpr std::uint32_t kNobody = 0xffffffff;

struct WordsHash {
  std::size_t operator()(const std::vector<std::uint32_t>& words) const {
    std::size_t hash = 0x243f6a8885a308d3U;
    for (const std::uint32_t w : words) hash = (hash ^ w) * 0x9e3779b97f4a7c15U + (hash >> 29U);
    return hash;
  }
};

struct ElementSetHash {
  std::size_t operator()(const ElementSet& set) const {
    std::size_t hash = 0x243f6a8885a308d3U;
    for (const ElementCube& e : set) {
      hash = (hash ^ e.known) * 0x9e3779b97f4a7c15U + (hash >> 29U);
      hash = (hash ^ e.value) * 0x9e3779b97f4a7c15U + (hash >> 29U);
    }
    return hash;
  }
};

class Search {
 public:
  Search(Stepper& stepper, const Footprint& footprint, const Limits& limits, Order order)
      : stepper_(stepper),
        reduced_(stepper.abstraction().reduced()),
        footprint_(footprint),
        limits_(limits),
        order_(order) {}

  SearchResult run() {
    try {
      return walk();
    } catch (const LimitReached& reached) {
      result_.verdict = Verdict::kUnknown;
      result_.why = fmt::format("{} after {} abstract states", reached.what(), nodes_.size());
      return std::move(result_);
    }
  }

 private:
  SearchResult walk() {
    const AbstractState initial = stepper_.initial();
    if (found(initial, kNobody)) return std::move(result_);
    push(initial, kNobody, {});
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      look_at_memory(i);
      if (!nodes_[i].covered && expand(i)) return std::move(result_);
      if (i + 1 == nodes_.size()) result_.verdict = Verdict::kSafe;
    }
    result_.states = nodes_.size();
    if (order_ == Order::kAll && result_.verdict == Verdict::kSafe) {
      for (const Node& node : nodes_) {
        if (!node.covered) result_.kept.push_back(unpack(*node.words));
      }
    }
    return std::move(result_);
  }

  struct Node {
    const std::vector<std::uint32_t>* words;
    std::uint32_t parent;
    AbstractStep step;
    bool covered;  ///< by one that came later
  };

  void look_at_memory(std::uint32_t i) const {
    if (i % 256 != 0) return;
    const std::uint64_t bytes =
        nodes_.size() * (sizeof(Node) + 96 + (nodes_.empty() ? 0 : nodes_[0].words->size() * 4));
    if (bytes > limits_.memory_bytes) throw LimitReached("out of memory");
  }

  // -- states as words

  std::uint32_t set_number(const ElementSet& set) {
    const auto [entry, added] = set_numbers_.emplace(set, static_cast<std::uint32_t>(sets_.size()));
    if (added) sets_.push_back(&entry->first);
    return entry->second;
  }

  std::vector<std::uint32_t> pack(const AbstractState& state) {
    std::vector<std::uint32_t> words = state.at;
    words.push_back(state.mover);
    std::uint32_t word = 0;
    std::uint32_t shift = 0;
    const auto put = [&](std::uint32_t value, std::uint32_t width) {
      word |= value << shift;
      shift += width;
      if (shift < 32) return;
      words.push_back(word);
      word = shift = 0;
    };
    for (const std::uint8_t held : state.held) put(held, 4);
    if (shift != 0) put(0, 32 - shift);
    for (const bool behind : state.behind) put(behind ? 1 : 0, 1);
    if (shift != 0) put(0, 32 - shift);
    for (const MemoryBits* bits : {&state.memory.known, &state.memory.value}) {
      for (std::size_t w = 0; w < memory_words(); ++w)
        words.push_back(static_cast<std::uint32_t>((*bits)[w / 2] >> (w % 2 * 32)));
    }
    for (const ElementSet& set : state.sets) words.push_back(set_number(set));
    return words;
  }

  AbstractState unpack(const std::vector<std::uint32_t>& words) const {
    AbstractState state;
    auto next = words.begin();
    for (std::size_t p = 0; p < reduced_.steps_at.size(); ++p) state.at.push_back(*next++);
    state.mover = *next++;
    std::uint32_t shift = 0;
    const auto get = [&](std::uint32_t width) {
      const std::uint32_t value = *next >> shift & ((1U << width) - 1);
      shift += width;
      if (shift == 32) {
        ++next;
        shift = 0;
      }
      return value;
    };
    for (std::size_t c = 0; c < reduced_.channels.size(); ++c) state.held.push_back(static_cast<std::uint8_t>(get(4)));
    if (shift != 0) ++next;
    shift = 0;
    for (std::size_t b = 0; b < reduced_.ordered.size(); ++b) state.behind.push_back(get(1) != 0);
    if (shift != 0) ++next;
    for (MemoryBits* bits : {&state.memory.known, &state.memory.value}) {
      for (std::size_t w = 0; w < memory_words(); ++w) (*bits)[w / 2] |= std::uint64_t{*next++} << (w % 2 * 32);
    }
    while (next != words.end()) state.sets.push_back(*sets_[*next++]);
    return state;
  }

  std::size_t memory_words() const { return (stepper_.abstraction().predicates().memory.size() + 31) / 32; }
  std::size_t control_words(const std::vector<std::uint32_t>& words) const {
    return words.size() - 2 * memory_words() - stepper_.abstraction().operands();
  }

  /// Of two states with the same control.
  bool covers(const std::vector<std::uint32_t>& general, const std::vector<std::uint32_t>& special) const {
    const std::size_t known = control_words(general);
    const std::size_t value = known + memory_words();
    const std::size_t sets = value + memory_words();
    for (std::size_t w = 0; w < memory_words(); ++w) {
      if ((general[known + w] & ~special[known + w]) != 0) return false;
      if ((special[value + w] & general[known + w]) != general[value + w]) return false;
    }
    for (std::size_t i = sets; i < general.size(); ++i) {
      if (general[i] != special[i] && !abstract::covers(*sets_[general[i]], *sets_[special[i]])) return false;
    }
    return true;
  }

  void push(const AbstractState& state, std::uint32_t parent, AbstractStep step) {
    const auto number = static_cast<std::uint32_t>(nodes_.size());
    const auto [entry, added] = numbers_.emplace(pack(state), number);
    if (!added) return;
    const std::vector<std::uint32_t>& words = entry->first;
    const std::vector<std::uint32_t> control(words.begin(),
                                             words.begin() + static_cast<std::ptrdiff_t>(control_words(words)));
    auto& peers = by_control_[control];
    for (const std::uint32_t peer : peers) {
      if (covers(*nodes_[peer].words, words)) return;
    }
    std::erase_if(peers, [&](std::uint32_t peer) {
      nodes_[peer].covered = covers(words, *nodes_[peer].words);
      return nodes_[peer].covered;
    });
    peers.push_back(number);
    nodes_.push_back({&words, parent, std::move(step), false});
  }

  // -- what is wrong

  void report(std::uint32_t last, std::optional<AbstractStep> step, std::optional<AbstractState> state,
              std::optional<std::uint32_t> violation) {
    AbstractPath path;
    path.violation = violation;
    if (state) path.states.push_back(std::move(*state));
    if (step) path.steps.push_back(std::move(*step));
    for (std::uint32_t n = last; n != kNobody; n = nodes_[n].parent) {
      path.states.push_back(unpack(*nodes_[n].words));
      if (nodes_[n].parent != kNobody) path.steps.push_back(nodes_[n].step);
    }
    std::reverse(path.steps.begin(), path.steps.end());
    std::reverse(path.states.begin(), path.states.end());
    result_.verdict = Verdict::kUnsafe;
    result_.states = nodes_.size();
    result_.path = std::move(path);
  }

  /// Whether the state, reached from `parent` by `step`, violates a property.
  bool found(const AbstractState& state, std::uint32_t parent, const AbstractStep& step = {}) {
    for (std::uint32_t v = 0; v < reduced_.violations.size(); ++v) {
      if (!stepper_.may_violate(state, v)) continue;
      report(parent, parent == kNobody ? std::nullopt : std::optional(step), state, v);
      return true;
    }
    return false;
  }

  // -- successors

  bool go(const AbstractState& state, std::uint32_t node, bool nic, std::uint32_t number, std::uint32_t mover) {
    bool done = false;
    const auto emit = [&](const AbstractState& after, const std::vector<Pick>& picks) {
      if (done) return;
      AbstractState next = after;
      next.mover = mover;
      AbstractStep step{nic, number, picks};
      const bool looked_at = mover == 0 || mover > reduced_.steps_at.size();
      done = looked_at && found(next, node, step);
      if (!done) push(next, node, std::move(step));
    };
    if (nic) {
      stepper_.nic(state, number, emit);
    } else {
      if (stepper_.may_fail(state, number)) {
        report(node, AbstractStep{false, number, {}}, std::nullopt, std::nullopt);
        return true;
      }
      stepper_.cpu(state, number, emit);
    }
    return done;
  }

  bool process(const AbstractState& state, std::uint32_t node, std::uint32_t p) {
    for (const std::uint32_t s : reduced_.steps_at[p][state.at[p]]) {
      if (go(state, node, false, s, 0)) return true;
    }
    return false;
  }

  bool nics(const AbstractState& state, std::uint32_t node, const Members& channels, std::uint32_t mover) {
    for (std::uint32_t s = 0; s < reduced_.nic.size(); ++s) {
      if (channels[reduced_.nic[s].channel] && go(state, node, true, s, mover)) return true;
    }
    return false;
  }

  static bool any(const AbstractState& state, const Members& channels) {
    for (std::size_t c = 0; c < channels.size(); ++c) {
      if (channels[c] && state.held[c] > 0) return true;
    }
    return false;
  }

  bool properties(const AbstractState& state, std::uint32_t node) {
    const auto mover = static_cast<std::uint32_t>(state.at.size()) + 1;
    if (nics(state, node, footprint_.before_always(), mover)) return true;
    return stepper_.ended(state) && nics(state, node, footprint_.before_final(), mover);
  }

  bool expand(std::uint32_t node) {
    limits_.tick();
    const AbstractState state = unpack(*nodes_[node].words);
    const auto processes = static_cast<std::uint32_t>(state.at.size());
    if (order_ == Order::kAll) {
      for (std::uint32_t p = 0; p < processes; ++p) {
        if (process(state, node, p)) return true;
      }
      return nics(state, node, Members(reduced_.channels.size(), true), 0);
    }
    if (state.mover > processes) return properties(state, node);
    if (state.mover > 0) {
      const std::uint32_t p = state.mover - 1;
      return process(state, node, p) || nics(state, node, footprint_.before(p, state.at[p]), state.mover);
    }
    for (std::uint32_t p = 0; p < processes; ++p) {
      if (footprint_.alone(p, state.at[p]) && !any(state, footprint_.before(p, state.at[p])))
        return process(state, node, p);
    }
    for (std::uint32_t p = 0; p < processes; ++p) {
      if (process(state, node, p)) return true;
      if (!reduced_.steps_at[p][state.at[p]].empty() && nics(state, node, footprint_.before(p, state.at[p]), p + 1))
        return true;
    }
    return properties(state, node);
  }

  Stepper& stepper_;
  const Reduced& reduced_;
  const Footprint& footprint_;
  const Limits& limits_;
  Order order_;
  SearchResult result_;
  std::vector<Node> nodes_;
  std::unordered_map<std::vector<std::uint32_t>, std::uint32_t, WordsHash> numbers_;
  std::unordered_map<std::vector<std::uint32_t>, std::vector<std::uint32_t>, WordsHash> by_control_;
  std::unordered_map<ElementSet, std::uint32_t, ElementSetHash> set_numbers_;
  std::vector<const ElementSet*> sets_;
};

}  // namespace

SearchResult search(Stepper& stepper, const Footprint& footprint, const Limits& limits, Order order) {
  return Search(stepper, footprint, limits, order).run();
}

}  // namespace loco::verify::abstract
