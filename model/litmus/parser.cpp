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
#include "model/litmus/yaml_tree.hpp"
#include "model/yaml/yaml_events.hpp"

namespace loco::model::litmus {
namespace {

constexpr int kThreadsMax = 64;

std::string describe(const YamlNode& n) {
  if (!n.defined()) return "nothing";
  if (n.scalar()) return litmus::in_quotes(n.text());
  return n.map() ? "a map" : n.list() ? "a list" : "nothing";
}

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
  DocumentParser(const YamlNode& document, const SourceText& source, std::string file, const ParseOptions& options)
      : document_(document), source_(source), file_(std::move(file)), options_(options) {}

  Program run() {
    program_.file = file_;
    program_.at = pos(document_);
    check_keys(document_, {"name", "source", "model", "atomicity", "locations", "barriers", "ringbuffers", "threads",
                           "final", "outcomes", "outcomes_by_model"});
    if (const auto n = document_["name"]; n.defined()) program_.name = scalar(n, "a name");
    if (program_.name.empty()) program_.name = "unnamed";
    if (const auto n = document_["source"]; n.defined()) program_.source = scalar(n, "text");
    read_model();
    if (const auto n = document_["locations"]; n.defined()) read_locations(n);
    read_threads();
    if (const auto n = document_["final"]; n.defined()) read_final(n);
    read_outcomes();
    return std::move(program_);
  }

 private:
  [[noreturn]] void fail(const YamlNode& n, const std::string& expected, const std::string& hint = "") const {
    throw ParseError(file_, pos(n), expected, describe(n) + hint);
  }
  SourcePos pos(const YamlNode& n) const { return n.defined() ? n.at() : document_.at(); }
  std::string scalar(const YamlNode& n, const std::string& expected) const {
    if (!n.scalar()) fail(n, expected);
    return n.text();
  }
  int number(const YamlNode& n, const std::string& expected, int max) const {
    const auto v = integer(scalar(n, expected));
    if (!v || *v < 0 || *v > max) fail(n, expected);
    return static_cast<int>(*v);
  }
  bool boolean(const YamlNode& n) const {
    const std::string s = scalar(n, "true or false");
    if (s != "true" && s != "false") fail(n, "true or false");
    return s == "true";
  }
  void check_keys(const YamlNode& map, const std::vector<std::string>& known) const {
    if (!map.map()) fail(map, "a map");
    std::vector<std::string> seen;
    for (const auto& [first, second] : map.entries()) {
      const YamlNode entry(first);
      const std::string key = scalar(entry, "a key");
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        std::string list;
        for (const std::string& k : known) list += (list.empty() ? "" : ", ") + k;
        fail(entry, "one of the keys " + list, suggestion(key, known));
      }
      if (std::find(seen.begin(), seen.end(), key) != seen.end()) fail(entry, "each key once");
      seen.push_back(key);
    }
  }
  std::string identifier(const YamlNode& n, const std::string& expected) const {
    const std::string s = scalar(n, expected);
    const bool ok = !s.empty() &&
                    s.find_first_not_of(
                        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                        "0123456789_'") == std::string::npos &&
                    std::string_view("0123456789'").find(s[0]) == std::string_view::npos;
    if (!ok) fail(n, expected);
    if (is_reserved_word(s)) fail(n, expected, ", a word of the statements");
    return s;
  }
  /// The name of a location, barrier or ring buffer, not used before.
  std::string new_identifier(const YamlNode& n, const std::string& expected) const {
    const std::string s = identifier(n, expected);
    const bool used = find_name(program_.locations, s) != kNone || find_name(program_.barriers, s) != kNone ||
                      find_name(program_.ringbuffers, s) != kNone;
    if (used) fail(n, "a name not used before");
    return s;
  }

  void read_model() {
    if (const auto n = document_["model"]; n.defined()) {
      program_.model = scalar(n, "a model");
      check_model(n, program_.model);
    } else {
      program_.model = "loco";
    }
    effective_ = options_.model.empty() ? program_.model : options_.model;
    if (is_corerma(effective_) != is_corerma(program_.model))
      throw ParseError(file_, program_.at, "a document of the same family as model " + effective_,
                       "model " + program_.model);
    if (const auto n = document_["atomicity"]; n.defined()) {
      if (!is_corerma(program_.model)) fail(n, "no atomicity in a document of model " + program_.model);
      const std::string s = scalar(n, "atomic or non_atomic");
      if (s != "atomic" && s != "non_atomic") fail(n, "atomic or non_atomic");
      atomic_ = s == "atomic";
    }
  }
  void check_model(const YamlNode& n, const std::string& model) const {
    if (!is_model(model)) fail(n, known_models(), suggestion(model, model_names()));
  }

