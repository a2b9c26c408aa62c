#include "verify/replay.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "text/json.hpp"
#include "verify/liveness/lasso.hpp"

namespace loco::verify {

namespace {

using json = nlohmann::ordered_json;

[[noreturn]] void fail(const std::string& expected) { throw std::invalid_argument("expected " + expected); }

std::uint32_t index(const json& step, const char* key, std::size_t number) {
  const auto found = step.find(key);
  if (found == step.end() || !found->is_number_unsigned() || found->get<std::uint64_t>() > 0xffffffffU)
    fail(fmt::format("a whole number as \"{}\" of step {}", key, number));
  return found->get<std::uint32_t>();
}

Step step_of(const Program& program, const json& step, std::size_t number) {
  if (!step.is_object()) fail(fmt::format("an object as step {}", number));
  const auto actor = step.find("actor");
  if (actor == step.end() || (*actor != "cpu" && *actor != "nic"))
    fail(fmt::format("\"cpu\" or \"nic\" as \"actor\" of step {}", number));
  if (*actor == "nic") return {Step::Kind::kNic, 0, 0, 0, index(step, "operation", number)};
  Step result{Step::Kind::kCpu, 0, index(step, "edge", number), 0, 0};
  if (step.contains("choice")) result.choice = index(step, "choice", number);
  const auto id = step.find("process");
  for (; result.process < program.processes.size(); ++result.process) {
    const std::string name = program.processes[result.process].name();
    if (id != step.end() && (id->is_string() ? id->get<std::string>() : text::json_text(*id)) == name) return result;
  }
  fail(fmt::format("the number of a process as \"process\" of step {}", number));
}

/// The first answer about liveness that has a lasso; nothing when there is none.
const json* lively(const json& one) {
  const auto answers = one.find("liveness");
  if (answers == one.end() || !answers->is_array()) return nullptr;
  for (const json& answer : *answers) {
    if (answer.is_object() && answer.contains("trace")) return &answer;
  }
  return nullptr;
}

/// The element with a trace.
const json* element(const json& all) {
  const auto has = [](const json& one) { return one.is_object() && (one.contains("trace") || lively(one) != nullptr); };
  if (all.is_object()) return has(all) ? &all : nullptr;
  if (!all.is_array()) return nullptr;
  const auto found = std::find_if(all.begin(), all.end(), has);
  return found == all.end() ? nullptr : &*found;
}

Schedule schedule_of(const Program& program, const json& steps, const char* key, std::size_t before) {
  const auto found = steps.find(key);
  if (found == steps.end() || !found->is_array()) fail(fmt::format("an array \"{}\" in \"trace\"", key));
  Schedule result;
  for (const json& step : *found) result.push_back(step_of(program, step, before + result.size() + 1));
  return result;
}

std::uint32_t number_of(const json& value) {
  const std::string text = value.is_string() ? value.get<std::string>() : text::json_text(value);
  const bool digits = !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string::npos;
  if (!digits) fail("numbers of operations in \"again\"");
  return static_cast<std::uint32_t>(std::stoul(text));
}

liveness::Lasso lasso_of(const Program& program, const json& trace) {
  if (!trace.is_object()) fail("an object as \"trace\" of a liveness property");
  liveness::Lasso result;
  result.stem = schedule_of(program, trace, "stem", 0);
  result.loop = schedule_of(program, trace, "loop", result.stem.size());
  const auto again = trace.find("again");
  if (again == trace.end()) return result;
  if (!again->is_object()) fail("an object as \"again\"");
  for (const auto& [end, begin] : again->items()) result.again[number_of(json(end))] = number_of(begin);
  return result;
}

void replay_lasso(const Program& program, const json& answer, Replay& result) {
  result.lasso = lasso_of(program, answer.at("trace"));
  const auto recurrent = answer.find("recurrent");
  if (recurrent != answer.end() && recurrent->is_string()) result.lasso->recurrent = recurrent->get<std::string>();
  const auto line = answer.find("line");
  const auto text = answer.find("property");
  const auto fits = [&](const LivenessProperty& p) {
    return text != answer.end() && *text == p.text && (line == answer.end() || *line == p.place.line);
  };
  const auto property = std::find_if(program.liveness.begin(), program.liveness.end(), fits);
  if (property == program.liveness.end()) fail("a liveness property of the program as \"property\"");
  result.property = static_cast<std::uint32_t>(property - program.liveness.begin());
  const auto fairness = answer.find("fairness");
  const auto known = std::find_if(kFairnessNames.begin(), kFairnessNames.end(),
                                  [&](std::string_view name) { return fairness != answer.end() && *fairness == name; });
  if (known == kFairnessNames.end()) fail("weak, nic or none as \"fairness\"");
  result.fairness = static_cast<Fairness>(known - kFairnessNames.begin());
  result.fault = liveness::fault_of(Semantics(program, all_flushes(program), result.network), *property,
                                    result.fairness, *result.lasso);
}

Network network_of(const json& trace, Network otherwise) {
  if (!trace.contains("network")) return otherwise;
  for (std::size_t i = 0; i < kNetworkNames.size(); ++i) {
    if (trace["network"] == kNetworkNames[i]) return static_cast<Network>(i);
  }
  fail("unordered, in-order, verbs or sc as \"network\"");
}

}  // namespace

Replay replay(const Program& program, const std::string& text, Network network) {
  json all;
  try {
    all = text::parse_json(text);
  } catch (const json::parse_error& error) {
    fail(fmt::format("JSON, found a mistake at byte {}", error.byte));
  }
  const json* trace = element(all);
  if (trace == nullptr || (trace->contains("trace") && !(*trace)["trace"].is_array()))
    fail("an object with an array \"trace\", or one in \"liveness\"");
  Replay result;
  result.network = network_of(*trace, network);
  const auto flushes = trace->find("flushes");
  result.flush_after_every_remote =
      flushes != trace->end() && flushes->is_object() && flushes->value("after_every_remote", false);
  const Program changed = result.flush_after_every_remote ? with_flush_after_every_remote(program) : Program();
  const Program& used = result.flush_after_every_remote ? changed : program;
  if (!trace->contains("trace")) {
    replay_lasso(used, *lively(*trace), result);
    return result;
  }
  for (const json& step : (*trace)["trace"]) result.schedule.push_back(step_of(used, step, result.schedule.size() + 1));
  result.outcome = run(Semantics(used, all_flushes(used), result.network), result.schedule);
  return result;
}

std::string to_text(const Program& program, const Replay& replay) {
  const std::string where = fmt::format("{}: under {}", program.file, name(replay.network));
  if (replay.lasso) {
    if (replay.fault) return fmt::format("{} the lasso is no counterexample: {}\n", where, *replay.fault);
    return fmt::format("{} {} breaks assert {}\n", where,
                       replay.lasso->loop.empty()
                           ? fmt::format("a run that is over after {} steps", replay.lasso->stem.size())
                           : fmt::format("a run of {} steps, and {} more for ever,", replay.lasso->stem.size(),
                                         replay.lasso->loop.size()),
                       program.liveness[replay.property].text);
  }
  if (replay.outcome.broken) {
    const std::string rest = replay.outcome.steps == replay.schedule.size()
                                 ? ""
                                 : fmt::format(", before the last of {} steps", replay.schedule.size());
    return fmt::format("{} step {} breaks {}{}\n", where, replay.outcome.steps, replay.outcome.broken->text, rest);
  }
  if (replay.outcome.obstacle)
    return fmt::format("{} step {} cannot be taken: {}\n", where, replay.outcome.steps + 1, *replay.outcome.obstacle);
  return fmt::format("{} all {} steps can be taken and nothing is broken\n", where, replay.schedule.size());
}

}  // namespace loco::verify
