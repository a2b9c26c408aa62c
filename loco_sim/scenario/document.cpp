#include "loco_sim/scenario/document.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <utility>

#include "loco_sim/scenario/units.hpp"
#include "model/yaml/yaml_events.hpp"

namespace loco::scenario {

namespace {

namespace yaml = model::yaml;

constexpr std::size_t kPieceBytes = std::size_t{1} << 14U;  // of a file, read at once: most are smaller

Place place_in(const std::string& file, const yaml::Mark& mark) { return {file, mark.line, mark.column}; }

/// Builds the tree of one document from its events.
class TreeBuilder {
 public:
  explicit TreeBuilder(std::string file) : file_(std::move(file)) {}

  void take(const yaml::Event& event) {
    refuse_tag(event);
    yaml::hand_to(*this, event);
  }

  void alias(const yaml::Event& event) {
    const std::string name(event.anchor);
    const DocumentNode* known = anchors_.find(name);
    if (known == nullptr) throw InputError(place_in(file_, event.at), "", anchors_.kExpected, anchors_.found(name));
    DocumentNode copy = *known;
    count(copy);
    add(std::move(copy), "");
  }

  void scalar(const yaml::Event& event) {
    DocumentNode node = make(event.null() ? DocumentNode::Kind::null : DocumentNode::Kind::scalar, event);
    if (!event.null()) node.text = event.text;
    node.quoted = !event.plain;
    add(std::move(node), std::string(event.anchor));
  }

  void open(const yaml::Event& event) {
    const bool map = event.kind == yaml::Event::Kind::map_start;
    DocumentNode node = make(map ? DocumentNode::Kind::map : DocumentNode::Kind::list, event);
    if (stack_.size() >= kDepthMax) {
      throw InputError(node.place, "", fmt::format("at most {} levels", kDepthMax), "a deeper nesting");
    }
    stack_.push_back({std::move(node), std::string(event.anchor), {}});
    anchors_.begin(stack_.back().anchor);
  }

  void close() {
    Open done = std::move(stack_.back());
    stack_.pop_back();
    add(std::move(done.node), done.anchor);
  }

  /// The finished tree.
  [[nodiscard]] DocumentNode finish() {
    if (wrong_key_) throw InputError(wrong_key_->place, "", "a key", wrong_key_->description());
    return std::move(root_);
  }

 private:
  struct Open {
    DocumentNode node;
    std::string anchor;
    std::optional<DocumentEntry> entry;  // maps: the key whose value comes next
  };

  DocumentNode make(DocumentNode::Kind kind, const yaml::Event& event) {
    DocumentNode node;
    node.kind = kind;
    node.place = place_in(file_, event.at);
    count_one(node.place);
    return node;
  }

  void count_one(const Place& where) {
    if (++nodes_ > kNodesMax) {
      throw InputError(where, "", fmt::format("at most {} values", kNodesMax), "more");
    }
  }

  void count(const DocumentNode& node) {
    count_one(node.place);
    for (const DocumentNode& item : node.items) count(item);
    for (const DocumentEntry& entry : node.entries) count(entry.value);
  }

  void refuse_tag(const yaml::Event& event) const {
    if (event.tag.empty() || event.tag == "!") return;
    throw InputError(place_in(file_, event.at), "", "a plain value",
                     fmt::format("the YAML tag {}", in_quotes(event.tag)));
  }

  void add(DocumentNode node, const std::string& anchor) {
    anchors_.finish(anchor, node);
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = stack_.back();
    if (parent.node.kind == DocumentNode::Kind::list) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.entry) {
      add_key(parent, node);
    } else {
      parent.entry->value = std::move(node);
      parent.node.entries.push_back(std::move(*parent.entry));
      parent.entry.reset();
    }
  }

  void add_key(Open& parent, const DocumentNode& key) {
    if (key.kind != DocumentNode::Kind::scalar && !wrong_key_) {
      wrong_key_ = key;  // told at the end: where brackets do not match, the parser has a better word for it
    }
    if (parent.node.entries.size() >= kKeysMax) {
      throw InputError(key.place, "", fmt::format("at most {} keys in a map", kKeysMax), "more");
    }
    for (const DocumentEntry& entry : parent.node.entries) {
      if (entry.key != key.text) continue;
      throw InputError(key.place, "", "each key once",
                       fmt::format("{} again (first in line {}, column {})", in_quotes(key.text), entry.key_place.line,
                                   entry.key_place.column));
    }
    parent.entry = DocumentEntry{key.text, key.place, {}};
  }

