// Programs as herd's X86.
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "model/litmus/language/herd.hpp"
#include "text/words.hpp"

namespace loco::model::litmus {

namespace {

/// As in the file that the program is from, if it is one of herd's.
std::string location_name(const Program& p, int location) {
  const std::string& name = at(p.locations, location).name;
  return p.condition && name.starts_with("l_") ? name.substr(2) : name;
}

/// X86 of one thread, an instruction a line; nothing where it has none.
std::optional<std::vector<std::string>> x86(const Program& p, const Thread& t, std::map<int, std::string>& registers) {
  static const std::vector<std::string> kRegisters = {"EAX", "EBX", "ECX", "EDX", "ESI", "EDI"};
  std::vector<std::string> lines;
  const auto reg = [&](int r) -> std::optional<std::string> {
    if (const auto known = registers.find(r); known != registers.end()) return known->second;
    if (registers.size() == kRegisters.size()) return std::nullopt;
    return registers[r] = kRegisters[registers.size()];
  };
  for (const Instruction& i : t.code) {
    const Expr* const e = i.expr == kNone ? nullptr : &at(p.exprs, i.expr);
    std::optional<std::string> value;
    if (e != nullptr && e->op == ExprOp::constant && is_integer(e->constant)) value = "$" + std::to_string(e->constant);
    if (e != nullptr && e->op == ExprOp::reg) value = reg(e->reg);
    const bool plain = i.location != kNone && at(p.locations, i.location).kind == LocationKind::word;
    if (i.op == Op::mfence) {
      lines.emplace_back("MFENCE");
    } else if (i.op == Op::read && plain) {
      const auto r = reg(i.target);
      if (!r) return std::nullopt;
      lines.push_back("MOV " + *r + ",[" + location_name(p, i.location) + "]");
    } else if (i.op == Op::write && plain && value) {
      lines.push_back("MOV [" + location_name(p, i.location) + "]," + *value);
    } else if (i.op == Op::assign && value) {
      const auto r = reg(i.target);
      if (!r) return std::nullopt;
      lines.push_back("MOV " + *r + "," + *value);
    } else {
      return std::nullopt;
    }
  }
  return lines;
}

}  // namespace

std::optional<std::string> to_herd_file(const Program& p) {
  if (is_corerma(p.model) || p.threads.empty()) return std::nullopt;
  std::vector<std::vector<std::string>> columns;
  std::vector<std::map<int, std::string>> registers(p.threads.size());
  std::size_t rows = 0;
  for (int t = 0; t < len(p.threads); ++t) {
    if (at(p.threads, t).node != p.threads.front().node) return std::nullopt;
    auto lines = x86(p, at(p.threads, t), at(registers, t));
    if (!lines) return std::nullopt;
    rows = std::max(rows, lines->size());
    columns.push_back(std::move(*lines));
  }
  std::string s = "X86 " + p.name + "\n{";
  for (int l = 0; l < len(p.locations); ++l)
    s += " " + location_name(p, l) + "=" + std::to_string(at(p.locations, l).init) + ";";
  s += " }\n";
  std::vector<std::size_t> width;
  for (int t = 0; t < len(columns); ++t) {
    std::size_t w = 3;
    for (const std::string& line : at(columns, t)) w = std::max(w, line.size());
    width.push_back(w);
  }
  const auto row = [&](const auto& cell) {
    for (int t = 0; t < len(columns); ++t) {
      const std::string text = cell(t);
      s += (t > 0 ? " | " : " ") + text + std::string(at(width, t) - text.size(), ' ');
    }
    s += " ;\n";
  };
  row([](int t) { return "P" + std::to_string(t); });
  for (std::size_t r = 0; r < rows; ++r)
    row([&](int t) { return r < at(columns, t).size() ? at(columns, t)[r] : std::string(); });
  // the outcomes that the document asks for: one that is allowed, or all that are forbidden
  const auto name = [&](const Observable& o) {
    if (o.thread == kNone) return location_name(p, o.location);
    const auto& known = at(registers, o.thread);
    const auto r = known.find(o.reg);
    return std::to_string(o.thread) + ":" + (r == known.end() ? std::string("EAX") : r->second);
  };
  s += "locations [";
  for (const Observable& o : p.observables) s += name(o) + ";";
  s += "]\n";
  if (p.condition) {
    HerdCondition named = *p.condition;
    for (std::size_t o = 0; o < named.names.size(); ++o) named.names[o] = name(p.observables[o]);
    return s + text(named) + "\n";
  }
  const bool forbidden = p.allowed.empty() && !p.forbidden.empty();
  std::string any;
  for (const PartialOutcome& partial : forbidden ? p.forbidden : p.allowed) {
    std::string all;
    for (const auto& [observable, value] : partial) {
      if (!is_integer(value)) return std::nullopt;
      all += (all.empty() ? "" : " /\\ ") + name(at(p.observables, observable)) + "=" + std::to_string(value);
    }
    any += (any.empty() ? "" : " \\/ ") + (all.empty() ? std::string("true") : "(" + all + ")");
    if (!forbidden) break;  // `exists` asks for one of them
  }
  return s + (forbidden ? "~exists (" : "exists (") + (any.empty() ? "true" : any) + ")\n";
}

}  // namespace loco::model::litmus
