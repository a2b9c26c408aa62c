// Which statements each model has, and which locations hold tuples.
#include <algorithm>

#include "model/litmus/language/parser.hpp"
#include "model/litmus/language/rule_set.hpp"
#include "model/litmus/language/statements.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"

namespace loco::model::litmus {
namespace {

bool is_control(Op op) { return op == Op::assign || op == Op::jump || op == Op::branch_zero || op == Op::assertion; }

/// Is the instruction a method of one of the model's libraries?
bool has_method(std::string_view model, bool core, const Instruction& i) {
  if (is_control(i.op)) return true;
  if (i.op == Op::verbs) return model == "verbs";
  if (model == "verbs") {
    const bool of_cpu = i.op == Op::read || i.op == Op::write || i.op == Op::cas || i.op == Op::mfence;
    return of_cpu && has_method("rdmawait", false, i);
  }
  if (core) {
    return i.op == Op::read || i.op == Op::write || i.op == Op::put || i.op == Op::get || i.op == Op::rga ||
           i.op == Op::remote_cas || i.op == Op::flush;
  }
  if (i.op == Op::rga || i.op == Op::remote_cas || i.op == Op::flush) return false;
  if (model == "sc") return true;
  if (i.op == Op::rcas || i.op == Op::rfaa) return model == "rdmatso" || model == "rdmawait" || model == "loco";
  if (i.op == Op::poll) return model == "rdmatso";
  if (i.op == Op::wait && model == "rdmatso") return false;
  return model == "loco" || i.library == Library::rdmawait;
}

}  // namespace

const std::vector<std::string>& model_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names = {"rdmatso", "rdmawait", "loco", "sc", "verbs"};
    for (const NamedRuleSet& set : named_rule_sets()) names.emplace_back(set.name);
    return names;
  }();
  return kNames;
}

void check_methods(const Program& program, std::string_view model, const std::string& file) {
  const bool core = is_corerma(model);
  for (const Thread& t : program.threads)
    for (const Instruction& i : t.code)
      if (!has_method(model, core, i))
        throw text::InputError({file, i.at}, "", "a statement of model " + std::string(model), text::in_quotes(i.text));
  if (!core) return;
  for (int a = 0; a < len(program.threads); ++a)
    for (int b = 0; b < a; ++b)
      if (at(program.threads, a).node == at(program.threads, b).node)
        throw text::InputError({file, program.at}, "", "one thread a node in coreRMA",
                               "two threads on node " + std::to_string(at(program.threads, a).node));
}

namespace {

/// Marks locations as tuples and sets their sizes, from the statements that access them.
class TupleSizes {
 public:
  TupleSizes(Program& program, const std::string& file) : program_(program), file_(file) {}

  /// Reads the statements of a thread once more. True if a location was marked or got its size.
  bool read(const std::vector<Token>& tokens) {
    changed_ = false;
    for (std::size_t i = 0; i + 4 < tokens.size(); ++i)
      if (tokens[i + 1].is("(")) statement(tokens, i);
    return changed_;
  }

 private:
  Location* find(const Token& t) const {
    for (Location& l : program_.locations)
      if (t.kind == TokenKind::identifier && l.name == t.text && l.kind != LocationKind::shared) return &l;
    return nullptr;
  }

  /// `elements`: 0 when the statement does not tell.
  void resize(Location& l, int elements, const Token& t) {
    if (l.tuple_size != 0 && elements != 0 && l.tuple_size != elements)
      throw text::InputError({file_, t.at}, "", "a tuple of " + std::to_string(l.tuple_size) + " elements",
                             "one of " + std::to_string(elements));
    changed_ = changed_ || l.kind != LocationKind::tuple || (elements != 0 && l.tuple_size != elements);
    l.kind = LocationKind::tuple;
    if (elements != 0) l.tuple_size = elements;
  }

  /// Tokens that may begin a call: a word, `(`, and the first argument.
  void statement(const std::vector<Token>& tokens, std::size_t word) {
    const Token& argument = tokens[word + 2];
    Location* const first = find(argument);
    if (first == nullptr) return;
    if (tokens[word].is_word("tryread")) {
      resize(*first, 0, argument);
    } else if (tokens[word].is_word("write")) {
      const auto end = std::find_if(tokens.begin() + static_cast<std::ptrdiff_t>(word) + 4, tokens.end(),
                                    [](const Token& t) { return t.is("]"); });
      const auto elements = std::count_if(tokens.begin() + static_cast<std::ptrdiff_t>(word) + 4, end,
                                          [](const Token& t) { return t.kind == TokenKind::number; });
      resize(*first, static_cast<int>(elements), argument);
    } else if (tokens[word].is_word("put") || tokens[word].is_word("get")) {
      const Token& other = tokens[word + 4];
      Location* const second = find(other);
      if (second == nullptr || (first->kind != LocationKind::tuple && second->kind != LocationKind::tuple)) return;
      resize(*first, second->tuple_size, argument);
      resize(*second, first->tuple_size, other);
    }
  }

  Program& program_;
  const std::string& file_;
  bool changed_ = false;
};

}  // namespace

void find_tuples(Program& program, const std::vector<std::vector<Token>>& threads, const std::string& file) {
  TupleSizes sizes(program, file);
  for (bool changed = true; changed;) {  // puts and gets carry the size of one location to another
    changed = false;
    for (const auto& tokens : threads) changed |= sizes.read(tokens);
  }
  for (Location& l : program.locations) {
    if (l.kind != LocationKind::tuple) continue;
    if (l.tuple_size == 0) l.tuple_size = 1;
    if (!is_tuple(l.init)) l.init = program.intern(std::vector<Value>(static_cast<std::size_t>(l.tuple_size), l.init));
  }
}

}  // namespace loco::model::litmus
