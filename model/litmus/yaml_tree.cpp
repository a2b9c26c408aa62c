#include "model/litmus/yaml_tree.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "model/litmus/parser.hpp"

namespace loco::model::litmus {
namespace {

constexpr std::size_t kDepthMax = 50;

SourcePos place(const YAML::Mark& m) { return {std::max(m.line, 0) + 1, std::max(m.column, 0) + 1}; }

class Builder : public YAML::EventHandler {
 public:
  Builder(const std::string& file, std::deque<YamlValue>& values) : file_(file), values_(values) {}

  /// The document that has just been read; null if it was empty.
  const YamlValue* take() {
    anchors_.clear();
    return std::exchange(root_, nullptr);
  }
  [[nodiscard]] SourcePos start() const { return start_; }

  void OnDocumentStart(const YAML::Mark& mark) override { start_ = place(mark); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(make(YamlValue::Kind::null, mark), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto known = anchors_.find(anchor);
    if (known == anchors_.end())
      throw ParseError(file_, place(mark), "an alias of a finished value", "an alias inside the value that it names");
    add(known->second, 0);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    const bool quoted = tag == "!";
    const bool null = !quoted && (text.empty() || text == "~" || text == "null");
    YamlValue* v = make(null ? YamlValue::Kind::null : YamlValue::Kind::scalar, mark);
    v->text = text;
    add(v, anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(make(YamlValue::Kind::list, mark), anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(make(YamlValue::Kind::map, mark), anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    YamlValue* value;
    YAML::anchor_t anchor;
    const YamlValue* key;  // maps: whose value comes next
  };

  YamlValue* make(YamlValue::Kind kind, const YAML::Mark& mark) {
    YamlValue& v = values_.emplace_back();
    v.kind = kind;
    v.at = place(mark);
    return &v;
  }
  void open(YamlValue* v, YAML::anchor_t anchor) {
    if (open_.size() >= kDepthMax) throw ParseError(file_, v->at, "at most 50 levels of nesting", "more");
    open_.push_back({v, anchor, nullptr});
  }
  void close() {
    const Open done = open_.back();
    open_.pop_back();
    add(done.value, done.anchor);
  }
  void add(const YamlValue* v, YAML::anchor_t anchor) {
    if (anchor != 0) anchors_[anchor] = v;
    if (open_.empty()) {
      root_ = v;
      return;
    }
    Open& parent = open_.back();
    if (parent.value->kind == YamlValue::Kind::list)
      parent.value->items.push_back(v);
    else if (parent.key == nullptr)
      parent.key = v;
    else
      parent.value->entries.emplace_back(std::exchange(parent.key, nullptr), v);
  }

  const std::string& file_;
  std::deque<YamlValue>& values_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, const YamlValue*> anchors_;
  const YamlValue* root_ = nullptr;
  SourcePos start_;
};

}  // namespace

YamlNode YamlNode::operator[](std::string_view key) const {
  if (!map()) return YamlNode();
  for (const auto& [k, v] : entries())
    if (k->kind == YamlValue::Kind::scalar && k->text == key) return YamlNode(v);
  return YamlNode();
}

YamlDocuments read_yaml(std::string_view text, const std::string& file) {
  YamlDocuments result;
  try {
    std::istringstream in{std::string(text)};
    YAML::Parser parser(in);
    Builder builder(file, result.values);
    SourcePos last{0, 0};
    while (parser.HandleNextDocument(builder)) {
      const YamlValue* root = builder.take();
      const SourcePos start = builder.start();
      // Where it cannot go on, yaml-cpp reports empty documents at the same place for ever.
      if (start.line == last.line && start.column == last.column)
        throw ParseError(file, start, "valid YAML", "text that belongs to no document");
      last = start;
      result.documents.emplace_back(root);
    }
  } catch (const YAML::Exception& e) {
    throw ParseError(file, place(e.mark), "valid YAML", e.msg);
  }
  return result;
}

}  // namespace loco::model::litmus
