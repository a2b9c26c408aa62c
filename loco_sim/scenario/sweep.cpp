#include "loco_sim/scenario/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <optional>

#include "loco_sim/scenario/settings.hpp"
#include "options/units.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"
#include "yaml/node.hpp"

namespace loco::scenario {

namespace {

constexpr const char* kForms =
    "a list of values, {range: [FROM, TO, STEP]}, {log_range: [FROM, TO, COUNT]}, {uniform: [FROM, TO]}, "
    "{log_uniform: [FROM, TO]} or {choice: [VALUE, ...]}";

/// A number with or without a unit, with how to write another one of its kind.
struct Amount {
  std::int64_t number = 0;
  Type type = Type::integer;
};

std::optional<Amount> amount_of(const yaml::Node& node) {
  if (node.kind != yaml::Node::Kind::scalar) return {};
  if (const auto plain = text::parse_integer(node.text)) {
    if (node.quoted) return {};
    return Amount{*plain, Type::integer};
  }
  if (const auto time = options::parse_quantity(node.text, Type::duration)) return Amount{*time, Type::duration};
  if (const auto rate = options::parse_quantity(node.text, Type::rate)) return Amount{*rate, Type::rate};
  if (const auto size = options::parse_quantity(node.text, Type::size)) return Amount{*size, Type::size};
  return {};
}

Amount required_amount(const yaml::Node& node, const std::string& path) {
  const std::optional<Amount> amount = amount_of(node);
  if (!amount) throw text::InputError(node.place, path, "a whole number, a time, a size or a rate", node.description());
  return *amount;
}

/// FROM and TO of any range: two values of the same kind, in ascending order. A bare 0 is of any kind.
std::pair<Amount, Amount> bounds(const yaml::Node& list, const std::string& path, std::size_t count, const char* form) {
  if (list.kind != yaml::Node::Kind::list || list.items.size() != count) {
    throw text::InputError(list.place, path, form, list.description());
  }
  Amount from = required_amount(list.items[0], path);
  Amount to = required_amount(list.items[1], path);
  if (from.number == 0 && from.type == Type::integer) from.type = to.type;
  const std::string first = text::in_quotes(list.items[0].text);
  if (from.type != to.type) {
    throw text::InputError(list.items[1].place, path,
                           fmt::format("the same kind of quantity, with a unit or without, as {}", first),
                           list.items[1].description());
  }
  if (from.number > to.number) {
    throw text::InputError(list.items[1].place, path, fmt::format("what is no less than {}", first),
                           list.items[1].description());
  }
  return {from, to};
}

yaml::Node number_node(std::int64_t number, Type type, const text::Place& place) {
  yaml::Node node;
  node.kind = yaml::Node::Kind::scalar;
  node.place = place;
  node.text = options::format_number(number, type);
  return node;
}

[[noreturn]] void too_many(const yaml::Node& at, const std::string& path) {
  throw text::InputError(at.place, path, fmt::format("at most {} values and {} runs", kSweepValuesMax, kSweepRunsMax),
                         "more");
}

std::vector<yaml::Node> range(const yaml::Node& list, const std::string& path) {
  const auto [from, to] = bounds(list, path, 3, "[FROM, TO, STEP]");
  const Amount step = required_amount(list.items[2], path);
  if (step.type != to.type || step.number < 1) {
    throw text::InputError(list.items[2].place, path, "a positive step of the same kind", list.items[2].description());
  }
  if ((to.number - from.number) / step.number >= static_cast<std::int64_t>(kSweepValuesMax)) too_many(list, path);
  std::vector<yaml::Node> values;
  for (std::int64_t value = from.number;; value += step.number) {
    values.push_back(number_node(value, to.type, list.place));
    if (to.number - value < step.number) return values;
  }
}

/// COUNT values in geometric progression, rounded to whole base units, without duplicates.
std::vector<yaml::Node> log_range(const yaml::Node& list, const std::string& path) {
  const auto [from, to] = bounds(list, path, 3, "[FROM, TO, COUNT], both ends included");
  const Amount count = required_amount(list.items[2], path);
  if (count.type != Type::integer || count.number < 2) {
    throw text::InputError(list.items[2].place, path, "how many values, 2 or more", list.items[2].description());
  }
  if (from.number < 1) throw text::InputError(list.items[0].place, path, "more than 0", list.items[0].description());
  if (count.number > static_cast<std::int64_t>(kSweepValuesMax)) too_many(list, path);
  std::vector<std::int64_t> numbers;
  const double octaves = std::log2(static_cast<double>(to.number) / static_cast<double>(from.number));
  for (std::int64_t i = 0; i < count.number; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(count.number - 1);
    numbers.push_back(std::llround(static_cast<double>(from.number) * std::exp2(octaves * share)));
  }
  numbers.back() = to.number;  // beyond 2^53 the calculation above is inexact
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  std::vector<yaml::Node> values;
  for (const std::int64_t number : numbers) values.push_back(number_node(number, to.type, list.place));
  return values;
}

struct AxisValues {
  SweepAxis::Kind kind = SweepAxis::Kind::list;
  bool log = false;
  std::vector<yaml::Node> values;
};

AxisValues axis_values(const yaml::Node& node, const std::string& path) {
  using Kind = SweepAxis::Kind;
  if (node.kind == yaml::Node::Kind::list && !node.items.empty()) return {Kind::list, false, node.items};
  if (node.kind != yaml::Node::Kind::map || node.entries.size() != 1) {
    throw text::InputError(node.place, path, kForms, node.description());
  }
  const auto& [form, form_place, list] = node.entries.front();
  const std::string below = path + "." + form;
  if (form == "range") return {Kind::list, false, range(list, below)};
  if (form == "log_range") return {Kind::list, false, log_range(list, below)};
  if (form == "uniform" || form == "log_uniform") {
    const Amount from = bounds(list, below, 2, "[FROM, TO], both ends included").first;
    if (form == "log_uniform" && from.number < 1) {
      throw text::InputError(list.items[0].place, below, "more than 0", list.items[0].description());
    }
    return {Kind::uniform, form == "log_uniform", list.items};
  }
  if (form == "choice") {
    if (list.kind == yaml::Node::Kind::list && !list.items.empty()) return {Kind::choice, false, list.items};
    throw text::InputError(list.place, below, "a list of values", list.description());
  }
  const std::vector<std::string> forms = {"range", "log_range", "uniform", "log_uniform", "choice"};
  throw text::InputError(form_place, path, kForms, text::in_quotes(form), text::suggestion(form, forms));
}

}  // namespace

bool Sweep::draws() const {
  return std::ranges::any_of(axes, [](const SweepAxis& axis) { return axis.kind != SweepAxis::Kind::list; });
}

std::size_t Sweep::runs() const {
  std::size_t runs = 1;
  for (const SweepAxis& axis : axes) {
    if (axis.kind == SweepAxis::Kind::list) runs *= axis.values.size();
  }
  return draws() ? runs * samples : runs;
}

Sweep read_sweep(const yaml::Node& sweep, const SweepTrial& trial) {
  if (sweep.kind != yaml::Node::Kind::map) {
    throw text::InputError(sweep.place, "sweep", "a map from dotted keys to lists of values", sweep.description());
  }
  const auto count = [](const yaml::Entry& entry, std::int64_t least, std::int64_t most) {
    const Option option{.key = entry.key, .type = Type::integer, .least = least, .most = most};
    return static_cast<std::uint64_t>(read_value(entry.value, "sweep." + entry.key, option).number);
  };
  Sweep out;
  std::size_t values = 0;
  for (const yaml::Entry& entry : sweep.entries) {
    if (entry.key == "samples") {
      out.samples = count(entry, 1, kSweepRunsMax);
      if (out.runs() > kSweepRunsMax) too_many(entry.value, "sweep");
      continue;
    }
    if (entry.key == "sample_seed") {
      out.sample_seed = count(entry, 0, std::numeric_limits<std::int64_t>::max());
      continue;
    }
    if (entry.key.starts_with("sweep"))
      throw text::InputError(entry.key_place, "sweep", "a key outside of sweep", text::in_quotes(entry.key));
    const AxisValues axis = axis_values(entry.value, "sweep." + entry.key);
    out.axes.push_back({entry.key, {}, axis.kind, axis.log});
    for (const yaml::Node& value : axis.values) out.axes.back().values.push_back(yaml::flow_text(value));
    values += axis.values.size();
    if (values > kSweepValuesMax || out.runs() > kSweepRunsMax) {
      throw text::InputError(entry.key_place, "sweep",
                             fmt::format("at most {} values and {} runs", kSweepValuesMax, kSweepRunsMax), "more");
    }
    for (const yaml::Node& value : axis.values) trial(entry.key, value);
  }
  for (const yaml::Entry& entry : sweep.entries) {
    if (out.draws() || (entry.key != "samples" && entry.key != "sample_seed")) continue;
    throw text::InputError(entry.key_place, "sweep." + entry.key,
                           "a parameter that is drawn with it (uniform, log_uniform or choice)", "none");
  }
  return out;
}

}  // namespace loco::scenario
