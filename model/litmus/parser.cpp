// The YAML side of litmus documents. Positions inside code come from text.hpp.
#include "model/litmus/parser.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>

#include "model/litmus/lexer.hpp"
#include "model/litmus/statement_reader.hpp"
#include "model/litmus/statements.hpp"
#include "model/litmus/text.hpp"
#include "text/file.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"
#include "yaml/events.hpp"
#include "yaml/node.hpp"

namespace loco::model::litmus {

using yaml::Entry;
using yaml::Node;

namespace {

constexpr int kThreadsMax = 64;

bool is_scalar(const Node& n) { return n.kind == Node::Kind::scalar; }
bool is_list(const Node& n) { return n.kind == Node::Kind::list; }
bool is_map(const Node& n) { return n.kind == Node::Kind::map; }

std::string describe(const Node& n) {
  if (is_scalar(n)) return text::in_quotes(n.text);
  return is_map(n) ? "a map" : is_list(n) ? "a list" : "nothing";
}

text::Mark mark(const text::Place& place) { return {place.line, place.column}; }

/// A word that may be wrong, and where it is written.
struct Word {
  const std::string& text;
  const text::Place& place;
};
Word key_of(const Entry& entry) { return {entry.key, entry.key_place}; }

std::optional<Value> integer(const std::string& s) {
  Value v = 0;
  const char* first = s.data() + (s.size() > 1 && s[0] == '+' ? 1 : 0);
  const auto [stop, error] = std::from_chars(first, s.data() + s.size(), v);
  if (stop != s.data() + s.size() || error != std::errc{} || v > kValueMax || v < -kValueMax) return std::nullopt;
  return v;
}

bool is_model(const std::string& name) {
  return is_corerma(name) || std::find(model_names().begin(), model_names().end(), name) != model_names().end();
}

std::string known_models() {
  std::string list;
  for (const std::string& k : model_names()) list += (list.empty() ? "one of the models " : ", ") + k;
  return list;
}

class DocumentParser {
 public:
  DocumentParser(const Node& document, const SourceText& source, std::string file, const ParseOptions& options)
      : document_(document), source_(source), file_(std::move(file)), options_(options) {}

  Program run() {
    program_.file = file_;
    program_.at = mark(document_.place);
    check_keys(document_, {"name", "source", "model", "atomicity", "locations", "barriers", "ringbuffers", "threads",
                           "final", "outcomes", "outcomes_by_model"});
    if (const Node* n = document_.find("name")) program_.name = scalar(*n, "a name");
    if (program_.name.empty()) program_.name = "unnamed";
    if (const Node* n = document_.find("source")) program_.source = scalar(*n, "text");
    read_model();
    if (const Node* n = document_.find("locations")) read_locations(*n);
    read_threads();
    if (const Node* n = document_.find("final")) read_final(*n);
    read_outcomes();
    return std::move(program_);
  }

 private:
  [[noreturn]] void fail(const Node& n, const std::string& expected, const std::string& hint = "") const {
    throw text::InputError(n.place, "", expected, describe(n), hint);
  }
  [[noreturn]] void fail(const Word& word, const std::string& expected, const std::string& hint = "") const {
    throw text::InputError(word.place, "", expected, text::in_quotes(word.text), hint);
  }
  std::string scalar(const Node& n, const std::string& expected) const {
    if (!is_scalar(n)) fail(n, expected);
    return n.text;
  }
  const Node& required(const Node& map, std::string_view key, const std::string& expected) const {
    const Node* n = map.find(key);
    if (n != nullptr) return *n;
    throw text::InputError(map.place, "", expected, &map == &document_ ? "nothing" : describe(map));
  }
  int number(const Node& n, const std::string& expected, int max) const {
    const auto v = integer(scalar(n, expected));
    if (!v || *v < 0 || *v > max) fail(n, expected);
    return static_cast<int>(*v);
  }
  bool boolean(const Node& n) const {
    const std::string s = scalar(n, "true or false");
    if (s != "true" && s != "false") fail(n, "true or false");
    return s == "true";
  }
  void check_keys(const Node& map, const std::vector<std::string>& known) const {
    if (!is_map(map)) fail(map, "a map");
    for (const Entry& entry : map.entries) {
      if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
      std::string list;
      for (const std::string& k : known) list += (list.empty() ? "" : ", ") + k;
      fail(key_of(entry), "one of the keys " + list, text::suggestion(entry.key, known));
    }
  }
  /// The name of a location, barrier or ring buffer, not used before.
  std::string new_identifier(const Entry& entry, const std::string& expected) const {
    const std::string& s = entry.key;
    const bool ok = !s.empty() &&
                    s.find_first_not_of(
                        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                        "0123456789_'") == std::string::npos &&
                    std::string_view("0123456789'").find(s[0]) == std::string_view::npos;
    if (!ok) fail(key_of(entry), expected);
    if (is_reserved_word(s))
      throw text::InputError(entry.key_place, "", expected, text::in_quotes(s) + ", a word of the statements");
    const bool used = find_name(program_.locations, s) != kNone || find_name(program_.barriers, s) != kNone ||
                      find_name(program_.ringbuffers, s) != kNone;
    if (used) fail(key_of(entry), "a name not used before");
    return s;
  }

