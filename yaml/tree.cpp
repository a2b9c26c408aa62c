// Builds the tree of a text from its events.
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "text/file.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"
#include "yaml/events.hpp"
#include "yaml/node.hpp"

namespace loco::yaml {

using text::in_quotes;
using text::InputError;

namespace {

/// The values that a document's anchors name. The empty name means none.
class Anchors {
 public:
  static constexpr const char* kExpected = "an alias of a finished value";

  /// From here on the name refers to an unfinished value.
  void begin(const std::string& name) {
    if (!name.empty()) values_[name].reset();
  }
  void finish(const std::string& name, const Node& value) {
    if (!name.empty()) values_.insert_or_assign(name, value);
  }
  void clear() { values_.clear(); }
  /// The finished value, or nullptr if there is none; found() then says what was found instead of kExpected.
  [[nodiscard]] const Node* find(const std::string& name) const {
    const auto known = values_.find(name);
    return known != values_.end() && known->second ? &*known->second : nullptr;
  }
  [[nodiscard]] std::string found(const std::string& name) const {
    return values_.contains(name) ? "an alias inside the value that it names" : "an alias of nothing";
  }

 private:
  std::map<std::string, std::optional<Node>> values_;
};

/// Builds the trees of a text's documents, of at most `documents_max`.
class TreeBuilder : public Receiver {
 public:
  TreeBuilder(text::SourceName file, std::size_t documents_max)
      : file_(std::move(file)), documents_max_(documents_max) {}

  void take(const Event& event) override {
    if (event.kind == Event::Kind::document_start) return;
    if (documents_.size() >= documents_max_)
      throw InputError({file_, event.at}, "", "one YAML document", "a second one");
    refuse_tag(event);
    switch (event.kind) {
      case Event::Kind::alias:
        return alias(event);
      case Event::Kind::scalar:
        return scalar(event);
      case Event::Kind::list_start:
      case Event::Kind::map_start:
        return open(event);
      case Event::Kind::list_end:
      case Event::Kind::map_end:
        return close();
      case Event::Kind::document_end:
        return finish();
      case Event::Kind::document_start:
        return;
    }
  }

  [[nodiscard]] std::vector<Node> documents() { return std::move(documents_); }

 private:
  struct Open {
    Node node;
    std::string anchor;
    std::optional<Entry> entry;  // of maps: the key whose value follows
  };

  void alias(const Event& event) {
    const std::string name(event.anchor);
    const Node* known = anchors_.find(name);
    if (known == nullptr) throw InputError({file_, event.at}, "", anchors_.kExpected, anchors_.found(name));
    Node copy = *known;
    count(copy);
    add(std::move(copy), "");
  }

  void scalar(const Event& event) {
    Node node = make(event.null() ? Node::Kind::null : Node::Kind::scalar, event);
    if (!event.null()) node.text = event.text;
    node.quoted = !event.plain;
    add(std::move(node), std::string(event.anchor));
  }

  void open(const Event& event) {
    const bool map = event.kind == Event::Kind::map_start;
    Node node = make(map ? Node::Kind::map : Node::Kind::list, event);
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

  void finish() {
    if (wrong_key_) throw InputError(wrong_key_->place, "", "a key", wrong_key_->description());
    documents_.push_back(std::exchange(root_, {}));
    anchors_.clear();
    nodes_ = 0;
  }

  Node make(Node::Kind kind, const Event& event) {
    Node node;
    node.kind = kind;
    node.place = {file_, event.at};
    count_one(node.place);
    return node;
  }

  void count_one(const Place& where) {
    if (++nodes_ > kNodesMax) throw InputError(where, "", fmt::format("at most {} values", kNodesMax), "more");
  }

  void count(const Node& node) {
    count_one(node.place);
    for (const Node& item : node.items) count(item);
    for (const Entry& entry : node.entries) count(entry.value);
  }

  void refuse_tag(const Event& event) const {
    if (event.tag.empty() || event.tag == "!") return;
    throw InputError({file_, event.at}, "", "a plain value", fmt::format("the YAML tag {}", in_quotes(event.tag)));
  }

  void add(Node node, const std::string& anchor) {
    anchors_.finish(anchor, node);
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = stack_.back();
    if (parent.node.kind == Node::Kind::list) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.entry) {
      add_key(parent, node);
    } else {
      parent.entry->value = std::move(node);
      parent.node.entries.push_back(std::move(*parent.entry));
      parent.entry.reset();
    }
  }

  void add_key(Open& parent, const Node& key) {
    if (key.kind != Node::Kind::scalar && !wrong_key_) {
      wrong_key_ = key;  // reported at the end, because for unmatched brackets the parser has a better message
    }
    if (key.text == "<<" && !key.quoted)
      throw InputError(key.place, "", "a key", "\"<<\", which merges maps in YAML 1.1 only");
    if (parent.node.entries.size() >= kKeysMax) {
      throw InputError(key.place, "", fmt::format("at most {} keys in a map", kKeysMax), "more");
    }
    for (const Entry& entry : parent.node.entries) {
      if (entry.key != key.text) continue;
      throw InputError(key.place, "", "each key once",
                       fmt::format("{} again (first in line {}, column {})", in_quotes(key.text), entry.key_place.line,
                                   entry.key_place.column));
    }
    parent.entry = Entry{key.text, key.place, {}};
  }

  text::SourceName file_;
  std::size_t documents_max_;
  std::vector<Node> documents_;
  Node root_;
  std::vector<Open> stack_;
  Anchors anchors_;
  std::size_t nodes_ = 0;
  std::optional<Node> wrong_key_;
};

/// The error shown to the user.
InputError not_yaml(const Problem& problem, const text::SourceName& file) {
  const std::string found = problem.found.empty() ? "the end of the line" : in_quotes(problem.found);
  return {{file, problem.at},
          "",
          "well-formed YAML",
          problem.expected.empty() ? text::printable(problem.found)
                                   : fmt::format("{} in place of {}", found, problem.expected),
          problem.context.empty() ? ""
                                  : fmt::format("{} that began in line {}, column {}", problem.context,
                                                problem.began.line, problem.began.column)};
}

std::vector<Node> documents(std::string_view text, const text::SourceName& file, std::size_t most) {
  TreeBuilder tree(file, most);
  try {
    read_events(text, tree);
  } catch (const Problem& problem) {
    throw not_yaml(problem, file);
  }
  return tree.documents();
}

void replace_places(Node& node, const Place& place) {
  node.place = place;
  for (Node& item : node.items) replace_places(item, place);
  for (Entry& entry : node.entries) {
    entry.key_place = place;
    replace_places(entry.value, place);
  }
}

}  // namespace

Node parse_document(std::string_view text, const text::SourceName& file) {
  if (text.size() > kFileBytesMax)
    throw InputError({file, 1, 1}, "", fmt::format("at most {} bytes", kFileBytesMax), fmt::format("{}", text.size()));
  std::vector<Node> only = documents(text, file, 1);
  if (!only.empty()) return std::move(only.front());
  Node empty;
  empty.place = {file, 1, 1};
  return empty;
}

std::vector<Node> parse_documents(std::string_view text, const text::SourceName& file) {
  return documents(text, file, SIZE_MAX);
}

Node load_document(const std::string& path) { return parse_document(text::read_file(path, kFileBytesMax), path); }

Node parse_override(const std::string& text, const std::string& source) {
  const Place place{source, 0, 0};
  try {
    Node node = parse_document(text, source);
    replace_places(node, place);
    return node;
  } catch (const InputError& error) {
    throw InputError(place, error.key(), error.expected(), error.found(), error.hint());
  }
}

}  // namespace loco::yaml
