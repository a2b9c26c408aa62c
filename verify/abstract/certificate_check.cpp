#include "verify/abstract/certificate_check.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>
#include <z3++.h>

namespace loco::verify::abstract {

namespace {

struct Rejected : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The part of the limit that the solver may use; empty when there is no limit.
std::optional<unsigned> milliseconds_left(const Limits& limits) {
  using Clock = std::chrono::steady_clock;
  if (limits.deadline == Clock::time_point::max()) return std::nullopt;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(limits.deadline - Clock::now()).count();
  return static_cast<unsigned>(std::clamp<std::int64_t>(left, 1, std::numeric_limits<int>::max()));
}

class Checker {
 public:
  Checker(const Program& program, const Certificate& certificate, const Limits& limits)
      : certificate_(certificate),
        limits_(limits),
        reduced_(reduce(program, certificate.network)),
        solver_(context_),
        kept_(context_) {
    for (Variable v = 0; v < reduced_.variables; ++v)
      now_.push_back(v == kZero ? context_.int_val(0) : context_.int_const(fmt::format("v{}", v).c_str()));
    for (const Channel& c : reduced_.channels) {
      first_operand_.push_back(static_cast<std::uint32_t>(operands_.size()));
      for (const Operand& o : c.operands) operands_.push_back(o);
    }
  }

  CertificateVerdict run() {
    CertificateVerdict verdict;
    try {
      initial();
      for (std::uint32_t s = 0; s < certificate_.states.size(); ++s) state(s);
      verdict.accepted = true;
    } catch (const Rejected& reason) {
      verdict.why = reason.what();
    } catch (const LimitReached& reason) {
      verdict.ended = false;
      verdict.why = fmt::format("{} after {} obligations", reason.what(), obligations_);
    }
    verdict.obligations = obligations_;
    return verdict;
  }

 private:
  using Values = std::vector<z3::expr>;  ///< [variable]

  z3::expr number(Number n) { return context_.int_val(static_cast<std::int64_t>(n)); }

  z3::expr value(const Linear& linear, const Values& values) {
    z3::expr sum = number(linear.constant);
    for (const Term& t : linear.terms) sum = sum + number(t.factor) * values[t.variable];
    return sum;
  }

  z3::expr holds(const Linear& atom, const Values& values) { return value(atom, values) <= 0; }

  z3::expr all(const Literals& literals, const Values& values) {
    z3::expr result = context_.bool_val(true);
    for (const std::int32_t l : literals) {
      const z3::expr atom = holds(certificate_.predicates[static_cast<std::size_t>(std::abs(l)) - 1], values);
      result = result && (l > 0 ? atom : !atom);
    }
    return result;
  }

  // -- what is asserted at the moment

  void assume(const z3::expr& fact) {
    const auto id = Z3_get_ast_id(context_, fact);
    if (known_.insert(id).second) kept_.push_back(fact);  // the number of a formula never changes
    asserted_.push_back(fact);
  }

  /// Z3 answers each question once: states that differ in what no predicate speaks of have the same ones.
  bool implied(const z3::expr& claim) {
    ++obligations_;
    limits_.tick();
    std::vector<unsigned> question;
    for (const z3::expr& fact : asserted_) question.push_back(Z3_get_ast_id(context_, fact));
    std::sort(question.begin(), question.end());
    question.erase(std::unique(question.begin(), question.end()), question.end());
    question.push_back(Z3_get_ast_id(context_, claim));
    const auto [answer, added] = answers_.try_emplace(std::move(question), false);
    if (!added) return answer->second;
    if (known_.insert(answer->first.back()).second) kept_.push_back(claim);
    limits_.look_at_all();
    solver_.reset();
    for (const z3::expr& fact : asserted_) solver_.add(fact);
    solver_.add(!claim);
    if (const auto left = milliseconds_left(limits_)) solver_.set("timeout", *left);
    const z3::check_result result = solver_.check();
    if (result == z3::unknown) limits_.look_at_all();
    return answer->second = result == z3::unsat;
  }

  /// A scope of the solver: assertions made during its lifetime end with it.
  class Scope {
   public:
    explicit Scope(Checker& checker) : checker_(checker), size_(checker.asserted_.size()) {}
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() {
      checker_.asserted_.erase(checker_.asserted_.begin() + static_cast<std::ptrdiff_t>(size_),
                               checker_.asserted_.end());
    }

   private:
    Checker& checker_;
    std::size_t size_;
  };

  [[noreturn]] void reject(std::uint32_t state, const std::string& why) const {
    throw Rejected(fmt::format("state {}: {}", state, why));
  }

  void initial() {
    const CertificateState& first = certificate_.states.front();
    for (std::size_t p = 0; p < first.at.size(); ++p) {
      if (first.at[p] != reduced_.program->processes[p].entry) reject(0, "a process does not stand at its start");
    }
    for (const std::uint32_t held : first.held) {
      if (held != 0) reject(0, "something is pending at the start");
    }
    for (const bool behind : first.behind) {
      if (behind) reject(0, "something waits at the start");
    }
    Values values = now_;
    for (std::size_t v = 0; v < reduced_.initial.size(); ++v) values[v + 1] = number(reduced_.initial[v]);
    if (!implied(all(first.memory, values))) reject(0, "does not have the initial memory");
  }

  bool ended(const CertificateState& s) const {
    for (std::size_t p = 0; p < s.at.size(); ++p) {
      if (s.at[p] != reduced_.program->processes[p].exit) return false;
    }
    return true;
  }

