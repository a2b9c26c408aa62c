#include "verify/build.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "text/input_error.hpp"
#include "text/words.hpp"

namespace loco::verify {

using text::in_quotes;
using text::suggestion;

namespace {

using syntax::StatementKind;

class Builder {
 public:
  Builder(const syntax::File& file, const std::string& name) : file_(&file) { program_.file = name; }

  /// Only for `predicate`: the names are those of a program that is built, `name` is the file that uses them.
  Builder(const Program& program, const std::string& name) : program_(program) {
    program_.file = name;
    locals_.resize(program.processes.size());
    for (std::uint32_t p = 0; p < program.processes.size(); ++p) processes_.emplace(program.processes[p].id, p);
    for (std::uint32_t s = 0; s < program.shared.size(); ++s) shared_.emplace(program.shared[s].name, s);
    for (std::uint32_t l = 0; l < program.locals.size(); ++l) {
      locals_[program.locals[l].process].emplace(program.locals[l].name, l);
      local_homes_[program.locals[l].name].push_back(l);
    }
  }

  Expression predicate(const syntax::Expression& expression) const {
    std::vector<bool> constant;  // of the values on the stack
    std::optional<Place> variable;
    for (const syntax::Node& node : expression.nodes) {
      if (node.op == Operator::kAt || node.op == Operator::kIn)
        fail(node.name.place, "variables and integers in a predicate", node.op == Operator::kAt ? "\"at\"" : "\"in\"");
      if (!variable && node.op == Operator::kLocal) variable = node.name.place;
      const int taken = operands(node.op);
      if (taken == 0) {
        constant.push_back(node.op == Operator::kLiteral);
      } else if (taken == 2) {
        const bool right = constant.back();
        constant.pop_back();
        if (node.op == Operator::kMultiply && !right && !constant.back())
          fail(variable.value(), "a linear predicate", "a product of variables");
        constant.back() = constant.back() && right;
      }
    }
    return property_expression(expression);
  }

  Program run() {
    declare();
    for (std::uint32_t p = 0; p < file_->processes.size(); ++p) graph(p);
    for (const syntax::Property& property : file_->properties)
      program_.properties.push_back({property.kind, property_expression(property.expression), property.place});
    for (const syntax::Liveness& property : file_->liveness) program_.liveness.push_back(liveness(property));
    return std::move(program_);
  }

 private:
  LivenessProperty liveness(const syntax::Liveness& source) const {
    LivenessProperty result;
    result.kind = source.kind;
    result.under = source.under;
    result.text = source.text;
    result.place = source.place;
    for (const syntax::Number& n : source.processes) result.processes.push_back(process_index(n));
    for (const syntax::Standing& s : source.labels) {
      const std::uint32_t p = process_index(s.process);
      result.labels.push_back({p, label(p, s.label)});
      result.processes.push_back(p);
    }
    if (source.kind == LivenessKind::kEnds && source.processes.empty()) {
      for (std::uint32_t p = 0; p < program_.processes.size(); ++p) result.processes.push_back(p);
    }
    std::sort(result.processes.begin(), result.processes.end());
    result.processes.erase(std::unique(result.processes.begin(), result.processes.end()), result.processes.end());
    if (!source.expressions.empty()) result.then = property_expression(source.expressions.back());
    if (source.expressions.size() > 1) result.when = property_expression(source.expressions.front());
    return result;
  }

  [[noreturn]] void fail(Place place, const std::string& expected, const std::string& found,
                         const std::string& hint = {}) const {
    throw text::InputError({program_.file, place}, "", expected, found, hint);
  }

  // -- names

  void declare() {
    for (std::uint32_t p = 0; p < file_->processes.size(); ++p) {
      const syntax::Process& process = file_->processes[p];
      if (!processes_.emplace(process.id.value, p).second)
        fail(process.id.place, "a number that no other process has", in_quotes(process.id.value.str()));
      program_.processes.emplace_back();
      program_.processes.back().id = process.id.value;
      program_.processes.back().place = process.id.place;
      for (const syntax::Declaration& d : process.shared) {
        if (!shared_.emplace(d.name.text, static_cast<std::uint32_t>(program_.shared.size())).second)
          fail(d.name.place, "a name that no other shared variable has", in_quotes(d.name.text));
        program_.shared.push_back({d.name.text, d.initial, p, d.name.place});
      }
      locals_.emplace_back();
      for (const syntax::Declaration& d : process.locals) {
        if (!locals_.back().emplace(d.name.text, static_cast<std::uint32_t>(program_.locals.size())).second)
          fail(d.name.place, fmt::format("a name that no other local of process {} has", process.id.value.str()),
               in_quotes(d.name.text));
        local_homes_[d.name.text].push_back(static_cast<std::uint32_t>(program_.locals.size()));
        program_.locals.push_back({d.name.text, d.initial, p, d.name.place});
      }
    }
  }

