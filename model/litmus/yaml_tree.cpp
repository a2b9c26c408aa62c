#include "model/litmus/yaml_tree.hpp"

#include <algorithm>
#include <map>
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
  return {file, place(p.at), p.expected, p.found.empty() ? "the end of the line" : quoted(p.found)};
}

class Builder {
 public:
  Builder(const std::string& file, YamlDocuments& result) : file_(file), result_(result) {}

  void take(const yaml::Event& e) {
    switch (e.kind) {
      case yaml::Event::Kind::document_end:
        anchors_.clear();
        result_.documents.emplace_back(std::exchange(root_, nullptr));
        break;
      case yaml::Event::Kind::alias:
        alias(e);
        break;
      case yaml::Event::Kind::scalar:
        scalar(e);
        break;
      case yaml::Event::Kind::list_start:
        open(make(YamlValue::Kind::list, e), e);
        break;
      case yaml::Event::Kind::map_start:
        open(make(YamlValue::Kind::map, e), e);
        break;
      case yaml::Event::Kind::list_end:
      case yaml::Event::Kind::map_end:
        close();
        break;
      default:
        break;
    }
  }

 private:
  struct Open {
    YamlValue* value;
    std::string anchor;
    const YamlValue* key;  // maps: whose value comes next
  };

  void alias(const yaml::Event& e) {
    const std::string name(e.anchor);
    const auto known = anchors_.find(name);
    if (known != anchors_.end()) return add(known->second, "");
    const bool inside = std::any_of(open_.begin(), open_.end(), [&](const Open& o) { return o.anchor == name; });
    throw ParseError(file_, place(e.at), "an alias of a finished value",
                     inside ? "an alias inside the value that it names" : "an alias of nothing");
  }
  void scalar(const yaml::Event& e) {
    YamlValue* v = make(e.null() ? YamlValue::Kind::null : YamlValue::Kind::scalar, e);
    v->text = e.text;
    add(v, std::string(e.anchor));
  }
  YamlValue* make(YamlValue::Kind kind, const yaml::Event& e) {
    YamlValue& v = result_.values.emplace_back();
    v.kind = kind;
    v.at = place(e.at);
    return &v;
  }
  void open(YamlValue* v, const yaml::Event& e) {
    if (open_.size() >= kDepthMax) throw ParseError(file_, v->at, "at most 50 levels of nesting", "more");
    open_.push_back({v, std::string(e.anchor), nullptr});
    anchors_.erase(open_.back().anchor);  // from here on the name means this value, which is not finished
  }
  void close() {
    const Open done = std::move(open_.back());
    open_.pop_back();
    add(done.value, done.anchor);
  }
  void add(const YamlValue* v, const std::string& anchor) {
    if (!anchor.empty()) anchors_[anchor] = v;
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
  std::map<std::string, const YamlValue*> anchors_;
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