  void state(std::uint32_t number) {
    const CertificateState& s = certificate_.states[number];
    asserted_.clear();
    assume(all(s.memory, now_));
    for (const Violation& v : reduced_.violations) property(number, v);
    const std::vector<Move> all_moves = moves(reduced_, certificate_, s);
    if (all_moves.size() != s.next.size()) reject(number, "another number of steps than the program has there");
    for (std::size_t m = 0; m < all_moves.size(); ++m) {
      const Scope scope(*this);
      move(number, all_moves[m], s.next[m]);
    }
  }

  void property(std::uint32_t number, const Violation& violation) {
    const CertificateState& s = certificate_.states[number];
    if (violation.final && !ended(s)) return;
    for (const Standing& at : violation.where.standing) {
      if ((s.at[at.process] == at.location) != at.there) return;
    }
    z3::expr broken = context_.bool_val(true);
    for (const Linear& atom : violation.where.atoms) broken = broken && holds(atom, now_);
    if (!implied(!broken)) reject(number, "a property does not hold");
  }

  void move(std::uint32_t number, const Move& move, std::uint32_t to) {
    const CertificateState& s = certificate_.states[number];
    const Command& command = move.nic ? reduced_.nic[move.step].command : reduced_.cpu[move.step].command;
    if (move.nic) {
      const std::uint32_t first = first_operand_[reduced_.nic[move.step].channel];
      for (std::uint32_t k = 0; k < move.picks.size(); ++k) assume(all(s.sets[first + k][move.picks[k]], now_));
    }
    for (const Linear& guard : command.guards) assume(holds(guard, now_));
    if (to == kNowhere) {
      if (!impossible(s)) reject(number, "a step is possible for which no state is named");
      return;
    }
    if (!move.nic && reduced_.cpu[move.step].fails) reject(number, "a failing assertion leads somewhere");
    if (to >= certificate_.states.size()) reject(number, "a step leads to a state that is not there");
    const CertificateState& t = certificate_.states[to];
    if (t.at != move.at || t.held != move.held || t.behind != move.behind)
      reject(number, fmt::format("a step does not lead to state {}", to));
    Values next = now_;
    for (const Assignment& a : command.assignments)
      next[a.target] = a.value ? value(*a.value, now_) : context_.int_const("any");
    if (!implied(all(t.memory, next))) reject(number, fmt::format("memory after a step is not that of state {}", to));
    for (std::uint32_t c = 0; c < reduced_.channels.size(); ++c) {
      if (t.held[c] > 0) channel(number, c, move, next, t);
    }
  }

  /// No memory is like that, or a set that has a number has none of a kind that fits.
  bool impossible(const CertificateState& s) {
    if (implied(context_.bool_val(false))) return true;
    for (std::uint32_t c = 0; c < reduced_.channels.size(); ++c) {
      for (std::uint32_t o = first_operand_[c];
           s.held[c] > 0 && o < first_operand_[c] + reduced_.channels[c].operands.size(); ++o) {
        bool none = true;
        for (const Literals& kind : s.sets[o]) none = none && implied(!all(kind, with_element(now_, o, other())));
        if (none) return true;
      }
    }
    return false;
  }

  z3::expr other() { return now_[reduced_.other]; }

  Values with_element(const Values& values, std::uint32_t operand, const z3::expr& element) const {
    Values result = values;
    result[operands_[operand].element] = element;
    return result;
  }

  /// The elements of a channel's sets after the move, old and new.
  void channel(std::uint32_t number, std::uint32_t c, const Move& move, const Values& next, const CertificateState& t) {
    const CertificateState& s = certificate_.states[number];
    const Command& command = move.nic ? reduced_.nic[move.step].command : reduced_.cpu[move.step].command;
    for (std::uint32_t o = first_operand_[c]; o < first_operand_[c] + reduced_.channels[c].operands.size(); ++o) {
      const auto fits = [&](const z3::expr& element) {
        for (const Literals& kind : t.sets[o]) {
          if (implied(all(kind, with_element(next, o, element)))) return true;
        }
        return false;
      };
      const auto added = [&](const z3::expr& element) {
        if (!fits(element)) reject(number, "a number that a step adds to a set is not of its kinds");
      };
      if (s.held[c] > 0) {
        for (const Literals& kind : s.sets[o]) {
          const Scope scope(*this);
          assume(all(kind, with_element(now_, o, other())));
          if (!fits(other())) reject(number, "a number of a set is not of its kinds after a step");
        }
        for (const Assignment& a : command.assignments) {
          if (a.target == operands_[o].source && a.target != kZero) added(next[a.target]);
        }
      }
      if (!move.nic && reduced_.cpu[move.step].issues == c) added(now_[operands_[o].source]);
      if (move.nic && reduced_.channels[reduced_.nic[move.step].channel].next == c)
        added(value(reduced_.nic[move.step].result.value(), now_));
    }
  }

  const Certificate& certificate_;
  const Limits& limits_;
  Reduced reduced_;
  z3::context context_;
  z3::solver solver_;
  z3::expr_vector kept_;  ///< formulas that have a number
  std::set<unsigned> known_;
  std::vector<z3::expr> asserted_;
  std::map<std::vector<unsigned>, bool> answers_;  ///< by the numbers of the asserted facts and of the claim
  Values now_;
  std::vector<Operand> operands_;
  std::vector<std::uint32_t> first_operand_;
  std::uint64_t obligations_ = 0;
};

}  // namespace

CertificateVerdict check_certificate(const Program& program, const Certificate& certificate, const Limits& limits) {
  return Checker(program, certificate, limits).run();
}

}  // namespace loco::verify::abstract
