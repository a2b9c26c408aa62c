#include "model/litmus/yaml_tree.hpp"

#include <algorithm>
#include <map>
#include <new>
#include <yaml.h>

#include "model/litmus/parser.hpp"
#include "model/litmus/text.hpp"

namespace loco::model::litmus {
namespace {

constexpr std::size_t kDepthMax = 50;

std::size_t index(std::size_t mark) { return std::min<std::size_t>(mark, 1U << 30U); }
SourcePos place(const yaml_mark_t& m) {
  return {static_cast<int>(index(m.line)) + 1, static_cast<int>(index(m.column)) + 1};
}

std::string_view view(const yaml_char_t* s, std::size_t length) { return {reinterpret_cast<const char*>(s), length}; }
std::string anchor_name(const yaml_char_t* s) { return s == nullptr ? "" : reinterpret_cast<const char*>(s); }

/// One event; it owns what libyaml has allocated for it.
class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { yaml_event_delete(&event_); }

  yaml_event_t* get() { return &event_; }
  const yaml_event_t* operator->() const { return &event_; }

 private:
  yaml_event_t event_{};
};

class Events {
 public:
  Events(std::string_view text, const std::string& file) : text_(text), file_(file) {
    if (yaml_parser_initialize(&parser_) == 0) throw std::bad_alloc();
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;
  ~Events() { yaml_parser_delete(&parser_); }

  void next(Event& event) {
    if (yaml_parser_parse(&parser_, event.get()) != 0) return;
    if (parser_.error == YAML_MEMORY_ERROR) throw std::bad_alloc();
    const SourcePos at =
        parser_.error == YAML_READER_ERROR ? place_of(parser_.problem_offset) : place(parser_.problem_mark);
    const std::string_view problem = parser_.problem == nullptr ? "no YAML" : parser_.problem;
    constexpr std::string_view kExpected = "did not find expected ", kFound = "found ";
    if (problem.substr(0, kExpected.size()) == kExpected)
      throw ParseError(file_, at, std::string(problem.substr(kExpected.size())), found(at));
    throw ParseError(file_, at, "valid YAML",
                     std::string(problem.substr(0, kFound.size()) == kFound ? problem.substr(kFound.size()) : problem));
  }

 private:
  [[nodiscard]] std::string found(SourcePos at) const {
    const std::string_view rest = SourceText(text_).from(at);
    return rest.empty() ? "the end of the line" : litmus::quoted(rest);
  }
  [[nodiscard]] SourcePos place_of(std::size_t offset) const {
    const std::string_view before = text_.substr(0, offset);
    const std::size_t line = before.rfind('\n') + 1;  // 0 when there is none
    return {static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
            static_cast<int>(before.size() - line) + 1};
  }

  yaml_parser_t parser_{};
  std::string_view text_;
  const std::string& file_;
};

class Builder {
 public:
  Builder(const std::string& file, YamlDocuments& result) : file_(file), result_(result) {}

  void take(const Event& e) {
    switch (e->type) {
      case YAML_DOCUMENT_END_EVENT:
        anchors_.clear();
        result_.documents.emplace_back(std::exchange(root_, nullptr));
        break;
      case YAML_ALIAS_EVENT:
        alias(e);
        break;
      case YAML_SCALAR_EVENT:
        scalar(e);
        break;
      case YAML_SEQUENCE_START_EVENT:
        open(make(YamlValue::Kind::list, e), e->data.sequence_start.anchor);
        break;
      case YAML_MAPPING_START_EVENT:
        open(make(YamlValue::Kind::map, e), e->data.mapping_start.anchor);
        break;
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT:
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

  void alias(const Event& e) {
    const std::string name = anchor_name(e->data.alias.anchor);
    const auto known = anchors_.find(name);
    if (known != anchors_.end()) return add(known->second, "");
    const bool inside = std::any_of(open_.begin(), open_.end(), [&](const Open& o) { return o.anchor == name; });
    throw ParseError(file_, place(e->start_mark), "an alias of a finished value",
                     inside ? "an alias inside the value that it names" : "an alias of nothing");
  }
  void scalar(const Event& e) {
    const auto& s = e->data.scalar;
    const std::string_view text = view(s.value, s.length);
    const bool null = s.style == YAML_PLAIN_SCALAR_STYLE && (text.empty() || text == "~" || text == "null");
    YamlValue* v = make(null ? YamlValue::Kind::null : YamlValue::Kind::scalar, e);
    v->text = text;
    add(v, anchor_name(s.anchor));
  }
  YamlValue* make(YamlValue::Kind kind, const Event& e) {
    YamlValue& v = result_.values.emplace_back();
    v.kind = kind;
    v.at = place(e->start_mark);
    return &v;
  }
  void open(YamlValue* v, const yaml_char_t* anchor) {
    if (open_.size() >= kDepthMax) throw ParseError(file_, v->at, "at most 50 levels of nesting", "more");
    open_.push_back({v, anchor_name(anchor), nullptr});
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
  Events events(text, file);
  Builder builder(file, result);
  while (true) {
    Event event;
    events.next(event);
    if (event->type == YAML_STREAM_END_EVENT) return result;
    builder.take(event);
  }
}

}  // namespace loco::model::litmus
