#include "verify/abstract/certificate.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "text/json.hpp"

namespace loco::verify::abstract {

namespace {

using nlohmann::ordered_json;

constexpr std::string_view kFormat = "loco-sim verify certificate 1";

std::string variable_name(const Reduced& reduced, Variable v) {
  const Program& program = *reduced.program;
  if (v < reduced.local(0)) return program.shared.at(v - 1).name;
  if (v < reduced.memory_end()) {
    const LocalVariable& local = program.locals.at(v - reduced.local(0));
    return fmt::format("{}@{}", local.name, program.processes[local.process].name());
  }
  std::uint32_t operand = 0;
  for (const Channel& c : reduced.channels) {
    for (const Operand& o : c.operands) {
      if (o.element == v) return fmt::format("#{}", operand);
      ++operand;
    }
  }
  return "?";
}

std::uint32_t operands_before(const Reduced& reduced, std::uint32_t channel) {
  std::uint32_t count = 0;
  for (std::uint32_t c = 0; c < channel; ++c) count += static_cast<std::uint32_t>(reduced.channels[c].operands.size());
  return count;
}

bool waits(const Reduced& reduced, std::uint32_t flush, const std::vector<std::uint32_t>& held) {
  const Program& program = *reduced.program;
  for (std::size_t c = 0; c < held.size(); ++c)
    if (held[c] > 0 && awaits(program.flushes[flush], program.remotes[reduced.channels[c].remote])) return true;
  return false;
}

void cpu_moves(const Reduced& reduced, const Certificate& certificate, const CertificateState& state,
               std::vector<Move>& result) {
  for (std::uint32_t i = 0; i < reduced.cpu.size(); ++i) {
    const CpuStep& step = reduced.cpu[i];
    if (state.at[step.process] != step.from) continue;
    if (step.flush && certificate.flushes[*step.flush] && waits(reduced, *step.flush, state.held)) continue;
    Move move{false, i, {}, state.at, state.held, state.behind};
    if (!step.fails) move.at[step.process] = step.to;
    if (step.issues) {
      const std::uint32_t c = *step.issues;
      for (std::size_t k = 0; k < reduced.ordered.size(); ++k) {
        const auto& [first, second] = reduced.ordered[k];
        if (second == c && state.held[c] == 0) move.behind[k] = state.held[first] > 0;
      }
      move.held[c] = std::min(state.held[c] + 1, certificate.caps[c]);
    }
    result.push_back(std::move(move));
  }
}

void nic_moves(const Reduced& reduced, const Certificate& certificate, const CertificateState& state, std::uint32_t i,
               std::vector<std::uint32_t> picks, std::vector<Move>& result) {
  const NicStep& step = reduced.nic[i];
  const Channel& channel = reduced.channels[step.channel];
  if (picks.size() < channel.operands.size()) {
    const auto& list = state.sets[operands_before(reduced, step.channel) + picks.size()];
    picks.push_back(0);
    for (; picks.back() < list.size(); ++picks.back()) nic_moves(reduced, certificate, state, i, picks, result);
    return;
  }
  for (std::uint32_t left = state.held[step.channel] - 1; left <= state.held[step.channel]; ++left) {
    if (left == state.held[step.channel] && left != certificate.caps[step.channel]) break;
    Move move{true, i, picks, state.at, state.held, state.behind};
    move.held[step.channel] = left;
    if (channel.next)
      move.held[*channel.next] = std::min(state.held[*channel.next] + 1, certificate.caps[*channel.next]);
    for (std::size_t k = 0; k < reduced.ordered.size(); ++k) {
      const auto& [first, second] = reduced.ordered[k];
      if (first == step.channel || (second == step.channel && left == 0)) move.behind[k] = false;
    }
    result.push_back(std::move(move));
  }
}

ordered_json predicate_json(const Reduced& reduced, const Linear& predicate) {
  ordered_json terms = ordered_json::object();
  for (const Term& t : predicate.terms) terms[variable_name(reduced, t.variable)] = t.factor;
  return {{"sum", terms}, {"at most", -predicate.constant}};
}

template <typename T>
T field(const ordered_json& json, const char* name) {
  if (!json.is_object() || !json.contains(name))
    throw std::invalid_argument(fmt::format("expected a certificate with \"{}\", found none", name));
  try {
    return json.at(name).get<T>();
  } catch (const nlohmann::json::exception&) {
    throw std::invalid_argument(fmt::format("expected another kind of value for \"{}\"", name));
  }
}

[[noreturn]] void wrong(const char* what) { throw std::invalid_argument(fmt::format("expected {}", what)); }

ordered_json parsed(std::string_view text) {
  try {
    return text::parse_json(text);
  } catch (const nlohmann::json::parse_error&) {
    wrong("JSON, found something else");
  }
}

class Reader {
 public:
  Reader(const Reduced& reduced, Certificate& certificate) : reduced_(reduced), certificate_(certificate) {
    for (Variable v = 1; v < reduced.anything; ++v) variables_[variable_name(reduced, v)] = v;
    for (const Channel& c : reduced.channels) operands_ += c.operands.size();
  }

