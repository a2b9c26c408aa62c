// loco-sim check, loco-sim trace export.
#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "loco_sim/cli/commands.hpp"
#include "loco_sim/cli/output.hpp"
#include "loco_sim/cli/verbs_verdict.hpp"
#include "loco_sim/trace/graph.hpp"
#include "loco_sim/trace/timeline.hpp"
#include "model/check.hpp"
#include "sim/host_memory.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"
#include "trace/file.hpp"

namespace loco::cli {

namespace {

const std::vector<std::string>& all_libraries() {
  static const std::vector<std::string> kNames = {"rdmawait", "sv", "bal", "rbl", "msw", "lock", "kvstore"};
  return kNames;
}

trace::Trace read_trace(const std::string& path) {
  try {
    return trace::read_trace_file(path, {.memory_max = sim::memory_share()});
  } catch (const std::system_error&) {
    throw text::InputError({path, 1, 1}, "", "a readable file", "none");
  }
}

/// The libraries that have calls in the trace.
std::vector<std::string> libraries_of(const trace::Trace& trace) {
  std::vector<bool> used(all_libraries().size());
  for (const trace::Call& call : trace.calls) used.at(static_cast<std::size_t>(call.library)) = true;
  used[0] = true;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i]) names.push_back(all_libraries()[i]);
  }
  return names;
}

void write_csv(std::ostream& out, const trace::Trace& trace) {
  out << "subevent,call,thread,stamp,peer,node,address,value,value_read,source,overwrote,start,finish,start_ps,finish_"
         "ps\n";
  std::uint64_t id = 0;
  for (const trace::Subevent& s : trace.subevents) {
    const bool began = !trace::is_unbegun(s);
    const bool finished = trace::has_finished(s);
    const std::string thread = s.call > 0 ? fmt::format("{}", trace.calls[s.call - 1].thread) : "";
    out << fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", ++id, s.call, thread, trace::name(s.stamp),
                       s.peer, s.node, s.address, s.value, s.value_read, s.source, s.overwrote,
                       began ? fmt::format("{}", s.start) : "", finished ? fmt::format("{}", s.finish) : "",
                       began ? fmt::format("{}", s.start_ps) : "", finished ? fmt::format("{}", s.finish_ps) : "");
  }
}

void write_as(std::ostream& text, const trace::Trace& trace, const ExportArguments& arguments) {
  if (arguments.to == "csv") {
    write_csv(text, trace);
  } else if (arguments.to == "perfetto") {
    write_timeline(text, trace);
  } else if (arguments.to == "dot") {
    const std::size_t limit = arguments.limit.value_or(200);
    if (const std::size_t all = write_graph(text, trace, limit); all > limit) {
      say(fmt::format("{}: the first {} of {} accesses; --limit N draws more\n", text::printable(arguments.trace),
                      limit, all));
    }
  } else {
    trace::write_trace_text(text, trace);
  }
}

}  // namespace

std::vector<std::string> library_names(const std::vector<std::string>& lists) {
  std::vector<std::string> names;
  for (const std::string& list : lists) {
    std::istringstream in(list + ",");  // so that an empty list and the text after a last comma are words, too
    for (std::string word; std::getline(in, word, ',');) {
      word.erase(0, word.find_first_not_of(' '));
      word.erase(word.find_last_not_of(' ') + 1);
      if (std::find(all_libraries().begin(), all_libraries().end(), word) == all_libraries().end()) {
        throw text::InputError({"loco-sim check: --model", 0, 0}, "", text::one_of(all_libraries()),
                               text::in_quotes(word), text::suggestion(word, all_libraries()));
      }
      names.push_back(word);
    }
  }
  return names;
}

namespace {

/// Verdict and races of a verbs program's run.
int check_verbs(const CheckArguments& arguments, const trace::Trace& trace) {
  const VerbsVerdict verdict = judge_verbs(trace);
  if (arguments.quiet && verdict.right) return kDone;
  if (arguments.json) {
    print(verdict.json);
  } else {
    print(verdict.text + (verdict.races ? "" : "no races\n"));
  }
  return verdict.right ? kDone : kFailed;
}

}  // namespace

int check_command(const CheckArguments& arguments) {
  std::vector<std::string> names = library_names(arguments.models);
  require_place_of(arguments.dot);
  const trace::Trace trace = read_trace(arguments.trace);
  if (trace.verbs) {
    if (!names.empty() || !arguments.dot.empty() || arguments.tower)
      throw UsageError(
          fmt::format("loco-sim check: {}: expected no --model, --dot or --tower for the trace of a verbs program, "
                      "which is judged by rdmatso and searched for races",
                      text::printable(arguments.trace)));
    return check_verbs(arguments, trace);
  }
  if (names.empty()) names = libraries_of(trace);
  std::vector<trace::Library> libraries;
  for (const std::string& name : names) {
    trace::Library library{};
    if (trace::parse_library(name, library)) libraries.push_back(library);
  }
  std::sort(libraries.begin(), libraries.end());
  libraries.erase(std::unique(libraries.begin(), libraries.end()), libraries.end());
  const model::Verdict verdict = model::check(trace, libraries, {.tower = arguments.tower});
  const std::size_t open = model::unrecorded_operations(trace);
  if (!arguments.quiet || !verdict.consistent()) {
    if (arguments.json) {
      nlohmann::ordered_json json = to_json(verdict);
      if (open > 0) json["not_judged"] = open;
      print(json);
    } else {
      std::string text = painted(verdict.to_text());
      if (open > 0)
        text += fmt::format(
            "not judged: what {} still to do when the run ended; the trace does not say (messages that had not "
            "arrived, or a trace of an older version)\n",
            open == 1 ? "1 operation was" : fmt::format("{} operations were", open));
      print(text);
    }
  }
  if (!arguments.dot.empty()) write_file(arguments.dot, verdict.to_dot());
  return verdict.consistent() ? kDone : kFailed;
}

int trace_export_command(const ExportArguments& arguments) {
  if (arguments.limit && arguments.to != "dot")
    throw UsageError(
        fmt::format("loco-sim trace export: --limit: expected --to dot with it, found --to {}", arguments.to));
  require_place_of(arguments.out);
  const trace::Trace trace = read_trace(arguments.trace);
  std::ostringstream text;
  try {
    write_as(text, trace, arguments);
  } catch (const ExportError& error) {
    throw UsageError(fmt::format("{}: {}", text::printable(arguments.trace), error.what()));
  }
  if (arguments.out.empty()) {
    print(text.str());
  } else {
    write_file(arguments.out, text.str());
  }
  return kDone;
}

}  // namespace loco::cli
