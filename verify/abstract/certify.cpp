#include "verify/abstract/certify.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace loco::verify::abstract {

namespace {

class Certifier {
 public:
  Certifier(Stepper& stepper, const std::vector<AbstractState>& kept, const Caps& caps, const FlushMask& flushes)
      : stepper_(stepper), kept_(kept), reduced_(stepper.abstraction().reduced()) {
    certificate_.network = reduced_.network;
    certificate_.flushes = flushes;
    certificate_.caps.assign(caps.begin(), caps.end());
    const Predicates& predicates = stepper.abstraction().predicates();
    certificate_.predicates = predicates.memory;
    for (const auto& list : predicates.elements) {
      first_element_predicate_.push_back(certificate_.predicates.size());
      certificate_.predicates.insert(certificate_.predicates.end(), list.begin(), list.end());
    }
  }

  Certificate run() {
    // The first state of the certificate has the initial one.
    const std::uint32_t initial = covering(stepper_.initial());
    for (std::uint32_t i = 0; i < kept_.size(); ++i) order_.push_back(i);
    std::swap(order_[0], order_[initial]);
    for (std::uint32_t i = 0; i < order_.size(); ++i) place_[order_[i]] = i;
    for (const std::uint32_t i : order_) certificate_.states.push_back(state(kept_[i]));
    for (std::uint32_t i = 0; i < order_.size(); ++i) successors(kept_[order_[i]], certificate_.states[i]);
    return std::move(certificate_);
  }

 private:
  using Control = std::tuple<std::vector<std::uint32_t>, std::vector<std::uint8_t>, std::vector<bool>>;

  static Control control(const AbstractState& s) { return {s.at, s.held, s.behind}; }

  /// The kept state that has all that `s` has.
  std::uint32_t covering(const AbstractState& s) {
    if (by_control_.empty()) {
      for (std::uint32_t i = 0; i < kept_.size(); ++i) by_control_[control(kept_[i])].push_back(i);
    }
    for (const std::uint32_t i : by_control_[control(s)]) {
      const AbstractState& general = kept_[i];
      bool all = covers(general.memory, s.memory);
      for (std::size_t o = 0; o < s.sets.size() && all; ++o) all = covers(general.sets[o], s.sets[o]);
      if (all) return i;
    }
    return kNowhere;
  }

  CertificateState state(const AbstractState& s) const {
    CertificateState result;
    result.at = s.at;
    result.held.assign(s.held.begin(), s.held.end());
    result.behind = s.behind;
    const auto literal = [](std::size_t predicate, bool holds) {
      const auto number = static_cast<std::int32_t>(predicate) + 1;
      return holds ? number : -number;
    };
    for (std::size_t p = 0; p < kMemoryPredicatesMax; ++p) {
      if (bit(s.memory.known, p)) result.memory.push_back(literal(p, bit(s.memory.value, p)));
    }
    for (std::size_t o = 0; o < s.sets.size(); ++o) {
      result.sets.emplace_back();
      for (const ElementCube& e : s.sets[o]) {
        Literals literals;
        for (std::size_t p = 0; p < kElementPredicatesMax; ++p) {
          if ((e.known >> p & 1U) != 0)
            literals.push_back(literal(first_element_predicate_[o] + p, (e.value >> p & 1U) != 0));
        }
        result.sets.back().push_back(std::move(literals));
      }
    }
    return result;
  }

  void successors(const AbstractState& from, CertificateState& state) {
    for (const Move& move : moves(reduced_, certificate_, state)) {
      std::uint32_t to = kNowhere;
      const auto emit = [&](const AbstractState& after, const std::vector<Pick>& picks) {
        const bool same_control = std::equal(move.held.begin(), move.held.end(), after.held.begin());
        bool same_picks = true;
        for (std::size_t k = 0; k < picks.size(); ++k)
          same_picks = same_picks && from.sets[picks[k].operand][move.picks[k]] == picks[k].element;
        if (same_control && same_picks) to = covering(after);
      };
      if (move.nic) {
        stepper_.nic(from, move.step, emit);
      } else {
        stepper_.cpu(from, move.step, emit);
      }
      state.next.push_back(to == kNowhere ? kNowhere : place_.at(to));
    }
  }

  Stepper& stepper_;
  const std::vector<AbstractState>& kept_;
  const Reduced& reduced_;
  Certificate certificate_;
  std::vector<std::size_t> first_element_predicate_;
  std::map<Control, std::vector<std::uint32_t>> by_control_;
  std::vector<std::uint32_t> order_;
  std::map<std::uint32_t, std::uint32_t> place_;
};

}  // namespace

Certificate certify(Stepper& stepper, const std::vector<AbstractState>& kept, const Caps& caps,
                    const FlushMask& flushes) {
  return Certifier(stepper, kept, caps, flushes).run();
}

}  // namespace loco::verify::abstract