  void predicate(const ordered_json& json) {
    Linear linear = Linear::of_constant(-field<Number>(json, "at most"));
    for (const auto& [name, factor] : field<std::map<std::string, Number>>(json, "sum")) {
      const auto v = variables_.find(name);
      if (v == variables_.end()) wrong("predicates over variables of the program");
      linear = plus(linear, times(Linear::of(v->second), factor));
    }
    certificate_.predicates.push_back(std::move(linear));
  }

  void state(const ordered_json& json) {
    CertificateState s;
    s.at = field<std::vector<std::uint32_t>>(json, "at");
    s.held = field<std::vector<std::uint32_t>>(json, "held");
    s.behind = field<std::vector<bool>>(json, "behind");
    s.memory = field<Literals>(json, "memory");
    s.sets = field<std::vector<std::vector<Literals>>>(json, "sets");
    for (const std::int64_t n : field<std::vector<std::int64_t>>(json, "next"))
      s.next.push_back(n < 0 ? kNowhere : static_cast<std::uint32_t>(n));
    check(s);
    certificate_.states.push_back(std::move(s));
  }

 private:
  void check(const CertificateState& s) const {
    if (s.at.size() != reduced_.steps_at.size()) wrong("a place for each process");
    for (std::size_t p = 0; p < s.at.size(); ++p) {
      if (s.at[p] >= reduced_.steps_at[p].size()) wrong("places of the program");
    }
    if (s.held.size() != reduced_.channels.size() || s.behind.size() != reduced_.ordered.size() ||
        s.sets.size() != operands_)
      wrong("a state with a value for each channel, pair of channels and operand");
    for (std::size_t c = 0; c < s.held.size(); ++c) {
      if (s.held[c] > certificate_.caps[c]) wrong("channels that hold no more than their cap");
    }
    literals(s.memory);
    for (const auto& set : s.sets) std::for_each(set.begin(), set.end(), [&](const Literals& l) { literals(l); });
  }

  void literals(const Literals& list) const {
    for (const std::int32_t l : list) {
      if (l == 0 || static_cast<std::size_t>(std::abs(std::int64_t{l})) > certificate_.predicates.size())
        wrong("literals over the predicates");
    }
  }

  const Reduced& reduced_;
  Certificate& certificate_;
  std::map<std::string, Variable> variables_;
  std::size_t operands_ = 0;
};

}  // namespace

std::vector<Move> moves(const Reduced& reduced, const Certificate& certificate, const CertificateState& state) {
  std::vector<Move> result;
  cpu_moves(reduced, certificate, state, result);
  for (std::uint32_t i = 0; i < reduced.nic.size(); ++i) {
    const std::uint32_t c = reduced.nic[i].channel;
    bool waiting = state.held[c] == 0;
    for (std::size_t k = 0; k < reduced.ordered.size(); ++k)
      waiting = waiting || (reduced.ordered[k].second == c && state.behind[k]);
    if (!waiting) nic_moves(reduced, certificate, state, i, {}, result);
  }
  return result;
}

std::string to_text(const Reduced& reduced, const Certificate& certificate) {
  ordered_json json{{"format", kFormat}, {"network", name(certificate.network)}};
  json["flushes"] = ordered_json::array();
  for (std::size_t f = 0; f < certificate.flushes.size(); ++f) {
    if (certificate.flushes[f]) json["flushes"].push_back(f);
  }
  json["caps"] = certificate.caps;
  json["predicates"] = ordered_json::array();
  for (const Linear& p : certificate.predicates) json["predicates"].push_back(predicate_json(reduced, p));
  json["states"] = ordered_json::array();
  for (const CertificateState& s : certificate.states) {
    std::vector<std::int64_t> next;
    for (const std::uint32_t n : s.next) next.push_back(n == kNowhere ? -1 : std::int64_t{n});
    json["states"].push_back(
        {{"at", s.at}, {"held", s.held}, {"behind", s.behind}, {"memory", s.memory}, {"sets", s.sets}, {"next", next}});
  }
  return text::json_text(json) + "\n";
}

Certificate certificate_from(const Program& program, std::string_view text) {
  const ordered_json json = parsed(text);
  if (field<std::string>(json, "format") != kFormat) wrong("the format of this version");
  Certificate certificate;
  const auto network = std::find(kNetworkNames.begin(), kNetworkNames.end(), field<std::string>(json, "network"));
  if (network == kNetworkNames.end()) wrong("the name of a network");
  certificate.network = static_cast<Network>(network - kNetworkNames.begin());
  certificate.flushes.assign(program.flushes.size(), false);
  for (const std::uint32_t f : field<std::vector<std::uint32_t>>(json, "flushes")) {
    if (f >= program.flushes.size()) wrong("flushes of the program");
    certificate.flushes[f] = true;
  }
  const Reduced reduced = reduce(program, certificate.network);
  certificate.caps = field<std::vector<std::uint32_t>>(json, "caps");
  if (certificate.caps.size() != reduced.channels.size() ||
      std::count(certificate.caps.begin(), certificate.caps.end(), 0) != 0)
    wrong("a cap for each channel");
  Reader reader(reduced, certificate);
  for (const auto& p : field<std::vector<ordered_json>>(json, "predicates")) reader.predicate(p);
  for (const auto& s : field<std::vector<ordered_json>>(json, "states")) reader.state(s);
  if (certificate.states.empty()) wrong("states");
  return certificate;
}

}  // namespace loco::verify::abstract