  void read_model() {
    program_.model = "loco";
    if (const Node* n = document_.find("model")) {
      program_.model = scalar(*n, "a model");
      check_model({program_.model, n->place});
    }
    effective_ = options_.model.empty() ? program_.model : options_.model;
    if (is_corerma(effective_) != is_corerma(program_.model))
      throw text::InputError({file_, program_.at}, "", "a document of the same family as model " + effective_,
                             "model " + program_.model);
    if (const Node* found = document_.find("atomicity")) {
      const Node& n = *found;
      if (!is_corerma(program_.model)) fail(n, "no atomicity in a document of model " + program_.model);
      const std::string s = scalar(n, "atomic or non_atomic");
      if (s != "atomic" && s != "non_atomic") fail(n, "atomic or non_atomic");
      atomic_ = s == "atomic";
    }
  }
  void check_model(const Word& model) const {
    if (!is_model(model.text)) fail(model, known_models(), text::suggestion(model.text, model_names()));
  }

  void read_locations(const Node& n) {
    if (!is_map(n)) fail(n, "a map of locations");
    for (const Entry& entry : n.entries) {
      Location l;
      l.name = new_identifier(entry, "the name of a location");
      check_keys(entry.value, {"node", "init", "shared"});
      const Node* shared = entry.value.find("shared");
      if (shared != nullptr && boolean(*shared)) l.kind = LocationKind::shared;
      const Node* node = entry.value.find("node");
      if (l.kind == LocationKind::shared) {
        if (node != nullptr) fail(*node, "no home node for a shared location");
      } else {
        if (node == nullptr) fail(entry.value, "the key node, or shared: true");
        l.node = mention(number(*node, "a node number", 65'535));
      }
      if (const Node* init = entry.value.find("init")) {
        l.init = value(*init);
        if (is_tuple(l.init)) {
          l.kind = LocationKind::tuple;
          l.tuple_size = len(program_.tuples[static_cast<std::size_t>(l.init - kFirstTuple)]);
        } else if (!is_integer(l.init)) {
          fail(*init, "an integer");
        }
      }
      program_.locations.push_back(std::move(l));
    }
  }

  int mention(int node) {
    auto& nodes = program_.nodes;
    const auto it = std::lower_bound(nodes.begin(), nodes.end(), node);
    if (it == nodes.end() || *it != node) nodes.insert(it, node);
    return node;
  }

  Value value(const Node& n) {
    if (is_list(n)) {
      std::vector<Value> elements;
      for (const Node& e : n.items) {
        const auto v = is_scalar(e) ? integer(e.text) : std::nullopt;
        if (!v) fail(e, "an integer");
        elements.push_back(*v);
      }
      if (elements.empty()) fail(n, "a tuple with an element");
      return program_.intern(elements);
    }
    const std::string s = scalar(n, "a value");
    if (s == "true") return kTrue;
    if (s == "false") return kFalse;
    if (s == "empty") return kEmpty;
    if (s == "bottom") return kBottom;
    if (s == "undefined") return kUndefined;
    const auto v = integer(s);
    if (!v) fail(n, "an integer, a list of integers, true, false, empty, bottom or undefined");
    return *v;
  }

  int thread_index(const Node& n) const {
    const int t = number(n, "the position of a thread, from 0", kThreadsMax);
    if (t >= len(program_.threads))
      fail(n, "the position of one of the " + std::to_string(len(program_.threads)) + " threads, from 0");
    return t;
  }
  std::vector<int> thread_list(const Node& n) const {
    if (!is_list(n)) fail(n, "a list of threads");
    std::vector<int> list;
    for (const Node& e : n.items) {
      const int t = thread_index(e);
      if (std::find(list.begin(), list.end(), t) != list.end()) fail(e, "each thread once");
      list.push_back(t);
    }
    std::sort(list.begin(), list.end());
    return list;
  }

  void read_threads() {
    const Node& threads = required(document_, "threads", "the key threads, a list");
    if (!is_list(threads)) fail(threads, "the key threads, a list");
    if (threads.items.size() > static_cast<std::size_t>(kThreadsMax)) fail(threads, "at most 64 threads");
    std::vector<std::vector<Token>> tokens;
    std::vector<std::string> codes;
    for (const Node& t : threads.items) {
      check_keys(t, {"node", "code"});
      Thread thread;
      thread.node = mention(number(required(t, "node", "the key node"), "a node number", 65'535));
      program_.threads.push_back(std::move(thread));
      const Node* code = t.find("code");
      const bool empty = code == nullptr || code->kind == Node::Kind::null;
      codes.push_back(empty ? "" : scalar(*code, "statements"));
      const text::Mark start = mark((code == nullptr ? document_ : *code).place);
      tokens.push_back(tokenize(codes.back(), source_.positions(start, codes.back()), file_));
    }
    read_objects();
    find_tuples(program_, tokens, file_);
    StatementContext context{program_, file_, effective_, atomic_, {}};
    for (const auto& t : tokens) context.registers.push_back(assigned_registers(program_, t));
    check_registers(context.registers, tokens);
    for (int t = 0; t < len(program_.threads); ++t) {
      parse_statements(context, t, at(codes, t), at(tokens, t));
      for (const std::string& name : at(context.registers, t)) {
        const auto& registers = at(program_.threads, t).registers;
        const auto r =
            std::find_if(registers.begin(), registers.end(), [&](const Register& x) { return x.name == name; });
        program_.observables.push_back({name, t, static_cast<int>(r - registers.begin()), kNone, kNone});
      }
    }
    for (const Thread& t : program_.threads)
      for (const Instruction& i : t.code) {
        if (i.node != kNone) mention(i.node);
        for (const int node : i.nodes) mention(node);
      }
    check_methods(program_, effective_, file_);
  }

  /// Outcomes name registers without their thread, so a name belongs to one thread.
  void check_registers(const std::vector<std::vector<std::string>>& registers,
                       const std::vector<std::vector<Token>>& tokens) const {
    for (int t = 1; t < len(registers); ++t)
      for (const std::string& name : at(registers, t))
        for (int other = 0; other < t; ++other) {
          const auto& theirs = at(registers, other);
          if (std::find(theirs.begin(), theirs.end(), name) == theirs.end()) continue;
          for (const Token& token : at(tokens, t))
            if (token.is_word(name))
              throw text::InputError({file_, token.at}, "", "a register that no other thread assigns to",
                                     text::in_quotes(name) + ", a register of thread " + std::to_string(other));
        }
  }

  void read_objects() {
    if (const Node* found = document_.find("barriers")) {
      const Node& n = *found;
      if (!is_map(n)) fail(n, "a map of barriers");
      for (const Entry& entry : n.entries) {
        Barrier b;
        b.name = new_identifier(entry, "the name of a barrier");
        if (is_map(entry.value)) {
          check_keys(entry.value, {"threads", "transitive"});
          b.participants = thread_list(required(entry.value, "threads", "the key threads"));
          if (const Node* t = entry.value.find("transitive")) b.transitive = boolean(*t);
        } else {
          b.participants = thread_list(entry.value);
        }
        if (b.participants.empty()) fail(key_of(entry), "a barrier with a participating thread");
        program_.barriers.push_back(std::move(b));
      }
    }
    if (const Node* found = document_.find("ringbuffers")) {
      const Node& n = *found;
      if (!is_map(n)) fail(n, "a map of ring buffers");
      for (const Entry& entry : n.entries) {
        RingBuffer r;
        r.name = new_identifier(entry, "the name of a ring buffer");
        check_keys(entry.value, {"writer", "readers"});
        const Node& writer = required(entry.value, "writer", "the key writer");
        const Node& readers = required(entry.value, "readers", "the key readers");
        r.writer = thread_index(writer);
        r.readers = thread_list(readers);
        program_.ringbuffers.push_back(std::move(r));
      }
    }
  }

  void read_final(const Node& n) {
    if (!is_list(n)) fail(n, "a list of locations");
    for (const Node& e : n.items) {
      const std::string name = scalar(e, "a location");
      const std::size_t sign = name.find('@');
      Observable o{name, kNone, kNone, kNone, kNone};
      std::vector<std::string> names;
      for (int i = 0; i < len(program_.locations); ++i) {
        if (!at(program_.locations, i).fresh) names.push_back(at(program_.locations, i).name);
        if (at(program_.locations, i).name == name.substr(0, sign)) o.location = i;
      }
      if (o.location == kNone) fail(e, "a location", text::suggestion(name.substr(0, sign), names));
      const Location& l = at(program_.locations, o.location);
      if (l.kind == LocationKind::shared) {
        const auto node = sign == std::string::npos ? std::nullopt : integer(name.substr(sign + 1));
        if (!node || *node < 0 || *node > 65'535) fail(e, "a copy of the shared location, like " + l.name + "@1");
        o.node = static_cast<int>(*node);
        if (!has_node(program_, o.node)) fail(e, "a copy on the node of a thread or location");
      } else {
        if (sign != std::string::npos && integer(name.substr(sign + 1)) != Value{l.node})
          fail(e, "a location, or the copy of a shared location");
        o.node = l.node;
      }
      for (const Observable& other : program_.observables)
        if (other.name == name) fail(e, "each location once");
      program_.observables.push_back(std::move(o));
    }
  }

  PartialOutcome partial(const Node& n) {
    if (!is_map(n)) fail(n, "an outcome, a map of registers and final locations");
    PartialOutcome result;
    for (const Entry& entry : n.entries) {
      std::vector<std::string> names;
      int index = kNone;
      for (int i = 0; i < len(program_.observables); ++i) {
        names.push_back(at(program_.observables, i).name);
        if (names.back() == entry.key) index = i;
      }
      if (index == kNone)
        fail(key_of(entry), "a register or a location of `final`", text::suggestion(entry.key, names));
      result.emplace_back(index, value(entry.value));
    }
    return result;
  }
  std::vector<PartialOutcome> partials(const Node& n) {
    if (!is_list(n)) fail(n, "a list of outcomes");
    std::vector<PartialOutcome> list;
    for (const Node& e : n.items) list.push_back(partial(e));
    return list;
  }

  void read_outcomes() {
    if (const Node* found = document_.find("outcomes")) {
      const Node& n = *found;
      check_keys(n, {"allowed", "forbidden"});
      if (const Node* a = n.find("allowed")) program_.allowed = partials(*a);
      if (const Node* f = n.find("forbidden")) program_.forbidden = partials(*f);
    }
    if (const Node* found = document_.find("outcomes_by_model")) {
      const Node& n = *found;
      if (!is_map(n)) fail(n, "a map of models");
      for (const Entry& entry : n.entries) {
        check_model(key_of(entry));
        program_.outcomes_by_model[entry.key] = partials(entry.value);
      }
    }
  }

  const Node& document_;
  const SourceText& source_;
  std::string file_;
  const ParseOptions& options_;
  Program program_;
  std::string effective_;
  bool atomic_ = true;
};

}  // namespace

std::vector<Program> parse_text(std::string_view text, const std::string& file, const ParseOptions& options) {
  if (!options.model.empty() && !is_model(options.model))
    throw std::invalid_argument("model: expected " + known_models() + ", found " + text::in_quotes(options.model));
  text = yaml::without_byte_order_mark(text);
  const SourceText source(text);
  std::vector<Program> programs;
  for (const Node& document : yaml::parse_documents(text, file)) {
    if (document.kind == Node::Kind::null) continue;
    try {
      programs.push_back(DocumentParser(document, source, file, options).run());
    } catch (const text::InputError& error) {
      if (options.left_out == nullptr) throw;
      const ParseOptions as_it_is;
      (void)DocumentParser(document, source, file, as_it_is).run();  // or is it one of its own model neither?
      options.left_out->emplace_back(error.what());
    }
  }
  return programs;
}

std::vector<Program> parse_file(const std::string& path, const ParseOptions& options) {
  const std::string text = text::read_file(path, kFileBytesMax);
  std::vector<std::string> left_out;
  ParseOptions of_file = options;
  if (options.left_out != nullptr) of_file.left_out = &left_out;
  std::vector<Program> programs = parse_text(text, path, of_file);
  if (programs.empty() && left_out.empty()) throw text::InputError({path, 1, 1}, "", "a litmus test", "nothing");
  if (options.left_out != nullptr) options.left_out->insert(options.left_out->end(), left_out.begin(), left_out.end());
  return programs;
}

}  // namespace loco::model::litmus
