#include "loco_sim/scenario/document.hpp"

#include <fmt/format.h>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <utility>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

namespace loco::scenario {

namespace {

/// Builds the tree from the parser's events: yaml-cpp's own nodes hide duplicate keys and who wrote quotes.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::string file) : file_(std::move(file)) {}

  /// The finished tree.
  [[nodiscard]] DocumentNode take() {
    if (wrong_key_) throw InputError(wrong_key_->place, "", "a key", wrong_key_->description());
    return std::move(root_);
  }

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(make(DocumentNode::Kind::null, mark), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto known = anchors_.find(anchor);
    if (known == anchors_.end()) {
      throw InputError(place(mark), "", "an alias of a finished value", "an alias inside the value that it names");
    }
    DocumentNode copy = known->second;
    count(copy);
    add(std::move(copy), 0);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_tag(mark, tag);
    DocumentNode node = make(DocumentNode::Kind::scalar, mark);
    node.text = value;
    node.quoted = tag == "!";
    if (!node.quoted && (value.empty() || value == "~" || value == "null")) node.kind = DocumentNode::Kind::null;
    add(std::move(node), anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    refuse_tag(mark, tag);
    open(make(DocumentNode::Kind::list, mark), anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    refuse_tag(mark, tag);
    open(make(DocumentNode::Kind::map, mark), anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    DocumentNode node;
    YAML::anchor_t anchor = 0;
    std::optional<DocumentEntry> entry;  // maps: the key whose value comes next
  };

  [[nodiscard]] Place place(const YAML::Mark& mark) const { return {file_, mark.line + 1, mark.column + 1}; }

  DocumentNode make(DocumentNode::Kind kind, const YAML::Mark& mark) {
    DocumentNode node;
    node.kind = kind;
    node.place = place(mark);
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

  void refuse_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (!tag.empty() && tag != "?" && tag != "!") {
      throw InputError(place(mark), "", "a plain value", fmt::format("the YAML tag {}", in_quotes(tag)));
    }
  }

  void open(DocumentNode node, YAML::anchor_t anchor) {
    if (stack_.size() >= kDepthMax) {
      throw InputError(node.place, "", fmt::format("at most {} levels", kDepthMax), "a deeper nesting");
    }
    stack_.push_back({std::move(node), anchor, {}});
  }

  void close() {
    Open done = std::move(stack_.back());
    stack_.pop_back();
    add(std::move(done.node), done.anchor);
  }

  void add(DocumentNode node, YAML::anchor_t anchor) {
    if (anchor != 0) anchors_.insert_or_assign(anchor, node);
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
  std::map<YAML::anchor_t, DocumentNode> anchors_;
  std::size_t nodes_ = 0;
  std::optional<DocumentNode> wrong_key_;
};

void replace_places(DocumentNode& node, const Place& place) {
  node.place = place;
  for (DocumentNode& item : node.items) replace_places(item, place);
  for (DocumentEntry& entry : node.entries) {
    entry.key_place = place;
    replace_places(entry.value, place);
  }
}

}  // namespace

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
      return "a list";
    case Kind::map:
      return "a map";
  }
  return {};
}

DocumentNode parse_document(const std::string& text, const std::string& file) {
  if (text.size() > kFileBytesMax) {
    throw InputError({file, 1, 1}, "", fmt::format("at most {} bytes", kFileBytesMax), fmt::format("{}", text.size()));
  }
  try {
    std::istringstream in(text);
    YAML::Parser parser(in);
    TreeBuilder tree(file);
    if (!parser.HandleNextDocument(tree)) {
      DocumentNode empty;
      empty.place = {file, 1, 1};
      return empty;
    }
    TreeBuilder more(file);
    if (parser.HandleNextDocument(more)) {
      throw InputError(more.take().place, "", "one YAML document", "a second one");
    }
    return tree.take();
  } catch (const YAML::Exception& error) {
    const int line = error.mark.is_null() ? 1 : error.mark.line + 1;
    const int column = error.mark.is_null() ? 1 : error.mark.column + 1;
    throw InputError({file, line, column}, "", "well-formed YAML", printable(error.msg));
  }
}

DocumentNode load_document(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text;
  if (in) {
    text.resize(kFileBytesMax + 1);
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
  }
  if (!in && !in.eof()) throw InputError({path, 1, 1}, "", "a readable file", "none");
  return parse_document(text, path);
}

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
