// An experiment beside the engines of `loco-sim verify`: the reduction of a program (verify/abstract/reduced.hpp) as
// constrained Horn clauses, for Spacer (Komuravelli, Gurfinkel, Chaki, CAV 2014), which comes with Z3. Sets are arrays
// of truth values, counts of pending operations "some or none". docs/verify.md says what came out.
//
//   bench_horn [--network unordered|sc] [--seconds S] FILE.rma...
//
// One line for each program; each has a process of its own with so many seconds of processor time and 4 GiB.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>
#include <z3++.h>

#include "verify/abstract/footprint.hpp"
#include "verify/abstract/reduced.hpp"
#include "verify/parser.hpp"

namespace {

using namespace loco::verify;
using namespace loco::verify::abstract;

/// The clauses: a relation for each tuple of places, over memory and, for each channel, whether it holds something, and
/// its sets.
class Clauses {
 public:
  Clauses(const Program& program, Network network)
      : program_(program), reduced_(reduce(program, network)), solver_(context_) {
    for (Variable v = 1; v < reduced_.memory_end(); ++v) declare(fmt::format("v{}", v), context_.int_sort());
    for (std::size_t c = 0; c < reduced_.channels.size(); ++c) {
      held_.push_back(state_.size());
      declare(fmt::format("held{}", c), context_.bool_sort());
      for (std::size_t o = 0; o < reduced_.channels[c].operands.size(); ++o)
        declare(fmt::format("set{}_{}", c, o), set_sort());
    }
    broken_ = std::make_unique<z3::func_decl>(context_.function("broken", 0, nullptr, context_.bool_sort()));
    solver_.register_relation(*broken_);
    // What a step takes out of sets, and a number of which nothing is known.
    for (Variable v = reduced_.memory_end(); v < reduced_.variables; ++v)
      picked_.push_back(context_.int_const(fmt::format("e{}", v).c_str()));
    z3::params options(context_);
    options.set("engine", context_.str_symbol("spacer"));
    solver_.set(options);
  }

  z3::check_result solve() {
    initial();
    while (!waiting_.empty()) {
      here_ = waiting_.back();
      waiting_.pop_back();
      for (const CpuStep& step : reduced_.cpu) {
        if (here_[step.process] == step.from) cpu(step);
      }
      for (const NicStep& step : reduced_.nic) nic(step);
      for (const Violation& violation : reduced_.violations) property(violation);
    }
    z3::expr query = (*broken_)();
    return solver_.query(query);
  }

 private:
  using State = std::vector<z3::expr>;
  using Places = std::vector<std::uint32_t>;

  z3::sort set_sort() { return context_.array_sort(context_.int_sort(), context_.bool_sort()); }
  void declare(const std::string& name, const z3::sort& sort) {
    state_.push_back(context_.constant(name.c_str(), sort));
  }
  z3::expr number(Number n) { return context_.int_val(static_cast<std::int64_t>(n)); }
  [[nodiscard]] static std::size_t place(Variable v) { return v - 1; }
  z3::expr value(Variable v) {
    if (v == kZero) return number(0);
    return v < reduced_.memory_end() ? state_[place(v)] : picked_[v - reduced_.memory_end()];
  }
  z3::expr value(const Linear& linear) {
    z3::expr sum = number(linear.constant);
    for (const Term& t : linear.terms) sum = sum + number(t.factor) * value(t.variable);
    return sum;
  }

  void rule(const z3::expr& body, const z3::expr& head) {
    z3::expr_vector bound(context_);
    for (const z3::expr& e : state_) bound.push_back(e);
    for (const z3::expr& e : picked_) bound.push_back(e);
    z3::expr clause = z3::forall(bound, z3::implies(body, head));
    solver_.add_rule(clause, context_.str_symbol(fmt::format("r{}", rules_++).c_str()));
  }
  z3::expr reached(const Places& places, const State& state) {
    auto found = relations_.find(places);
    if (found == relations_.end()) {
      if (relations_.size() == kRelationsMax) throw std::runtime_error("too many tuples of places");
      z3::sort_vector sorts(context_);
      for (const z3::expr& e : state_) sorts.push_back(e.get_sort());
      const std::string name = fmt::format("at_{}", fmt::join(places, "_"));
      found = relations_.emplace(places, context_.function(name.c_str(), sorts, context_.bool_sort())).first;
      solver_.register_relation(found->second);
      waiting_.push_back(places);
    }
    z3::expr_vector arguments(context_);
    for (const z3::expr& e : state) arguments.push_back(e);
    return found->second(arguments);
  }

  void initial() {
    State first;
    Places places;
    for (const Process& p : program_.processes) places.push_back(p.entry);
    for (const Number n : reduced_.initial) first.push_back(number(n));
    for (const Channel& c : reduced_.channels) {
      first.push_back(context_.bool_val(false));
      for (std::size_t o = 0; o < c.operands.size(); ++o) first.push_back(empty());
    }
    rule(context_.bool_val(true), reached(places, first));
  }

  z3::expr empty() { return z3::const_array(context_.int_sort(), context_.bool_val(false)); }

