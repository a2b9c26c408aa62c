// The YAML side of litmus documents. Positions inside code come from text.hpp.
#include "model/litmus/language/parser.hpp"

#include <algorithm>
#include <stdexcept>

#include "model/litmus/language/declarations.hpp"
#include "model/litmus/language/expectations.hpp"
#include "model/litmus/language/herd.hpp"
#include "model/litmus/language/lexer.hpp"
#include "model/litmus/language/statements.hpp"
#include "model/litmus/language/text.hpp"
#include "model/litmus/language/yaml_values.hpp"
#include "text/file.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"
#include "yaml/events.hpp"
#include "yaml/node.hpp"

namespace loco::model::litmus {

using yaml::Node;

namespace {

class DocumentParser {
 public:
  DocumentParser(const Node& document, const SourceText& source, std::string file, const ParseOptions& options)
      : document_(document), source_(source), file_(std::move(file)), options_(options) {}

  Program run() {
    program_.file = file_;
    program_.at = mark(document_.place);
    check_keys(document_, {"name", "source", "model", "atomicity", "locations", "barriers", "ringbuffers", "threads",
                           "final", "outcomes", "outcomes_by_model", "qps", "srqs", "races", "flags", "assume"});
    if (const Node* n = document_.find("name")) program_.name = scalar(*n, "a name");
    if (program_.name.empty()) program_.name = "unnamed";
    if (const Node* n = document_.find("source")) program_.source = scalar(*n, "text");
    read_model();
    read_atomicity();
    for (const char* key : {"qps", "srqs", "races", "flags", "assume"})
      if (const Node* n = document_.find(key); n != nullptr && program_.model != "verbs")
        fail(*n, std::string("the key ") + key + " in a document of model verbs only");
    read_locations(program_, document_);
    read_queues(program_, document_);
    read_threads();
    read_objects(program_, document_);
    read_code();
    read_final(program_, document_);
    read_outcomes(program_, document_);
    read_races(program_, document_);
    return std::move(program_);
  }

 private:
  void read_model() {
    program_.model = "loco";
    if (const Node* n = document_.find("model")) {
      program_.model = scalar(*n, "a model");
      check_model({program_.model, n->place});
    }
    effective_ = options_.model.empty() ? program_.model : options_.model;
    if (is_corerma(effective_) != is_corerma(program_.model) || (effective_ == "verbs") != (program_.model == "verbs"))
      throw text::InputError({file_, program_.at}, "", "a document of the same family as model " + effective_,
                             "model " + program_.model);
  }

  void read_atomicity() {
    const Node* n = document_.find("atomicity");
    if (n == nullptr) return;
    if (!is_corerma(program_.model)) fail(*n, "no atomicity in a document of model " + program_.model);
    const std::string s = scalar(*n, "atomic or non_atomic");
    if (s != "atomic" && s != "non_atomic") fail(*n, "atomic or non_atomic");
    atomic_ = s == "atomic";
  }

  /// The threads' nodes, and the tokens of their code.
  void read_threads() {
    const std::string expected = "the key threads, a list";
    const Node* const threads = document_.find("threads");
    if (threads == nullptr) throw text::InputError(document_.place, "", expected, "nothing");
    if (!is_list(*threads)) fail(*threads, expected);
    if (threads->items.size() > std::size_t{kThreadsMax}) fail(*threads, "at most 64 threads");
    for (const Node& t : threads->items) {
      check_keys(t, {"node", "code"});
      Thread thread;
      thread.node = program_.mention(node_number(required(t, "node")));
      program_.threads.push_back(std::move(thread));
      const Node* code = t.find("code");
      const bool empty = code == nullptr || code->kind == Node::Kind::null;
      codes_.push_back(empty ? "" : scalar(*code, "statements"));
      const text::Mark start = mark((code == nullptr ? document_ : *code).place);
      tokens_.push_back(tokenize(codes_.back(), source_.positions(start, codes_.back()), file_));
    }
  }

  /// The threads' instructions and registers. Everything that statements may name is declared.
  void read_code() {
    find_tuples(program_, tokens_, file_);
    StatementContext context{program_, file_, effective_, atomic_, {}};
    for (const auto& t : tokens_) context.registers.push_back(assigned_registers(program_, t));
    check_registers(context.registers);
    for (int t = 0; t < len(program_.threads); ++t) {
      parse_statements(context, t, at(codes_, t), at(tokens_, t));
      observe_registers(t, at(context.registers, t));
    }
    for (const Thread& t : program_.threads)
      for (const Instruction& i : t.code) {
        if (i.node != kNone) program_.mention(i.node);
        for (const int node : i.nodes) program_.mention(node);
      }
    check_methods(program_, effective_, file_);
  }

  void observe_registers(int thread, const std::vector<std::string>& names) {
    const auto& registers = at(program_.threads, thread).registers;
    for (const std::string& name : names) {
      const auto r =
          std::find_if(registers.begin(), registers.end(), [&](const Register& x) { return x.name == name; });
      program_.observables.push_back({name, thread, static_cast<int>(r - registers.begin()), kNone, kNone});
    }
  }

  /// Outcomes name registers without their thread, so a name belongs to one thread.
  void check_registers(const std::vector<std::vector<std::string>>& registers) const {
    for (int t = 1; t < len(registers); ++t)
      for (const std::string& name : at(registers, t))
        for (int other = 0; other < t; ++other) {
          const auto& theirs = at(registers, other);
          if (std::find(theirs.begin(), theirs.end(), name) == theirs.end()) continue;
          for (const Token& token : at(tokens_, t))
            if (token.is_word(name))
              throw text::InputError({file_, token.at}, "", "a register that no other thread assigns to",
                                     text::in_quotes(name) + ", a register of thread " + std::to_string(other));
        }
  }

  const Node& document_;
  const SourceText& source_;
  std::string file_;
  const ParseOptions& options_;
  Program program_;
  std::string effective_;  ///< model
  bool atomic_ = true;
  std::vector<std::string> codes_;          ///< by thread
  std::vector<std::vector<Token>> tokens_;  ///< by thread
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
  if (path.ends_with(".litmus")) {
    std::vector<Program> one = {parse_herd(text, path)};
    if (!options.model.empty() && options.model != "rdmawait" && options.model != "rdmatso" && options.model != "loco")
      throw text::InputError({path, 1, 1}, "", "a model of x86's programs: rdmawait, rdmatso or loco", options.model);
    return one;
  }
  std::vector<std::string> left_out;
  ParseOptions of_file = options;
  if (options.left_out != nullptr) of_file.left_out = &left_out;
  std::vector<Program> programs = parse_text(text, path, of_file);
  if (programs.empty() && left_out.empty()) throw text::InputError({path, 1, 1}, "", "a litmus test", "nothing");
  if (options.left_out != nullptr) options.left_out->insert(options.left_out->end(), left_out.begin(), left_out.end());
  return programs;
}

}  // namespace loco::model::litmus
