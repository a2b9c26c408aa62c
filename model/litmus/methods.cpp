// Which statements each model has, and which locations hold tuples.
#include <algorithm>

#include "model/litmus/parser.hpp"
#include "model/litmus/rule_set.hpp"
#include "model/litmus/statements.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"

namespace loco::model::litmus {
namespace {

bool is_control(Op op) { return op == Op::assign || op == Op::jump || op == Op::branch_zero || op == Op::assertion; }

/// Is the instruction a method of one of the model's libraries?
bool has_method(std::string_view model, bool core, const Instruction& i) {
  if (is_control(i.op)) return true;
  if (core) {
    return i.op == Op::read || i.op == Op::write || i.op == Op::put || i.op == Op::get || i.op == Op::rga ||
           i.op == Op::remote_cas || i.op == Op::flush;
  }
  if (i.op == Op::rga || i.op == Op::remote_cas || i.op == Op::flush) return false;
  if (i.op == Op::poll) return model == "rdmatso";
  if (i.op == Op::wait && model == "rdmatso") return false;
  return model == "loco" || i.library == Library::rdmawait;
}

}  // namespace

const std::vector<std::string>& model_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names = {"rdmatso", "rdmawait", "loco"};
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

void find_tuples(Program& program, const std::vector<std::vector<Token>>& threads, const std::string& file) {
  const auto find = [&](const Token& t) -> Location* {
    for (Location& l : program.locations)
      if (t.kind == TokenKind::identifier && l.name == t.text && l.kind != LocationKind::shared) return &l;
    return nullptr;
  };
  const auto resize = [&](Location& l, int elements, const Token& t) {
    if (l.tuple_size != 0 && elements != 0 && l.tuple_size != elements)
      throw text::InputError({file, t.at}, "", "a tuple of " + std::to_string(l.tuple_size) + " elements",
                             "one of " + std::to_string(elements));
    l.kind = LocationKind::tuple;
    if (elements != 0) l.tuple_size = elements;
  };
  bool changed = true;
  while (changed) {  // each round marks or sizes at least one more location
    changed = false;
    for (const auto& tokens : threads)
      for (std::size_t i = 0; i + 4 < tokens.size(); ++i) {
        if (!tokens[i + 1].is("(")) continue;
        Location* first = find(tokens[i + 2]);
        if (first == nullptr) continue;
        const int before = first->tuple_size;
        const LocationKind kind = first->kind;
        if (tokens[i].is_word("tryread")) {
          resize(*first, 0, tokens[i + 2]);
        } else if (tokens[i].is_word("write")) {
          int elements = 0;
          for (std::size_t j = i + 4; j < tokens.size() && !tokens[j].is("]"); ++j)
            if (tokens[j].kind == TokenKind::number) ++elements;
          resize(*first, elements, tokens[i + 2]);
        } else if (tokens[i].is_word("put") || tokens[i].is_word("get")) {
          Location* second = find(tokens[i + 4]);
          if (second == nullptr || (first->kind != LocationKind::tuple && second->kind != LocationKind::tuple))
            continue;
          const bool whole = first->kind == second->kind && first->tuple_size == second->tuple_size;
          resize(*first, second->tuple_size, tokens[i + 2]);
          resize(*second, first->tuple_size, tokens[i + 4]);
          changed = changed || !whole;
        }
        changed = changed || before != first->tuple_size || kind != first->kind;
      }
  }
  for (Location& l : program.locations) {
    if (l.kind != LocationKind::tuple) continue;
    if (l.tuple_size == 0) l.tuple_size = 1;
    if (!is_tuple(l.init)) l.init = program.intern(std::vector<Value>(static_cast<std::size_t>(l.tuple_size), l.init));
  }
}

}  // namespace loco::model::litmus
