// Typed reads of the nodes of a litmus document. What does not fit is a text::InputError at the node's place.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/litmus/language/program.hpp"
#include "yaml/node.hpp"

namespace loco::model::litmus {

/// A word that may be wrong, and where it is written.
struct Word {
  const std::string& text;
  const text::Place& place;
};
[[nodiscard]] inline Word key_of(const yaml::Entry& entry) { return {entry.key, entry.key_place}; }
[[nodiscard]] inline text::Mark mark(const text::Place& place) { return {place.line, place.column}; }

[[nodiscard]] inline bool is_scalar(const yaml::Node& n) { return n.kind == yaml::Node::Kind::scalar; }
[[nodiscard]] inline bool is_list(const yaml::Node& n) { return n.kind == yaml::Node::Kind::list; }
[[nodiscard]] inline bool is_map(const yaml::Node& n) { return n.kind == yaml::Node::Kind::map; }

[[noreturn]] void fail(const yaml::Node& n, const std::string& expected, const std::string& hint = "");
[[noreturn]] void fail(const Word& word, const std::string& expected, const std::string& hint = "");

/// The text of a scalar.
[[nodiscard]] std::string scalar(const yaml::Node& n, const std::string& expected);
/// An integer in [0, max].
[[nodiscard]] int natural(const yaml::Node& n, const std::string& expected, int max);
[[nodiscard]] int node_number(const yaml::Node& n);
[[nodiscard]] bool boolean(const yaml::Node& n);
/// A value of the program; a list is a tuple, which the program gets.
[[nodiscard]] Value read_value(Program& program, const yaml::Node& n);
/// The value of the key of a map; where there is none, the error is the map's.
[[nodiscard]] const yaml::Node& required(const yaml::Node& map, std::string_view key);
/// Throws unless `map` is a map with no keys but these.
void check_keys(const yaml::Node& map, const std::vector<std::string>& known);

/// An integer that a program may hold, with or without a sign.
[[nodiscard]] std::optional<Value> integer(const std::string& text);
/// The number of a node; nothing when there can be no such node.
[[nodiscard]] std::optional<int> node_number(const std::string& text);

[[nodiscard]] bool is_model(const std::string& name);
/// `one of the models A, B, ...`
[[nodiscard]] std::string known_models();
void check_model(const Word& model);

}  // namespace loco::model::litmus