  template <typename Map>
  static std::vector<std::string> names(const Map& map) {
    std::vector<std::string> result;
    for (const auto& entry : map) result.push_back(entry.first);
    return result;
  }

  std::uint32_t process_index(const syntax::Number& number) const {
    const auto found = processes_.find(number.value);
    if (found != processes_.end()) return found->second;
    std::string known;
    for (const Process& p : program_.processes) known += (known.empty() ? "" : ", ") + p.name();
    fail(number.place, fmt::format("the number of a process ({})", known), in_quotes(number.value.str()));
  }

  std::uint32_t own_local(std::uint32_t process, const syntax::Name& name) const {
    const auto& known = locals_[process];
    const auto found = known.find(name.text);
    if (found != known.end()) return found->second;
    const bool is_shared = shared_.count(name.text) != 0;
    fail(name.place, fmt::format("a local of process {}", program_.processes[process].name()),
         in_quotes(name.text) + (is_shared ? ", a shared variable" : ""),
         is_shared ? "" : suggestion(name.text, names(known)));
  }

  std::uint32_t shared_index(const syntax::Name& name, const std::string& expected, std::uint32_t home) const {
    const auto found = shared_.find(name.text);
    if (found == shared_.end()) {
      std::vector<std::string> known;
      for (const SharedVariable& v : program_.shared) {
        if (v.process == home) known.push_back(v.name);
      }
      std::string hint = suggestion(name.text, known);
      if (hint.empty()) hint = suggestion(name.text, names(shared_));
      fail(name.place, expected, in_quotes(name.text), hint);
    }
    const std::uint32_t actual = program_.shared[found->second].process;
    if (actual != home)
      fail(name.place, expected,
           fmt::format("{}, which lives on process {}", in_quotes(name.text), program_.processes[actual].name()));
    return found->second;
  }

  std::uint32_t own_shared(std::uint32_t process, const syntax::Name& name) const {
    return shared_index(name, fmt::format("a shared variable of process {}", program_.processes[process].name()),
                        process);
  }

  /// The remote variable of a statement, and where it lives; a wrong process is told of at its number.
  std::uint32_t remote_shared(const syntax::Name& name, const syntax::Number& process, std::uint32_t target) const {
    const auto found = shared_.find(name.text);
    if (found != shared_.end() && program_.shared[found->second].process != target)
      fail(process.place,
           fmt::format("\"{}\", the process on which {} lives",
                       program_.processes[program_.shared[found->second].process].name(), in_quotes(name.text)),
           in_quotes(process.value.str()));
    return shared_index(name, fmt::format("a shared variable of process {}", process.value.str()), target);
  }

  // -- expressions

  static ExpressionNode plain(const syntax::Node& node) { return {node.op, node.literal, 0, 0}; }

  Expression statement_expression(std::uint32_t process, const syntax::Expression& expression) const {
    Expression result;
    result.text = expression.text;
    for (const syntax::Node& node : expression.nodes) {
      ExpressionNode out = plain(node);
      if (node.op == Operator::kAt || node.op == Operator::kIn)
        fail(node.name.place, "locals only (at(...) and in(...) are for properties)",
             node.op == Operator::kAt ? "\"at\"" : "\"in\"");
      if (node.op == Operator::kLocal) {
        if (node.process && process_index(*node.process) != process)
          fail(node.name.place, fmt::format("a local of process {}", program_.processes[process].name()),
               fmt::format("one of process {}", node.process->value.str()));
        out.index = own_local(process, node.name);
      }
      result.nodes.push_back(std::move(out));
    }
    return result;
  }

  Expression property_expression(const syntax::Expression& expression) const {
    Expression result;
    result.text = expression.text;
    for (const syntax::Node& node : expression.nodes) {
      ExpressionNode out = plain(node);
      if (node.op == Operator::kAt) {
        out.index = process_index(*node.process);
        out.location = label(out.index, node.name);
      } else if (node.op == Operator::kIn) {
        out.index = process_index(*node.process);
        const std::uint32_t at = label(out.index, node.name);
        const std::vector<Label>& labels = program_.processes[out.index].labels;
        while (labels[out.location].name != node.name.text || labels[out.location].location != at) ++out.location;
      } else if (node.op == Operator::kLocal) {
        property_variable(node, out);
      }
      result.nodes.push_back(std::move(out));
    }
    return result;
  }

