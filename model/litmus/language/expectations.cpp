#include "model/litmus/language/expectations.hpp"

#include "model/litmus/language/names.hpp"
#include "model/litmus/language/yaml_values.hpp"
#include "text/words.hpp"

namespace loco::model::litmus {

using yaml::Entry;
using yaml::Node;

namespace {

/// `z`, or a copy of a shared location: `s@1`.
Observable final_location(const Program& program, const Node& n) {
  Observable o{scalar(n, "a location"), kNone, kNone, kNone, kNone};
  const std::size_t sign = o.name.find('@');
  const std::string location = o.name.substr(0, sign);
  std::vector<std::string> names;
  for (int i = 0; i < len(program.locations); ++i) {
    if (!at(program.locations, i).fresh) names.push_back(at(program.locations, i).name);
    if (at(program.locations, i).name == location) o.location = i;
  }
  if (o.location == kNone) fail(n, "a location", text::suggestion(location, names));
  const Location& l = at(program.locations, o.location);
  const std::string copy = sign == std::string::npos ? "" : o.name.substr(sign + 1);
  if (l.kind == LocationKind::shared) {
    const auto node = node_number(copy);
    if (!node) fail(n, "a copy of the shared location, like " + l.name + "@1");
    o.node = *node;
    if (!has_node(program, o.node)) fail(n, "a copy on the node of a thread or location");
  } else {
    if (sign != std::string::npos && integer(copy) != Value{l.node})
      fail(n, "a location, or the copy of a shared location");
    o.node = l.node;
  }
  return o;
}

PartialOutcome partial(Program& program, const Node& n) {
  if (!is_map(n)) fail(n, "an outcome, a map of registers and final locations");
  PartialOutcome result;
  for (const Entry& entry : n.entries) {
    std::vector<std::string> names;
    int index = kNone;
    for (int i = 0; i < len(program.observables); ++i) {
      names.push_back(at(program.observables, i).name);
      if (names.back() == entry.key) index = i;
    }
    if (index == kNone) fail(key_of(entry), "a register or a location of `final`", text::suggestion(entry.key, names));
    result.emplace_back(index, read_value(program, entry.value));
  }
  return result;
}

std::vector<PartialOutcome> partials(Program& program, const Node& n) {
  if (!is_list(n)) fail(n, "a list of outcomes");
  std::vector<PartialOutcome> list;
  for (const Node& e : n.items) list.push_back(partial(program, e));
  return list;
}

}  // namespace

void read_final(Program& program, const Node& document) {
  const Node* n = document.find("final");
  if (n == nullptr) return;
  if (!is_list(*n)) fail(*n, "a list of locations");
  for (const Node& e : n->items) {
    Observable o = final_location(program, e);
    for (const Observable& other : program.observables)
      if (other.name == o.name) fail(e, "each location once");
    program.observables.push_back(std::move(o));
  }
}

void read_outcomes(Program& program, const Node& document) {
  if (const Node* n = document.find("outcomes")) {
    check_keys(*n, {"allowed", "forbidden"});
    if (const Node* a = n->find("allowed")) program.allowed = partials(program, *a);
    if (const Node* f = n->find("forbidden")) program.forbidden = partials(program, *f);
  }
  if (const Node* n = document.find("assume")) program.assumed = partial(program, *n);
  if (const Node* n = document.find("outcomes_by_model")) {
    if (!is_map(*n)) fail(*n, "a map of models");
    for (const Entry& entry : n->entries) {
      check_model(key_of(entry));
      program.outcomes_by_model[entry.key] = partials(program, entry.value);
    }
  }
}

}  // namespace loco::model::litmus
