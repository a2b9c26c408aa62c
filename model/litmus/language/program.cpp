#include "model/litmus/language/program.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace loco::model::litmus {
namespace {

Value wrap(std::uint64_t v) {
  // Two's complement, then kept clear of the special values at the bottom of the range.
  const auto s = static_cast<Value>(v);
  return is_integer(s) ? s : 0;
}

constexpr std::array<std::pair<std::string_view, Value>, 5> kNamedValues = {
    {{"true", kTrue}, {"false", kFalse}, {"empty", kEmpty}, {"bottom", kBottom}, {"undefined", kUndefined}}};

bool is_numeric(Value v) { return is_integer(v) || v == kTrue || v == kFalse; }

}  // namespace

std::optional<Value> named_value(std::string_view word) {
  const auto found = std::ranges::find(kNamedValues, word, &std::pair<std::string_view, Value>::first);
  return found == kNamedValues.end() ? std::nullopt : std::optional(found->second);
}

Value apply(ExprOp op, Value lhs, Value rhs) {
  // empty, bottom, undefined and tuples equal themselves only; true and false compare as 1 and 0.
  if ((op == ExprOp::eq || op == ExprOp::ne) && (!is_numeric(lhs) || !is_numeric(rhs)))
    return (lhs == rhs) == (op == ExprOp::eq) ? 1 : 0;
  const Value a = number(lhs), b = number(rhs);
  const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
  switch (op) {
    case ExprOp::constant:
    case ExprOp::reg:
      return lhs;
    case ExprOp::negate:
      return wrap(0 - ua);
    case ExprOp::logical_not:
      return a == 0 ? 1 : 0;
    case ExprOp::add:
      return wrap(ua + ub);
    case ExprOp::sub:
      return wrap(ua - ub);
    case ExprOp::mul:
      return wrap(ua * ub);
    case ExprOp::eq:
      return a == b ? 1 : 0;
    case ExprOp::ne:
      return a != b ? 1 : 0;
    case ExprOp::lt:
      return a < b ? 1 : 0;
    case ExprOp::le:
      return a <= b ? 1 : 0;
    case ExprOp::gt:
      return a > b ? 1 : 0;
    case ExprOp::ge:
      return a >= b ? 1 : 0;
    case ExprOp::logical_and:
      return a != 0 && b != 0 ? 1 : 0;
    case ExprOp::logical_or:
      return a != 0 || b != 0 ? 1 : 0;
  }
  return 0;
}

bool matches(const PartialOutcome& partial, OutcomeView outcome) {
  return std::all_of(partial.begin(), partial.end(), [&](const auto& p) { return at(outcome, p.first) == p.second; });
}

bool agrees(const PartialOutcome& partial, OutcomeView outcome) {
  return std::all_of(partial.begin(), partial.end(),
                     [&](const auto& p) { return p.second == kUndefined || at(outcome, p.first) == p.second; });
}

bool agrees(OutcomeView allowed, OutcomeView seen) {
  return std::equal(allowed.begin(), allowed.end(), seen.begin(), seen.end(),
                    [](Value a, Value s) { return a == kUndefined || a == s; });
}

std::string Program::text(Value v) const {
  if (is_integer(v)) return std::to_string(v);
  if (is_tuple(v)) {
    std::string s = "[";
    for (const Value e : tuples[static_cast<std::size_t>(v - kFirstTuple)]) s += (s.size() > 1 ? ", " : "") + text(e);
    return s + "]";
  }
  if (v == kNoName) return "_";
  if (v >= kFirstName && v < kFirstName + len(request_names()))
    return request_names()[static_cast<std::size_t>(v - kFirstName)];
  const auto found = std::ranges::find(kNamedValues, v, &std::pair<std::string_view, Value>::second);
  return std::string(found == kNamedValues.end() ? "undefined" : found->first);
}

std::string Program::text(OutcomeView outcome) const {
  std::string s;
  for (int i = 0; i < len(observables); ++i)
    s += (i > 0 ? " " : "") + litmus::at(observables, i).name + "=" + text(litmus::at(outcome, i));
  return s;
}

std::string Program::text(const PartialOutcome& partial, const char* otherwise, std::string_view between) const {
  std::string s;
  for (const auto& [observable, value] : partial)
    s.append(s.empty() ? "" : between).append(litmus::at(observables, observable).name + "=" + text(value));
  return s.empty() ? otherwise : s;
}

Value Program::identifier(int work_id) const {
  if (work_id == kNone || work_id >= kNamesMax) return kNoName;
  const std::string& word = litmus::at(work_ids, work_id);
  Value number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc() && end == word.data() + word.size() && number <= kValueMax) return number;
  return kFirstName + work_id;
}

Value Program::intern(const std::vector<Value>& tuple) {
  const auto it = std::find(tuples.begin(), tuples.end(), tuple);
  const auto index = it - tuples.begin();
  if (it == tuples.end()) tuples.push_back(tuple);
  return kFirstTuple + static_cast<Value>(index);
}

int Thread::temporary() {
  registers.push_back({"$" + std::to_string(len(registers)), true});
  return len(registers) - 1;
}

int Program::add(const Expr& expr) {
  exprs.push_back(expr);
  return len(exprs) - 1;
}

int Program::add_fresh_word(int node, Value init) {
  Location l;
  l.name = "$" + std::to_string(len(locations));
  l.node = node;
  l.init = init;
  l.fresh = true;
  locations.push_back(std::move(l));
  return len(locations) - 1;
}

int Program::work_id(const std::string& written) {
  const auto it = std::find(work_ids.begin(), work_ids.end(), written);
  const auto index = static_cast<int>(it - work_ids.begin());
  if (it == work_ids.end()) work_ids.push_back(written);
  return index;
}

int Program::mention(int node) {
  const auto it = std::lower_bound(nodes.begin(), nodes.end(), node);
  if (it == nodes.end() || *it != node) nodes.insert(it, node);
  return node;
}

}  // namespace loco::model::litmus