  void property_variable(const syntax::Node& node, ExpressionNode& out) const {
    if (node.process) {
      out.index = own_local(process_index(*node.process), node.name);
      return;
    }
    const auto shared = shared_.find(node.name.text);
    const auto local = local_homes_.find(node.name.text);
    const std::size_t meanings =
        (shared != shared_.end() ? 1 : 0) + (local != local_homes_.end() ? local->second.size() : 0);
    if (meanings == 0) {
      std::vector<std::string> known = names(shared_);
      for (const auto& entry : local_homes_) known.push_back(entry.first);
      fail(node.name.place, "a variable", in_quotes(node.name.text), suggestion(node.name.text, known));
    }
    if (meanings > 1 && shared != shared_.end()) {
      const std::uint32_t home = program_.locals[local->second.front()].process;
      fail(
          node.name.place, "a name with one meaning",
          fmt::format("{}, a shared variable and a local of process {}: {}@{} is the local; for the other, give one of "
                      "them another name",
                      in_quotes(node.name.text), program_.processes[home].name(), node.name.text,
                      program_.processes[home].name()));
    }
    if (meanings > 1) {
      const std::uint32_t home = program_.locals[local->second.front()].process;
      fail(node.name.place, "one variable",
           fmt::format("{}, which {} processes declare: write {}@{}", in_quotes(node.name.text), meanings,
                       node.name.text, program_.processes[home].name()));
    }
    if (shared != shared_.end()) out.op = Operator::kShared;
    out.index = shared != shared_.end() ? shared->second : local->second.front();
  }

  std::uint32_t label(std::uint32_t process, const syntax::Name& name) const {
    const auto labels = label_places_.find(process);
    if (labels != label_places_.end()) {
      const auto found = labels->second.find(name.text);
      if (found != labels->second.end()) return found->second;
    }
    std::vector<std::string> known;
    for (const Label& l : program_.processes[process].labels) known.push_back(l.name);
    fail(name.place, fmt::format("a label of process {}", program_.processes[process].name()), in_quotes(name.text),
         suggestion(name.text, known));
  }

  // -- control-flow graphs: a statement is laid out between the location before it and the one after it

  std::uint32_t location(Place place) {
    process_->locations.push_back({{}, {}, place});
    return static_cast<std::uint32_t>(process_->locations.size() - 1);
  }

  void edge(std::uint32_t from, std::uint32_t to, Action action, std::string text, Place place) {
    process_->locations[from].edges.push_back(static_cast<std::uint32_t>(process_->edges.size()));
    process_->edges.push_back({from, to, std::move(action), std::move(text), place});
  }

  void graph(std::uint32_t p) {
    const syntax::Process& source = file_->processes[p];
    process_ = &program_.processes[p];
    index_ = p;
    gotos_.clear();
    process_->entry = location(source.body.empty() ? source.end : source.body.front().place);
    process_->exit = source.body.empty() ? process_->entry : location(source.end);
    sequence(source.body, process_->entry, process_->exit, std::nullopt);
    for (const auto& [e, name] : gotos_) process_->edges[e].to = label(p, *name);
    for (Label& l : process_->labels) l.inside.resize(process_->locations.size(), false);
  }

  using Exit = std::optional<std::uint32_t>;  ///< where break goes, in a loop

  /// Where a block starts that ends at `after`.
  std::uint32_t start(const std::vector<syntax::Statement>& block, std::uint32_t after) {
    return block.empty() ? after : location(block.front().place);
  }

  void sequence(const std::vector<syntax::Statement>& statements, std::uint32_t from, std::uint32_t to,
                Exit loop_exit) {
    for (std::size_t i = 0; i < statements.size(); ++i) {
      const std::uint32_t next = i + 1 < statements.size() ? location(statements[i + 1].place) : to;
      statement(statements[i], from, next, loop_exit);
      from = next;
    }
  }

  void add_label(const syntax::Name& name, std::uint32_t at) {
    if (!label_places_[index_].emplace(name.text, at).second)
      fail(name.place, fmt::format("a label that process {} has once", process_->name()),
           in_quotes(name.text) + " again");
    process_->labels.push_back({name.text, at, name.place, {}});
    process_->locations[at].labels.push_back(name.text);
  }

  void statement(const syntax::Statement& s, std::uint32_t from, std::uint32_t to, Exit loop_exit) {
    const std::size_t label = process_->labels.size();
    if (s.label) add_label(*s.label, from);
    const std::size_t first = process_->locations.size();
    lay_out(s, from, to, loop_exit);
    if (!s.label) return;
    // What was laid out for it belongs to it, and where it begins.
    std::vector<bool>& inside = process_->labels[label].inside;
    inside.assign(process_->locations.size(), false);
    inside[from] = true;
    std::fill(inside.begin() + static_cast<std::ptrdiff_t>(first), inside.end(), true);
  }

