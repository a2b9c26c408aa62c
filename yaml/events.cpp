#include "yaml/events.hpp"

#include <algorithm>
#include <cstddef>
#include <new>
#include <tuple>
#include <yaml.h>

namespace loco::yaml {
namespace {

std::string_view view(const yaml_char_t* s) { return s == nullptr ? "" : reinterpret_cast<const char*>(s); }
bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80; }
bool ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }
int number(std::size_t n) { return static_cast<int>(std::min<std::size_t>(n, 1U << 30U)) + 1; }

/// Removes a prefix if it is there.
bool remove(std::string_view& text, std::string_view beginning) {
  const bool there = text.substr(0, beginning.size()) == beginning;
  if (there) text.remove_prefix(beginning.size());
  return there;
}

/// What libyaml expected, in words that do not need its grammar.
std::string_view in_words(std::string_view expected) {
  if (expected == "node content") return "a value";
  if (expected == "key") return "a key";
  if (expected == "<document start>") return "'---' or the end of the text";
  return expected;
}

/// Pulls the events of a text from libyaml.
class Parser {
 public:
  explicit Parser(std::string_view text);
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
  ~Parser();

  /// The next event, or null at the end. Valid until the next call.
  [[nodiscard]] const Event* next();

 private:
  void describe();
  void describe_value(Event::Kind kind, const yaml_char_t* anchor, const yaml_char_t* tag);
  [[nodiscard]] bool tagged_as_text();
  [[nodiscard]] Problem problem();
  [[nodiscard]] std::string_view rest_of_line(std::size_t offset) const;
  [[nodiscard]] std::size_t offset(const yaml_mark_t& mark);
  [[nodiscard]] Mark place(const yaml_mark_t& mark);
  [[nodiscard]] Mark place_of(std::size_t offset) const;

  std::string_view text_;
  bool ascii_;
  yaml_parser_t parser_{};
  yaml_event_t raw_{};
  Event event_;
  // libyaml counts characters: the last one that was looked up, its byte, and the first byte of its line
  std::size_t character_ = 0;
  std::size_t byte_ = 0;
  std::size_t line_ = 0;
  std::size_t line_byte_ = 0;
};

Parser::Parser(std::string_view text) : text_(text), ascii_(std::all_of(text.begin(), text.end(), ascii)) {
  if (yaml_parser_initialize(&parser_) == 0) throw std::bad_alloc();
  yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);  // else libyaml looks for UTF-16, where bytes are no columns
  yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text_.data()), text_.size());
}

Parser::~Parser() {
  yaml_event_delete(&raw_);
  yaml_parser_delete(&parser_);
}

const Event* Parser::next() {
  do {
    yaml_event_delete(&raw_);
    if (yaml_parser_parse(&parser_, &raw_) == 0) throw problem();
  } while (raw_.type == YAML_STREAM_START_EVENT);
  if (raw_.type == YAML_STREAM_END_EVENT || raw_.type == YAML_NO_EVENT) return nullptr;
  describe();
  return &event_;
}

void Parser::describe() {
  event_ = {};
  event_.at = place(raw_.start_mark);
  switch (raw_.type) {
    case YAML_DOCUMENT_START_EVENT:
      event_.kind = Event::Kind::document_start;
      break;
    case YAML_DOCUMENT_END_EVENT:
      event_.kind = Event::Kind::document_end;
      break;
    case YAML_ALIAS_EVENT:
      describe_value(Event::Kind::alias, raw_.data.alias.anchor, nullptr);
      break;
    case YAML_SCALAR_EVENT:
      describe_value(Event::Kind::scalar, raw_.data.scalar.anchor, raw_.data.scalar.tag);
      event_.text = {reinterpret_cast<const char*>(raw_.data.scalar.value), raw_.data.scalar.length};
      event_.plain = raw_.data.scalar.style == YAML_PLAIN_SCALAR_STYLE && event_.tag != "!" && !tagged_as_text();
      break;
    case YAML_SEQUENCE_START_EVENT:
      describe_value(Event::Kind::list_start, raw_.data.sequence_start.anchor, raw_.data.sequence_start.tag);
      break;
    case YAML_MAPPING_START_EVENT:
      describe_value(Event::Kind::map_start, raw_.data.mapping_start.anchor, raw_.data.mapping_start.tag);
      break;
    case YAML_SEQUENCE_END_EVENT:
      event_.kind = Event::Kind::list_end;
      break;
    case YAML_MAPPING_END_EVENT:
      event_.kind = Event::Kind::map_end;
      break;
    default:  // begin and end of the stream are not reported
      break;
  }
}

