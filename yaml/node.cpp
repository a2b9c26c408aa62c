#include "yaml/node.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "text/input_error.hpp"
#include "text/words.hpp"

namespace loco::yaml {

namespace {

/// A YAML scalar in double quotes.
std::string double_quoted(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return fmt::format("\"{}\"", text::printable(escaped));
}

/// True if a quoted scalar would mean something else without quotes.
bool needs_quotes(const std::string& text) {
  const auto harmless = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c == '/';
  };
  return text.empty() || text == "true" || text == "false" || text == "null" || text::parse_integer(text) ||
         !std::ranges::all_of(text, harmless);
}

}  // namespace

const Node* Node::find(std::string_view key) const {
  for (const Entry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

Node* Node::find(std::string_view key) { return const_cast<Node*>(std::as_const(*this).find(key)); }

std::string Node::description() const {
  switch (kind) {
    case Kind::null:
      return "nothing";
    case Kind::scalar:
      return text::in_quotes(text);
    case Kind::list:
    case Kind::map:
      return text::shortened(flow_text(*this));
  }
  return {};
}

std::string flow_text(const Node& node) {
  if (node.kind == Node::Kind::scalar)
    return node.quoted && needs_quotes(node.text) ? double_quoted(node.text) : node.text;
  if (node.kind == Node::Kind::null) return "null";
  std::vector<std::string> parts;
  for (const Node& item : node.items) parts.push_back(flow_text(item));
  for (const Entry& entry : node.entries) parts.push_back(entry.key + ": " + flow_text(entry.value));
  const bool list = node.kind == Node::Kind::list;
  return fmt::format("{}{}{}", list ? "[" : "{", fmt::join(parts, ", "), list ? "]" : "}");
}

const Node* find_at(const Node& root, std::string_view dotted_path) {
  const std::size_t dot = dotted_path.find('.');
  const Node* const node = root.find(dotted_path.substr(0, dot));
  return node == nullptr || dot == std::string_view::npos ? node : find_at(*node, dotted_path.substr(dot + 1));
}

void set_at(Node& root, std::string_view dotted_path, const Node& value) {
  Node* node = &root;
  std::string_view rest = dotted_path;
  while (true) {
    const std::size_t dot = rest.find('.');
    const std::string key(rest.substr(0, dot));
    if (key.empty())
      throw text::InputError(value.place, "", "a dotted key such as topology.nodes", text::in_quotes(dotted_path));
    if (node->kind != Node::Kind::map && node->kind != Node::Kind::null) {
      const std::string_view parent = dotted_path.substr(0, dotted_path.size() - rest.size() - 1);
      throw text::InputError(value.place, std::string(parent), "a map", node->description());
    }
    node->kind = Node::Kind::map;
    Node* child = node->find(key);
    if (child == nullptr) {
      Node empty;
      empty.place = value.place;
      node->entries.push_back({key, value.place, empty});
      child = &node->entries.back().value;
    }
    if (dot == std::string_view::npos) {
      *child = value;
      return;
    }
    node = child;
    rest = rest.substr(dot + 1);
  }
}

}  // namespace loco::yaml
