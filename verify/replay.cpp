#include "verify/replay.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "text/json.hpp"

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

/// The element with a trace.
const json* element(const json& all) {
  if (all.is_object()) return all.contains("trace") ? &all : nullptr;
  if (!all.is_array()) return nullptr;
  for (const json& one : all) {
    if (one.is_object() && one.contains("trace")) return &one;
  }
  return nullptr;
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
  if (trace == nullptr || !(*trace)["trace"].is_array()) fail("an object with an array \"trace\"");
  Replay result;
  result.network = network_of(*trace, network);
  const auto flushes = trace->find("flushes");
  result.flush_after_every_remote =
      flushes != trace->end() && flushes->is_object() && flushes->value("after_every_remote", false);
  const Program changed = result.flush_after_every_remote ? with_flush_after_every_remote(program) : Program();
  const Program& used = result.flush_after_every_remote ? changed : program;
  for (const json& step : (*trace)["trace"]) result.schedule.push_back(step_of(used, step, result.schedule.size() + 1));
  result.outcome = run(Semantics(used, all_flushes(used), result.network), result.schedule);
  return result;
}

std::string to_text(const Program& program, const Replay& replay) {
  const std::string where = fmt::format("{}: under {}", program.file, name(replay.network));
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
