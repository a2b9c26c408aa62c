#include "verify/parser.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/file.hpp"
#include "verify/build.hpp"
#include "verify/expression_parser.hpp"
#include "verify/lexer.hpp"
#include "verify/syntax.hpp"

namespace loco::verify {

namespace {

using syntax::StatementKind;

/// In the order of LivenessKind.
constexpr std::array<std::string_view, 4> kLivenessNames = {"ends", "eventually", "leads_to", "progress"};

constexpr std::size_t kBytesMax = std::size_t{16} << 20U;  ///< of a file: a device has no end

/// Processes, statements and properties.
class Parser : private ExpressionParser {
 public:
  Parser(std::string_view text, const std::string& file)
      : ExpressionParser(tokenize(text, file), file, "the end of the file") {}

  syntax::File run() {
    syntax::File result;
    if (!now().is("process")) fail("\"process\"", now());
    while (now().is("process")) result.processes.push_back(process());
    if (!now().is("assert"))
      fail(now().kind == TokenKind::kEnd ? "a property: \"assert\"" : "\"process\" or \"assert\"", now());
    while (now().is("assert")) {
      if (after(1).kind == TokenKind::kName &&
          std::find(kLivenessNames.begin(), kLivenessNames.end(), after(1).text) != kLivenessNames.end())
        result.liveness.push_back(liveness());
      else
        result.properties.push_back(property());
    }
    if (now().kind != TokenKind::kEnd) fail("\"assert\" or the end of the file", now());
    return result;
  }

 private:
  syntax::Process process() {
    syntax::Process result;
    need("process");
    result.id = integer("the number of the process");
    need("{");
    while (!now().is("}")) {
      if (now().is("shared") || now().is("local")) {
        declarations(now().is("shared") ? result.shared : result.locals);
      } else {
        result.body.push_back(statement());
      }
    }
    result.end = take().place;
    return result;
  }

  void declarations(std::vector<syntax::Declaration>& into) {
    const bool shared = take().text == "shared";
    do {
      syntax::Declaration declaration{name(shared ? "the name of a shared variable" : "the name of a local"), 0};
      if (shared) {
        need("=", " and the variable's first value");
        declaration.initial = integer("an integer").value;
      } else if (take_if("=")) {
        declaration.initial = integer("an integer").value;
      }
      into.push_back(std::move(declaration));
    } while (take_if(","));
    need(";");
  }

  std::vector<syntax::Statement> block() {
    std::vector<syntax::Statement> result;
    if (!take_if("{")) {
      result.push_back(statement());
      return result;
    }
    while (!now().is("}")) result.push_back(statement());
    take();
    return result;
  }

  syntax::Statement statement() {
    const Depth depth(*this);
    std::optional<syntax::Name> label;
    if (now().kind == TokenKind::kName && after(1).is(":")) {
      label = name("a label");
      take();
      if (now().kind == TokenKind::kName && after(1).is(":"))
        fail(fmt::format("a statement after the label \"{}\" (it has one label at most)", label->text), now());
    }
    const Place place = now().place;
    syntax::Statement result;
    if (now().is("if") || now().is("while")) {
      result = structured();
    } else if (now().is("{")) {
      result.kind = StatementKind::kBlock;
      result.body = block();
    } else {
      const std::size_t from = index();
      result = simple();
      result.text = text(from, index());
      need(";");
    }
    result.label = std::move(label);
    result.place = place;
    return result;
  }

  syntax::Statement structured() {
    syntax::Statement result;
    result.kind = take().text == "if" ? StatementKind::kIf : StatementKind::kWhile;
    const std::size_t from = index();
    result.expression = condition();
    result.text = text(from, index());
    result.body = block();
    if (result.kind == StatementKind::kIf && take_if("else")) result.otherwise = block();
    return result;
  }

  /// `( cond )`; nothing for `*`.
  std::optional<syntax::Expression> condition() {
    need("(");
    if (now().is("*") && after(1).is(")")) {
      take();
      take();
      return std::nullopt;
    }
    syntax::Expression result = expression();
    need(")");
    return result;
  }

  syntax::Statement simple() {
    syntax::Statement result;
    if (now().kind == TokenKind::kName) return assignment();
    const Token word = take();
    if (word.is("skip") || word.is("break")) {
      result.kind = word.is("skip") ? StatementKind::kSkip : StatementKind::kBreak;
    } else if (word.is("goto")) {
      result.kind = StatementKind::kGoto;
      result.names.push_back(name("a label"));
    } else if (word.is("assume") || word.is("assert")) {
      result.kind = word.is("assume") ? StatementKind::kAssume : StatementKind::kAssert;
      result.expression = condition();
    } else if (word.is("load")) {
      result.kind = StatementKind::kLoad;
      result.names.push_back(name("a local"));
      need("=");
      result.names.push_back(name("a shared variable of this process"));
    } else if (word.is("store")) {
      result.kind = StatementKind::kStore;
      result.names.push_back(name("a shared variable of this process"));
      need("=");
      result.expression = expression();
    } else if (word.is("flush")) {
      result.kind = StatementKind::kFlush;
      need("(");
      result.process = integer("the number of a process");
      need(")");
    } else if (word.is("put")) {
      result.kind = StatementKind::kPut;
      remote_arguments(result, 1);
    } else {
      fail("a statement", word);
    }
    return result;
  }