void Parser::describe_value(Event::Kind kind, const yaml_char_t* anchor, const yaml_char_t* tag) {
  event_.kind = kind;
  event_.anchor = view(anchor);
  event_.tag = view(tag);
}

/// libyaml drops the tag "!" of plain scalars, which makes them text (YAML 1.2, 6.8.2). But an event's place is that of
/// its tag or anchor, and no plain scalar begins like these.
bool Parser::tagged_as_text() {
  if (raw_.start_mark.index == raw_.end_mark.index) return false;  // no value, not written in the text
  constexpr std::string_view kBlanks = " \t\r\n";
  std::size_t at = offset(raw_.start_mark);
  if (at < text_.size() && text_[at] == '&') at = text_.find_first_not_of(kBlanks, text_.find_first_of(kBlanks, at));
  return event_.tag.empty() && at < text_.size() && text_[at] == '!';
}

Problem Parser::problem() {
  if (parser_.error == YAML_MEMORY_ERROR) throw std::bad_alloc();
  std::string_view what = view(reinterpret_cast<const yaml_char_t*>(parser_.problem));
  if (parser_.error == YAML_READER_ERROR) return {place_of(parser_.problem_offset), "", std::string(what), "", {}};
  const Mark began = place(parser_.context_mark);
  if (what == "could not find expected ':'") {  // noticed only after the word that is no key
    return {began, "a key and ':'", std::string(rest_of_line(offset(parser_.context_mark))), "", {}};
  }
  // at the end of the text libyaml assumes one more line
  const std::size_t where = offset(parser_.problem_mark);
  Problem p{where == text_.size() ? place_of(where) : place(parser_.problem_mark), "", "", "", {}};
  if (where < text_.size() && text_[where] == '\t' && what == "found character that cannot start any token") {
    what = "found a tab character where an indentation space is expected";
  }
  if (remove(what, "did not find expected ") || remove(what, "could not find expected ")) {
    p.expected = in_words(what);
    p.found = rest_of_line(where);
  } else {
    remove(what, "found ");
    p.found = what;
  }
  if (parser_.context != nullptr && std::tie(began.line, began.column) < std::tie(p.at.line, p.at.column)) {
    p.context = parser_.context;
    p.began = began;
  }
  return p;
}

std::string_view Parser::rest_of_line(std::size_t offset) const {
  return text_.substr(offset, text_.find_first_of("\r\n", offset) - offset);
}

std::size_t Parser::offset(const yaml_mark_t& mark) {
  if (ascii_) return std::min(mark.index, text_.size());
  if (mark.index < character_) character_ = byte_ = 0;
  for (; character_ < mark.index && byte_ < text_.size(); ++character_) {
    do ++byte_;
    while (byte_ < text_.size() && continues(text_[byte_]));
  }
  return byte_;
}

Mark Parser::place(const yaml_mark_t& mark) {
  if (ascii_) return {number(mark.line), number(mark.column)};
  const std::size_t at = offset(mark);
  if (mark.line != line_ || at < line_byte_) {  // libyaml has several line ends: go back as many characters
    line_ = mark.line;
    line_byte_ = at;
    for (std::size_t i = 0; i < mark.column && line_byte_ > 0; ++i) {
      do --line_byte_;
      while (line_byte_ > 0 && continues(text_[line_byte_]));
    }
  }
  return {number(mark.line), number(at - line_byte_)};
}

Mark Parser::place_of(std::size_t offset) const {
  const std::string_view before = text_.substr(0, offset);
  const std::size_t line = before.rfind('\n') + 1;  // 0 if there is none
  return {number(static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'))),
          number(before.size() - line)};
}

}  // namespace

bool Event::null() const {
  return kind == Kind::scalar && plain &&
         (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL");
}

std::string_view without_byte_order_mark(std::string_view text) {
  remove(text, "\xef\xbb\xbf");
  return text;
}

void read_events(std::string_view text, Receiver& receiver) {
  Parser parser(without_byte_order_mark(text));
  while (const Event* const event = parser.next()) receiver.take(*event);
}

}  // namespace loco::yaml
