#include "model/litmus/yaml_tree.hpp"

#include <utility>

#include "model/litmus/parser.hpp"
#include "model/litmus/text.hpp"
#include "model/yaml/yaml_events.hpp"

namespace loco::model::litmus {
namespace {

constexpr std::size_t kDepthMax = 50;

SourcePos place(const yaml::Mark& m) { return {m.line, m.column}; }

/// The error that a user reads.
ParseError parse_error(const yaml::Problem& p, const std::string& file) {
  if (p.expected.empty()) return {file, place(p.at), "valid YAML", p.found};
  return {file, place(p.at), p.expected, p.found.empty() ? "the end of the line" : in_quotes(p.found)};
}

class Builder {
 public:
  Builder(const std::string& file, YamlDocuments& result) : file_(file), result_(result) {}

  void take(const yaml::Event& e) {
    yaml::hand_to(*this, e);
    if (e.kind != yaml::Event::Kind::document_end) return;
    anchors_.clear();
    result_.documents.emplace_back(std::exchange(root_, nullptr));
  }

  void alias(const yaml::Event& e) {
    const std::string name(e.anchor);
    const YamlValue* const* known = anchors_.find(name);
    if (known == nullptr) throw ParseError(file_, place(e.at), anchors_.kExpected, anchors_.found(name));
    add(*known, "");
  }
  void scalar(const yaml::Event& e) {
    YamlValue* v = make(e.null() ? YamlValue::Kind::null : YamlValue::Kind::scalar, e);
    v->text = e.text;
    add(v, std::string(e.anchor));
  }
  void open(const yaml::Event& e) {
    YamlValue* v = make(e.kind == yaml::Event::Kind::map_start ? YamlValue::Kind::map : YamlValue::Kind::list, e);
    if (open_.size() >= kDepthMax) throw ParseError(file_, v->at, "at most 50 levels of nesting", "more");
    open_.push_back({v, std::string(e.anchor), nullptr});
    anchors_.begin(open_.back().anchor);
  }
  void close() {
    const Open done = std::move(open_.back());
    open_.pop_back();
    add(done.value, done.anchor);
  }

 private:
  struct Open {
    YamlValue* value;
    std::string anchor;
    const YamlValue* key;  // maps: whose value comes next
  };

  YamlValue* make(YamlValue::Kind kind, const yaml::Event& e) {
    YamlValue& v = result_.values.emplace_back();
    v.kind = kind;
    v.at = place(e.at);
    return &v;
  }
  void add(const YamlValue* v, const std::string& anchor) {
    anchors_.finish(anchor, v);
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
  YamlDocuments& result_;
  std::vector<Open> open_;
  yaml::Anchors<const YamlValue*> anchors_;
  const YamlValue* root_ = nullptr;
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
  Builder builder(file, result);
  try {
    yaml::Events events(text);
    for (const yaml::Event* e = &events.next(); e->kind != yaml::Event::Kind::stream_end; e = &events.next())
      builder.take(*e);
  } catch (const yaml::Problem& problem) {
    throw parse_error(problem, file);
  }
  return result;
}

}  // namespace loco::model::litmus