  /// `( Z, pid, ... )` with that many names after the process.
  void remote_arguments(syntax::Statement& into, int more) {
    need("(");
    into.names.push_back(name("the remote variable"));
    need(",");
    into.process = integer("the number of the process where the variable lives");
    for (; more > 0; --more) {
      need(",");
      into.names.push_back(name("a shared variable of this process"));
    }
    need(")");
  }

  syntax::Statement assignment() {
    if (!after(1).is("=")) {
      const TokenKind next = after(1).kind;
      const bool word =
          after(1).is("(") || next == TokenKind::kName || next == TokenKind::kKeyword || next == TokenKind::kNumber;
      if (word) fail("a statement", now(), keywords());
      fail("\"=\" or \":\" after a name", after(1));
    }
    syntax::Statement result;
    result.names.push_back(name("a name"));
    take();
    const Token word = now();
    if (word.kind == TokenKind::kName && after(1).is("("))
      fail("get, rga, cas, choose or an expression", word, keywords());
    if (word.is("get") || word.is("rga") || word.is("cas")) {
      take();
      result.kind = word.is("get") ? StatementKind::kGet : word.is("rga") ? StatementKind::kRga : StatementKind::kCas;
      remote_arguments(result, word.is("get") ? 0 : word.is("rga") ? 1 : 2);
    } else if (take_if("choose")) {
      result.kind = StatementKind::kChoose;
      need("(");
      do result.choices.push_back(integer("an integer").value);
      while (take_if(","));
      need(")");
    } else {
      result.kind = StatementKind::kAssign;
      result.expression = expression();
    }
    return result;
  }

  /// Words that are words only here.
  bool take_word(std::string_view word) {
    if (now().kind != TokenKind::kName || now().text != word) return false;
    take();
    return true;
  }

  syntax::Liveness liveness() {
    syntax::Liveness result;
    result.place = take().place;
    const std::size_t from = index();
    const std::string word = take().text;
    const auto kind = std::find(kLivenessNames.begin(), kLivenessNames.end(), word) - kLivenessNames.begin();
    result.kind = static_cast<LivenessKind>(kind);
    if (result.kind == LivenessKind::kEnds) {
      if (take_if("(")) {
        do result.processes.push_back(integer("the number of a process"));
        while (take_if(","));
        need(")");
      }
    } else {
      need("(");
      if (result.kind == LivenessKind::kProgress) {
        do result.labels.push_back(standing());
        while (take_if(","));
      } else {
        result.expressions.push_back(expression());
        if (result.kind == LivenessKind::kLeadsTo) {
          need(",", " and what is to come");
          result.expressions.push_back(expression());
        }
      }
      need(")");
    }
    const std::string arguments = text(from + 1, index());
    result.text = word + (arguments.empty() ? "" : " " + arguments);
    if (take_word("under")) result.under = fairness();
    need(";");
    return result;
  }

  syntax::Standing standing() {
    if (!take_if("at")) fail("\"at\"", now(), {"at"});
    need("(");
    syntax::Standing result{integer("the number of a process"), {}};
    need(",");
    result.label = name("a label");
    need(")");
    return result;
  }

  Fairness fairness() {
    for (std::size_t i = 0; i < kFairnessNames.size(); ++i) {
      if (take_word(kFairnessNames.at(i))) return static_cast<Fairness>(i);
    }
    fail("weak, nic or none", now(), {"weak", "nic", "none"});
  }

  syntax::Property property() {
    syntax::Property result;
    result.place = take().place;
    if (!now().is("final") && !now().is("always"))
      fail("final, always, ends, eventually, leads_to or progress", now(),
           {"final", "always", "ends", "eventually", "leads_to", "progress"});
    result.kind = take().text == "final" ? PropertyKind::kFinal : PropertyKind::kAlways;
    need("(");
    result.expression = expression();
    need(")");
    need(";");
    return result;
  }
};

}  // namespace

Program parse(std::string_view text, const std::string& file) { return build(Parser(text, file).run(), file); }

std::vector<Expression> parse_predicates(std::string_view text, const std::string& file, const Program& program) {
  std::vector<Expression> result;
  const std::vector<Token> tokens = tokenize(text, file);
  for (std::size_t from = 0; tokens[from].kind != TokenKind::kEnd;) {
    std::vector<Token> line;
    while (tokens[from].kind != TokenKind::kEnd && (line.empty() || tokens[from].place.line == line.front().place.line))
      line.push_back(tokens[from++]);
    Token end;
    end.place = line.back().place;
    end.place.column += static_cast<int>(line.back().text.size());
    line.push_back(std::move(end));
    result.push_back(
        build(ExpressionParser(std::move(line), file, "the end of the line").only_an_expression(), program, file));
  }
  return result;
}

Program parse_file(const std::string& path) { return parse(text::read_file(path, kBytesMax), path); }

}  // namespace loco::verify
