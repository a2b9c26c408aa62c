#include "model/litmus/language/yaml_values.hpp"

#include <algorithm>

#include "model/litmus/language/names.hpp"
#include "model/litmus/language/statements.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"

namespace loco::model::litmus {

using yaml::Entry;
using yaml::Node;

namespace {

constexpr int kNodeMax = 65'535;

std::string describe(const Node& n) {
  if (is_scalar(n)) return text::in_quotes(n.text);
  return is_map(n) ? "a map" : is_list(n) ? "a list" : "nothing";
}

}  // namespace

void fail(const Node& n, const std::string& expected, const std::string& hint) {
  throw text::InputError(n.place, "", expected, describe(n), hint);
}

void fail(const Word& word, const std::string& expected, const std::string& hint) {
  throw text::InputError(word.place, "", expected, text::in_quotes(word.text), hint);
}

std::string scalar(const Node& n, const std::string& expected) {
  if (!is_scalar(n)) fail(n, expected);
  return n.text;
}

int natural(const Node& n, const std::string& expected, int max) {
  const auto v = integer(scalar(n, expected));
  if (!v || *v < 0 || *v > max) fail(n, expected);
  return static_cast<int>(*v);
}

int node_number(const Node& n) { return natural(n, "a node number", kNodeMax); }

bool boolean(const Node& n) {
  const std::string s = scalar(n, "true or false");
  if (s != "true" && s != "false") fail(n, "true or false");
  return s == "true";
}

Value read_value(Program& program, const Node& n) {
  if (is_list(n)) {
    std::vector<Value> elements;
    for (const Node& e : n.items) {
      const auto v = is_scalar(e) ? integer(e.text) : std::nullopt;
      if (!v) fail(e, "an integer");
      elements.push_back(*v);
    }
    if (elements.empty()) fail(n, "a tuple with an element");
    return program.intern(elements);
  }
  const std::string s = scalar(n, "a value");
  if (const auto v = named_value(s)) return *v;
  if (const auto v = request_named(program, s)) return *v;
  const auto v = integer(s);
  if (!v) fail(n, "an integer, a list of integers, true, false, empty, bottom or undefined");
  return *v;
}

const Node& required(const Node& map, std::string_view key) {
  const Node* n = map.find(key);
  if (n == nullptr) fail(map, "the key " + std::string(key));
  return *n;
}

void check_keys(const Node& map, const std::vector<std::string>& known) {
  if (!is_map(map)) fail(map, "a map");
  for (const Entry& entry : map.entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    std::string list;
    for (const std::string& k : known) list += (list.empty() ? "" : ", ") + k;
    fail(key_of(entry), "one of the keys " + list, text::suggestion(entry.key, known));
  }
}

std::optional<Value> integer(const std::string& s) {
  const bool plus = s.size() > 1 && s[0] == '+' && s[1] != '-';
  const auto v = text::parse_integer(std::string_view(s).substr(plus ? 1 : 0));
  if (!v || *v > kValueMax || *v < -kValueMax) return std::nullopt;
  return v;
}

std::optional<int> node_number(const std::string& text) {
  const auto v = integer(text);
  if (!v || *v < 0 || *v > kNodeMax) return std::nullopt;
  return static_cast<int>(*v);
}

bool is_model(const std::string& name) {
  return is_corerma(name) || std::find(model_names().begin(), model_names().end(), name) != model_names().end();
}

std::string known_models() {
  std::string list;
  for (const std::string& k : model_names()) list += (list.empty() ? "one of the models " : ", ") + k;
  return list;
}

void check_model(const Word& model) {
  if (!is_model(model.text)) fail(model, known_models(), text::suggestion(model.text, model_names()));
}

}  // namespace loco::model::litmus