  void read_locations(const YamlNode& n) {
    if (!n.map()) fail(n, "a map of locations");
    for (const auto& [key, item] : n.entries()) {
      const std::pair<YamlNode, YamlNode> entry(key, item);
      Location l;
      l.name = new_identifier(entry.first, "the name of a location");
      check_keys(entry.second, {"node", "init", "shared"});
      const YamlNode shared = entry.second["shared"];
      if (shared.defined() && boolean(shared)) l.kind = LocationKind::shared;
      const YamlNode node = entry.second["node"];
      if (l.kind == LocationKind::shared) {
        if (node.defined()) fail(node, "no home node for a shared location");
      } else {
        if (!node.defined()) fail(entry.second, "the key node, or shared: true");
        l.node = mention(number(node, "a node number", 65'535));
      }
      if (const YamlNode init = entry.second["init"]; init.defined()) {
        l.init = value(init);
        if (is_tuple(l.init)) {
          l.kind = LocationKind::tuple;
          l.tuple_size = len(program_.tuples[static_cast<std::size_t>(l.init - kFirstTuple)]);
        } else if (!is_integer(l.init)) {
          fail(init, "an integer");
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

  Value value(const YamlNode& n) {
    if (n.list()) {
      std::vector<Value> elements;
      for (const YamlValue* item : n.items()) {
        const YamlNode e(item);
        const auto v = e.scalar() ? integer(e.text()) : std::nullopt;
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

  int thread_index(const YamlNode& n) const {
    const int t = number(n, "the position of a thread, from 0", kThreadsMax);
    if (t >= len(program_.threads))
      fail(n, "the position of one of the " + std::to_string(len(program_.threads)) + " threads, from 0");
    return t;
  }
  std::vector<int> thread_list(const YamlNode& n) const {
    if (!n.list()) fail(n, "a list of threads");
    std::vector<int> list;
    for (const YamlValue* item : n.items()) {
      const YamlNode e(item);
      const int t = thread_index(e);
      if (std::find(list.begin(), list.end(), t) != list.end()) fail(e, "each thread once");
      list.push_back(t);
    }
    std::sort(list.begin(), list.end());
    return list;
  }

  void read_threads() {
    const YamlNode threads = document_["threads"];
    if (!threads.defined() || !threads.list()) fail(threads, "the key threads, a list");
    if (threads.items().size() > static_cast<std::size_t>(kThreadsMax)) fail(threads, "at most 64 threads");
    std::vector<std::vector<Token>> tokens;
    std::vector<std::string> codes;
    for (const YamlValue* item : threads.items()) {
      const YamlNode t(item);
      check_keys(t, {"node", "code"});
      if (!t["node"].defined()) fail(t, "the key node");
      Thread thread;
      thread.node = mention(number(t["node"], "a node number", 65'535));
      program_.threads.push_back(std::move(thread));
      const YamlNode code = t["code"];
      codes.push_back(code.defined() && !code.null() ? scalar(code, "statements") : "");
      tokens.push_back(tokenize(codes.back(), source_.positions(pos(code), codes.back()), file_));
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
              throw ParseError(file_, token.at, "a register that no other thread assigns to",
                               litmus::in_quotes(name) + ", a register of thread " + std::to_string(other));
        }
  }

  void read_objects() {
    if (const auto n = document_["barriers"]; n.defined()) {
      if (!n.map()) fail(n, "a map of barriers");
      for (const auto& [key, item] : n.entries()) {
        const std::pair<YamlNode, YamlNode> entry(key, item);
        Barrier b;
        b.name = new_identifier(entry.first, "the name of a barrier");
        if (entry.second.map()) {
          check_keys(entry.second, {"threads", "transitive"});
          if (!entry.second["threads"].defined()) fail(entry.second, "the key threads");
          b.participants = thread_list(entry.second["threads"]);
          if (const auto t = entry.second["transitive"]; t.defined()) b.transitive = boolean(t);
        } else {
          b.participants = thread_list(entry.second);
        }
        if (b.participants.empty()) fail(entry.first, "a barrier with a participating thread");
        program_.barriers.push_back(std::move(b));
      }
    }
    if (const auto n = document_["ringbuffers"]; n.defined()) {
      if (!n.map()) fail(n, "a map of ring buffers");
      for (const auto& [key, item] : n.entries()) {
        const std::pair<YamlNode, YamlNode> entry(key, item);
        RingBuffer r;
        r.name = new_identifier(entry.first, "the name of a ring buffer");
        check_keys(entry.second, {"writer", "readers"});
        if (!entry.second["writer"].defined()) fail(entry.second, "the key writer");
        if (!entry.second["readers"].defined()) fail(entry.second, "the key readers");
        r.writer = thread_index(entry.second["writer"]);
        r.readers = thread_list(entry.second["readers"]);
        program_.ringbuffers.push_back(std::move(r));
      }
    }
  }

  void read_final(const YamlNode& n) {
    if (!n.list()) fail(n, "a list of locations");
    for (const YamlValue* item : n.items()) {
      const YamlNode e(item);
      const std::string name = scalar(e, "a location");
      const std::size_t sign = name.find('@');
      Observable o{name, kNone, kNone, kNone, kNone};
      std::vector<std::string> names;
      for (int i = 0; i < len(program_.locations); ++i) {
        if (!at(program_.locations, i).fresh) names.push_back(at(program_.locations, i).name);
        if (at(program_.locations, i).name == name.substr(0, sign)) o.location = i;
      }
      if (o.location == kNone) fail(e, "a location", suggestion(name.substr(0, sign), names));
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

  PartialOutcome partial(const YamlNode& n) {
    if (!n.map()) fail(n, "an outcome, a map of registers and final locations");
    PartialOutcome result;
    for (const auto& [key, item] : n.entries()) {
      const std::pair<YamlNode, YamlNode> entry(key, item);
      const std::string name = scalar(entry.first, "a register or a location of `final`");
      std::vector<std::string> names;
      int index = kNone;
      for (int i = 0; i < len(program_.observables); ++i) {
        names.push_back(at(program_.observables, i).name);
        if (names.back() == name) index = i;
      }
      if (index == kNone) fail(entry.first, "a register or a location of `final`", suggestion(name, names));
      for (const auto& [other, ignored] : result)
        if (other == index) fail(entry.first, "each name once");
      result.emplace_back(index, value(entry.second));
    }
    return result;
  }
  std::vector<PartialOutcome> partials(const YamlNode& n) {
    if (!n.list()) fail(n, "a list of outcomes");
    std::vector<PartialOutcome> list;
    for (const YamlValue* e : n.items()) list.push_back(partial(YamlNode(e)));
    return list;
  }

  void read_outcomes() {
    if (const auto n = document_["outcomes"]; n.defined()) {
      check_keys(n, {"allowed", "forbidden"});
      if (const auto a = n["allowed"]; a.defined()) program_.allowed = partials(a);
      if (const auto f = n["forbidden"]; f.defined()) program_.forbidden = partials(f);
    }
    if (const auto n = document_["outcomes_by_model"]; n.defined()) {
      if (!n.map()) fail(n, "a map of models");
      for (const auto& [key, item] : n.entries()) {
        const std::pair<YamlNode, YamlNode> entry(key, item);
        const std::string model = scalar(entry.first, "a model");
        check_model(entry.first, model);
        program_.outcomes_by_model[model] = partials(entry.second);
      }
    }
  }

  YamlNode document_;
  const SourceText& source_;
  std::string file_;
  const ParseOptions& options_;
  Program program_;
  std::string effective_;
  bool atomic_ = true;
};

}  // namespace

ParseError::ParseError(const std::string& file, SourcePos pos, const std::string& expected, const std::string& found)
    : std::runtime_error(file + ":" + std::to_string(pos.line) + ":" + std::to_string(pos.column) + ": expected " +
                         expected + ", found " + found),
      pos_(pos) {}

std::vector<Program> parse_text(std::string_view text, const std::string& file, const ParseOptions& options) {
  if (!options.model.empty() && !is_model(options.model))
    throw std::invalid_argument("model: expected " + known_models() + ", found " + litmus::in_quotes(options.model));
  text = yaml::without_byte_order_mark(text);
  const SourceText source(text);
  const YamlDocuments yaml = read_yaml(text, file);
  std::vector<Program> programs;
  for (const YamlNode& document : yaml.documents) {
    if (!document.defined() || document.null()) continue;
    try {
      programs.push_back(DocumentParser(document, source, file, options).run());
    } catch (const ParseError& error) {
      if (options.left_out == nullptr) throw;
      const ParseOptions as_it_is;
      (void)DocumentParser(document, source, file, as_it_is).run();  // or is it one of its own model neither?
      options.left_out->emplace_back(error.what());
    }
  }
  return programs;
}

namespace {
/// Of a file that may have no end, such as a device, no more than is refused.
std::string text_of(const std::string& path) {
  constexpr std::size_t kPart = std::size_t{1} << 16U;
  if (path.find('\0') != std::string::npos) throw ParseError(path, {1, 1}, "a name without NUL", "one with it");
  std::ifstream in(path, std::ios::binary);
  std::string text;
  while (in && text.size() <= kFileBytesMax) {
    const std::size_t before = text.size();
    text.resize(std::min(before + kPart, kFileBytesMax + 1));
    in.read(text.data() + before, static_cast<std::streamsize>(text.size() - before));
    text.resize(before + static_cast<std::size_t>(in.gcount()));
  }
  if (!in && !in.eof()) throw ParseError(path, {1, 1}, "a readable file", "none");
  if (text.size() > kFileBytesMax)
    throw ParseError(path, {1, 1}, "at most " + std::to_string(kFileBytesMax) + " bytes", "more");
  return text;
}
}  // namespace

std::vector<Program> parse_file(const std::string& path, const ParseOptions& options) {
  const std::string text = text_of(path);
  std::vector<std::string> left_out;
  ParseOptions of_file = options;
  if (options.left_out != nullptr) of_file.left_out = &left_out;
  std::vector<Program> programs = parse_text(text, path, of_file);
  if (programs.empty() && left_out.empty()) throw ParseError(path, {1, 1}, "a litmus test", "nothing");
  if (options.left_out != nullptr) options.left_out->insert(options.left_out->end(), left_out.begin(), left_out.end());
  return programs;
}

}  // namespace loco::model::litmus