  void lay_out(const syntax::Statement& s, std::uint32_t from, std::uint32_t to, Exit loop_exit) {
    switch (s.kind) {
      case StatementKind::kBlock:
        if (s.body.empty()) return edge(from, to, {}, "{ }", s.place);
        return sequence(s.body, from, to, loop_exit);
      case StatementKind::kIf:
      case StatementKind::kWhile:
        return structured(s, from, to, loop_exit);
      case StatementKind::kGoto:
        gotos_.emplace_back(process_->edges.size(), &s.names.front());
        return edge(from, to, {}, s.text, s.place);
      case StatementKind::kBreak:
        if (!loop_exit) fail(s.place, "\"break\" inside a loop", "it outside");
        return edge(from, *loop_exit, {}, s.text, s.place);
      default:
        return edge(from, to, action(s), s.text, s.place);
    }
  }

  void structured(const syntax::Statement& s, std::uint32_t from, std::uint32_t to, Exit loop_exit) {
    const bool loop = s.kind == StatementKind::kWhile;
    const std::uint32_t after = loop ? from : to;
    const std::uint32_t body = start(s.body, after);
    const std::uint32_t otherwise = loop ? to : start(s.otherwise, to);
    Action test;
    test.kind = ActionKind::kAssume;
    if (s.expression) test.expression = statement_expression(index_, *s.expression);
    edge(from, body, test, s.text + (s.expression ? " is true" : " goes in"), s.place);
    test.negated = true;
    edge(from, otherwise, test, s.text + (s.expression ? " is false" : " goes past"), s.place);
    sequence(s.body, body, after, loop ? Exit(to) : loop_exit);
    if (!loop) sequence(s.otherwise, otherwise, to, loop_exit);
  }

  Action action(const syntax::Statement& s) {
    Action result;
    if (s.expression) result.expression = statement_expression(index_, *s.expression);
    switch (s.kind) {
      case StatementKind::kAssign:
      case StatementKind::kChoose:
        result.kind = s.kind == StatementKind::kAssign ? ActionKind::kAssign : ActionKind::kChoose;
        result.local = own_local(index_, s.names[0]);
        result.choices = s.choices;
        break;
      case StatementKind::kLoad:
        result.kind = ActionKind::kLoad;
        result.local = own_local(index_, s.names[0]);
        result.shared = own_shared(index_, s.names[1]);
        break;
      case StatementKind::kStore:
        result.kind = ActionKind::kStore;
        result.shared = own_shared(index_, s.names[0]);
        break;
      case StatementKind::kFlush:
        result.kind = ActionKind::kFlush;
        result.flush = static_cast<std::uint32_t>(program_.flushes.size());
        program_.flushes.push_back({index_, process_index(*s.process), s.text, s.place});
        break;
      case StatementKind::kAssume:
      case StatementKind::kAssert:
        result.kind = s.kind == StatementKind::kAssume ? ActionKind::kAssume : ActionKind::kAssert;
        break;
      case StatementKind::kSkip:
        break;
      default:
        result.kind = ActionKind::kRemote;
        result.remote = static_cast<std::uint32_t>(program_.remotes.size());
        program_.remotes.push_back(remote(s));
        break;
    }
    return result;
  }

  RemoteStatement remote(const syntax::Statement& s) const {
    RemoteStatement result;
    result.kind = s.kind == StatementKind::kPut   ? RemoteKind::kPut
                  : s.kind == StatementKind::kGet ? RemoteKind::kGet
                  : s.kind == StatementKind::kRga ? RemoteKind::kRga
                                                  : RemoteKind::kCas;
    result.process = index_;
    result.target = process_index(*s.process);
    auto name = s.names.begin();
    if (result.kind != RemoteKind::kPut) result.result = own_shared(index_, *name++);
    result.remote = remote_shared(*name++, *s.process, result.target);
    if (name != s.names.end()) result.operand = own_shared(index_, *name++);
    if (name != s.names.end()) result.swap = own_shared(index_, *name);
    result.text = s.text;
    result.place = s.place;
    return result;
  }

  const syntax::File* file_ = nullptr;
  Program program_;
  std::map<Integer, std::uint32_t> processes_;
  std::map<std::string, std::uint32_t> shared_;
  std::vector<std::map<std::string, std::uint32_t>> locals_;       ///< of each process
  std::map<std::string, std::vector<std::uint32_t>> local_homes_;  ///< all locals of that name
  std::map<std::uint32_t, std::map<std::string, std::uint32_t>> label_places_;

  Process* process_ = nullptr;  ///< whose graph is being laid out
  std::uint32_t index_ = 0;
  std::vector<std::pair<std::size_t, const syntax::Name*>> gotos_;  ///< edges whose end is not known yet
};

}  // namespace

Program build(const syntax::File& file, const std::string& name) { return Builder(file, name).run(); }

Expression build(const syntax::Expression& predicate, const Program& program, const std::string& name) {
  return Builder(program, name).predicate(predicate);
}

}  // namespace loco::verify