  std::string file_;
  DocumentNode root_;
  std::vector<Open> stack_;
  yaml::Anchors<DocumentNode> anchors_;
  std::size_t nodes_ = 0;
  std::optional<DocumentNode> wrong_key_;
};

/// The error that a user reads.
InputError not_yaml(const yaml::Problem& problem, const std::string& file) {
  const std::string found = problem.found.empty() ? "the end of the line" : in_quotes(problem.found);
  return {
      place_in(file, problem.at), "", "well-formed YAML",
      problem.expected.empty() ? printable(problem.found) : fmt::format("{} in place of {}", found, problem.expected),
      problem.context.empty() ? ""
                              : fmt::format("{} that began in line {}, column {}", problem.context, problem.began.line,
                                            problem.began.column)};
}

DocumentNode read_events(yaml::Events& events, const std::string& file) {
  TreeBuilder tree(file);
  const yaml::Event* event = &events.next();
  if (event->kind == yaml::Event::Kind::stream_end) {
    DocumentNode empty;
    empty.place = {file, 1, 1};
    return empty;
  }
  for (; event->kind != yaml::Event::Kind::document_end; event = &events.next()) tree.take(*event);
  if (events.next().kind != yaml::Event::Kind::stream_end) {
    throw InputError(place_in(file, events.next().at), "", "one YAML document", "a second one");
  }
  return tree.finish();
}

/// A YAML scalar in double quotes.
std::string double_quoted(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return fmt::format("\"{}\"", printable(escaped));
}

/// Is a quoted scalar something else without its quotes?
bool needs_quotes(const std::string& text) {
  const auto harmless = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c == '/';
  };
  return text.empty() || text == "true" || text == "false" || text == "null" || parse_integer(text) ||
         !std::ranges::all_of(text, harmless);
}

void replace_places(DocumentNode& node, const Place& place) {
  node.place = place;
  for (DocumentNode& item : node.items) replace_places(item, place);
  for (DocumentEntry& entry : node.entries) {
    entry.key_place = place;
    replace_places(entry.value, place);
  }
}

}  // namespace

std::string flow_text(const DocumentNode& node) {
  if (node.kind == DocumentNode::Kind::scalar)
    return node.quoted && needs_quotes(node.text) ? double_quoted(node.text) : node.text;
  if (node.kind == DocumentNode::Kind::null) return "null";
  std::vector<std::string> parts;
  for (const DocumentNode& item : node.items) parts.push_back(flow_text(item));
  for (const DocumentEntry& entry : node.entries) parts.push_back(entry.key + ": " + flow_text(entry.value));
  const bool list = node.kind == DocumentNode::Kind::list;
  return fmt::format("{}{}{}", list ? "[" : "{", fmt::join(parts, ", "), list ? "]" : "}");
}

const DocumentNode* DocumentNode::find(std::string_view key) const {
  for (const DocumentEntry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

DocumentNode* DocumentNode::find(std::string_view key) {
  for (DocumentEntry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

std::string DocumentNode::description() const {
  switch (kind) {
    case Kind::null:
      return "nothing";
    case Kind::scalar:
      return scenario::in_quotes(text);
    case Kind::list:
    case Kind::map:
      return shortened(flow_text(*this));
  }
  return {};
}

DocumentNode parse_document(const std::string& text, const std::string& file) {
  if (text.size() > kFileBytesMax) {
    throw InputError({file, 1, 1}, "", fmt::format("at most {} bytes", kFileBytesMax), fmt::format("{}", text.size()));
  }
  try {
    yaml::Events events(yaml::without_byte_order_mark(text));
    return read_events(events, file);
  } catch (const yaml::Problem& problem) {
    throw not_yaml(problem, file);
  }
}

std::string read_document(const std::string& path) {
  if (path.find('\0') != std::string::npos) throw InputError({path, 1, 1}, "", "a name without NUL", "one with it");
  std::ifstream in(path, std::ios::binary);
  std::string text;
  while (in && text.size() <= kFileBytesMax) {
    const std::size_t size = text.size();
    text.resize(std::min(size + kPieceBytes, kFileBytesMax + 1));
    in.read(text.data() + size, static_cast<std::streamsize>(text.size() - size));
    text.resize(size + static_cast<std::size_t>(in.gcount()));
  }
  if (!in && !in.eof()) throw InputError({path, 1, 1}, "", "a readable file", "none");
  return text;
}

DocumentNode load_document(const std::string& path) { return parse_document(read_document(path), path); }

DocumentNode parse_override(const std::string& text, const std::string& source) {
  const Place place{source, 0, 0};
  try {
    DocumentNode node = parse_document(text, source);
    replace_places(node, place);
    return node;
  } catch (const InputError& error) {
    throw InputError(place, error.key(), error.expected(), error.found(), error.hint());
  }
}

const DocumentNode* find_at(const DocumentNode& root, std::string_view dotted_path) {
  const std::size_t dot = dotted_path.find('.');
  const DocumentNode* const node = root.find(dotted_path.substr(0, dot));
  return node == nullptr || dot == std::string_view::npos ? node : find_at(*node, dotted_path.substr(dot + 1));
}

void set_at(DocumentNode& root, std::string_view dotted_path, const DocumentNode& value) {
  DocumentNode* node = &root;
  std::string_view rest = dotted_path;
  while (true) {
    const std::size_t dot = rest.find('.');
    const std::string key(rest.substr(0, dot));
    if (key.empty()) {
      throw InputError(value.place, "", "a dotted key such as topology.nodes", in_quotes(dotted_path));
    }
    if (node->kind == DocumentNode::Kind::scalar && node == root.find("hardware")) {
      // `hardware: NAME` is short for `hardware: {base: NAME}`
      DocumentNode base = *node;
      node->entries.push_back({"base", base.place, base});
    } else if (node->kind != DocumentNode::Kind::map && node->kind != DocumentNode::Kind::null) {
      const std::string_view parent = dotted_path.substr(0, dotted_path.size() - rest.size() - 1);
      throw InputError(value.place, std::string(parent), "a map", node->description());
    }
    node->kind = DocumentNode::Kind::map;
    DocumentNode* child = node->find(key);
    if (child == nullptr) {
      DocumentNode empty;
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

}  // namespace loco::scenario