  /// `then` holds the values of memory after the command; sets of what is pending get what their sources became.
  z3::expr obey(const Command& command, State& then) {
    z3::expr body = reached(here_, state_);
    for (const Linear& guard : command.guards) body = body && value(guard) <= 0;
    for (const Assignment& a : command.assignments)
      then[place(a.target)] = a.value ? value(*a.value) : value(reduced_.anything);
    for (std::size_t c = 0; c < reduced_.channels.size(); ++c) {
      for (std::size_t o = 0; o < reduced_.channels[c].operands.size(); ++o) {
        const Variable source = reduced_.channels[c].operands[o].source;
        if (source == kZero || z3::eq(then[place(source)], state_[place(source)])) continue;
        z3::expr& set = then[held_[c] + 1 + o];
        set = z3::store(set, then[place(source)], context_.bool_val(true));
      }
    }
    return body;
  }

  /// An operation with these operands enters a channel.
  void enter(std::uint32_t channel, const std::vector<z3::expr>& operands, State& then) {
    z3::expr& held = then[held_[channel]];
    for (std::size_t o = 0; o < operands.size(); ++o) {
      z3::expr& set = then[held_[channel] + 1 + o];
      set = z3::store(z3::ite(held, set, empty()), operands[o], context_.bool_val(true));
    }
    held = context_.bool_val(true);
  }

  void cpu(const CpuStep& step) {
    State then = state_;
    z3::expr body = obey(step.command, then);
    if (step.fails) return rule(body, (*broken_)());
    Places to = here_;
    to[step.process] = step.to;
    if (step.flush) {
      const std::vector<bool> waits = Footprint(reduced_, all_flushes(program_)).waits(*step.flush);
      for (std::size_t c = 0; c < waits.size(); ++c) {
        if (waits[c]) body = body && !state_[held_[c]];
      }
    }
    if (step.issues) {
      std::vector<z3::expr> operands;
      for (const Operand& o : reduced_.channels[*step.issues].operands) operands.push_back(value(o.source));
      enter(*step.issues, operands, then);
    }
    rule(body, reached(to, then));
  }

  void nic(const NicStep& step) {
    const Channel& channel = reduced_.channels[step.channel];
    State then = state_;
    z3::expr body = obey(step.command, then) && state_[held_[step.channel]];
    for (std::size_t o = 0; o < channel.operands.size(); ++o)
      body = body && z3::select(state_[held_[step.channel] + 1 + o], value(channel.operands[o].element));
    if (step.result) enter(channel.next.value(), {value(*step.result)}, then);
    rule(body, reached(here_, then));  // more of them are left
    then[held_[step.channel]] = context_.bool_val(false);
    rule(body, reached(here_, then));
  }

  void property(const Violation& violation) {
    for (std::size_t p = 0; violation.final && p < here_.size(); ++p) {
      if (here_[p] != program_.processes[p].exit) return;
    }
    for (const Standing& s : violation.where.standing) {
      if ((here_[s.process] == s.location) != s.there) return;
    }
    z3::expr body = reached(here_, state_);
    for (const Linear& atom : violation.where.atoms) body = body && value(atom) <= 0;
    rule(body, (*broken_)());
  }

  const Program& program_;
  const Reduced reduced_;
  z3::context context_;
  z3::fixedpoint solver_;
  State state_;
  State picked_;
  std::vector<std::size_t> held_;  // by channel: where its part of the state begins
  static constexpr std::size_t kRelationsMax = 50'000;
  std::map<Places, z3::func_decl> relations_;  // by the places of all processes, those that some path comes by
  std::vector<Places> waiting_;                // whose steps have no clauses yet
  Places here_;
  std::unique_ptr<z3::func_decl> broken_;
  int rules_ = 0;
};

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("expected a readable file, found none");
  return {std::istreambuf_iterator<char>(in), {}};
}

/// In a process of its own: 0 safe, 1 a path of the reduction breaks something, 3 unknown, 2 something went wrong.
int solve(const std::string& path, Network network) {
  try {
    const Program program = parse(text_of(path), path);
    const z3::check_result result = Clauses(program, network).solve();
    return result == z3::unsat ? 0 : result == z3::sat ? 1 : 3;
  } catch (const std::exception& error) {  // Z3's among them
    fmt::print("{}: {}\n", path, error.what());
    std::fflush(stdout);
  }
  return 2;
}

void limited(const std::string& path, Network network, unsigned seconds) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit time{seconds, seconds};
    const rlimit memory{rlim_t{4} << 30U, rlim_t{4} << 30U};
    setrlimit(RLIMIT_CPU, &time);
    setrlimit(RLIMIT_AS, &memory);
    _exit(solve(path, network));
  }
  int status = 0;
  rusage used{};
  wait4(child, &status, 0, &used);
  const double took = static_cast<double>(used.ru_utime.tv_sec) + static_cast<double>(used.ru_utime.tv_usec) * 1e-6;
  constexpr std::array<const char*, 4> kAnswers{"safe", "broken in the reduction", "error", "unknown"};
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  fmt::print("{}: {} under {}, {:.2f} s\n", path,
             code >= 0 && code < 4 ? kAnswers.at(static_cast<std::size_t>(code)) : "no answer", name(network), took);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Network network = Network::kUnordered;
  unsigned seconds = 60;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--seconds" && i + 1 < argc) {
      seconds = static_cast<unsigned>(std::strtoul(argv[++i], nullptr, 10));
    } else if (word == "--network" && i + 1 < argc) {
      network = std::string_view(argv[++i]) == "sc" ? Network::kSc : Network::kUnordered;
    } else {
      limited(std::string(word), network, seconds);
    }
  }
}
