// loco-sim verify: RMA programs for every schedule.
#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "loco_sim/cli/commands.hpp"
#include "loco_sim/cli/output.hpp"
#include "loco_sim/cli/usage.hpp"
#include "loco_sim/commands/verify.hpp"
#include "loco_sim/replay/replay_on.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "text/file.hpp"
#include "text/input_error.hpp"
#include "verify/command.hpp"
#include "verify/drawing.hpp"
#include "verify/engines.hpp"
#include "verify/page.hpp"
#include "verify/parser.hpp"
#include "verify/replay.hpp"

namespace loco::cli {

namespace {

std::string whole_text(const std::string& path) {
  constexpr std::size_t kBytesMax = std::size_t{16} << 20U;  // a device has no end
  return text::read_file(path, kBytesMax);
}

verify::Program program_in(const std::string& path) {
  try {
    return verify::parse(whole_text(path), path);
  } catch (const text::InputError& error) {
    throw UsageError(error.what());
  }
}

/// The hardware to replay counterexamples on. Read first, so that an error in it comes before a long search.
std::vector<scenario::Hardware> hardware_of(const commands::Verify& arguments) {
  std::vector<scenario::Hardware> result;
  for (const std::string& name : arguments.replay_on)
    result.push_back(named_hardware("loco-sim verify: --replay-on", name));
  return result;
}

int replay_trace(const commands::Verify& arguments) {
  const std::vector<scenario::Hardware> hardware = hardware_of(arguments);
  const verify::Program program = program_in(arguments.files.front());
  verify::Replay result;
  try {
    result = verify::replay(program, whole_text(arguments.replay), arguments.options.network);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("{}:1:1: {}", arguments.replay, error.what()));
  }
  if (result.lasso && !hardware.empty())
    throw UsageError("loco-sim verify: --replay-on: expected a counterexample of safety, found a lasso");
  std::vector<replay::OnHardware> shown;
  if (result.outcome.broken) {
    const verify::Program used =
        result.flush_after_every_remote ? verify::with_flush_after_every_remote(program) : program;
    const verify::Semantics semantics(used, verify::all_flushes(used), result.network);
    for (const scenario::Hardware& one : hardware)
      shown.push_back(replay::replay_on(semantics, result.schedule, one.name, one.profile,
                                        {.max_seconds = arguments.options.max_seconds, .poll = {}}));
  }
  if (arguments.json) {
    nlohmann::ordered_json json{
        {"file", program.file},
        {"network", verify::name(result.network)},
        {"steps", result.outcome.steps},
        {"broken", result.outcome.broken ? nlohmann::ordered_json(result.outcome.broken->text) : nullptr},
        {"obstacle", result.outcome.obstacle ? nlohmann::ordered_json(*result.outcome.obstacle) : nullptr}};
    if (result.lasso) {
      json["steps"] = result.lasso->stem.size() + result.lasso->loop.size();
      json["broken"] = result.fault ? nullptr : nlohmann::ordered_json(program.liveness[result.property].text);
      json["obstacle"] = result.fault ? nlohmann::ordered_json(*result.fault) : nullptr;
    }
    replay::add(shown, json);
    print(json);
  } else {
    std::string text = verify::to_text(program, result);
    replay::add(shown, text);
    print(text);
  }
  if (result.lasso) return result.fault ? kBadInput : kFailed;
  if (result.outcome.obstacle) return kBadInput;
  return result.outcome.broken ? kFailed : kDone;
}

/// Options that are about one program, and cannot be combined.
void require_one_program(const commands::Verify& arguments) {
  const std::vector<std::pair<const char*, bool>> alone{{"--replay", !arguments.replay.empty()},
                                                        {"--certificate", !arguments.certificate.empty()},
                                                        {"--check-certificate", !arguments.check_certificate.empty()},
                                                        {"--dump", !arguments.dump.empty()}};
  const char* first = nullptr;
  for (const auto& [option, given] : alone) {
    if (!given) continue;
    if (first != nullptr)
      throw UsageError(fmt::format("loco-sim verify: {}: expected no {} beside it, found one", first, option));
    first = option;
  }
  if (first != nullptr && (arguments.options.search_flushes || arguments.options.where))
    throw UsageError(fmt::format("loco-sim verify: {}: expected no {} beside it, found one", first,
                                 arguments.options.where ? "--where" : "--search-flushes"));
  const bool prints = arguments.dump.empty() && arguments.check_certificate.empty();
  if (!prints && !arguments.replay_on.empty())
    throw UsageError(fmt::format("loco-sim verify: {}: expected no --replay-on beside it, found one", first));
  if ((!prints || !arguments.replay.empty()) && !arguments.out.empty())
    throw UsageError(fmt::format("loco-sim verify: {}: expected no --out beside it, found one", first));
  if (first == nullptr && !arguments.predicates.empty()) first = "--predicates";
  if (first != nullptr && arguments.files.size() != 1)
    throw UsageError(
        fmt::format("loco-sim verify: expected one program with {}, found {}", first, arguments.files.size()));
}

std::vector<verify::Expression> predicates_in(const std::string& path, const verify::Program& program) {
  if (path.empty()) return {};
  try {
    return verify::parse_predicates(whole_text(path), path, program);
  } catch (const text::InputError& error) {
    throw UsageError(error.what());
  }
}

int dump(const commands::Verify& arguments, const verify::Program& program, const verify::CommandOptions& options) {
  std::string text;
  try {
    text = verify::dump(program, arguments.dump, options);
  } catch (const verify::NeedsZ3& error) {
    throw UsageError(fmt::format("loco-sim verify: --dump: {}", error.what()));
  } catch (const std::runtime_error& error) {
    say(fmt::format("{}: {}\n", program.file, error.what()));
    return kUnknown;
  }
  print(text);
  return kDone;
}

int check_certificate(const commands::Verify& arguments, const verify::Program& program,
                      const verify::CommandOptions& options) {
  verify::CertificateCheck check;
  try {
    check = verify::check_certificate(program, whole_text(arguments.check_certificate), options);
  } catch (const verify::NeedsZ3& error) {
    throw UsageError(fmt::format("loco-sim verify: --check-certificate: {}", error.what()));
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("{}:1:1: {}", arguments.check_certificate, error.what()));
  }
  if (arguments.json) {
    nlohmann::ordered_json flushes = nlohmann::ordered_json::array();
    for (std::size_t f = 0; f < check.flushes.size(); ++f) {
      if (check.flushes[f]) flushes.push_back(f);
    }
    print(nlohmann::ordered_json{{"file", program.file},
                                 {"certificate", arguments.check_certificate},
                                 {"accepted", check.ended ? nlohmann::ordered_json(check.accepted) : nullptr},
                                 {"why", check.why},
                                 {"obligations", check.obligations},
                                 {"network", verify::name(check.network)},
                                 {"flushes", std::move(flushes)}});
  } else if (check.accepted) {
    print(fmt::format("{}: accepted: {} is safe under {} with {} of {} flushes; all {} obligations hold\n",
                      arguments.check_certificate, program.file, verify::name(check.network),
                      std::count(check.flushes.begin(), check.flushes.end(), true), check.flushes.size(),
                      check.obligations));
  } else if (check.ended) {
    print(fmt::format("{}: rejected: {}\n", arguments.check_certificate, check.why));
  } else {
    print(fmt::format("{}: unknown: {}\n", arguments.check_certificate, check.why));
  }
  return !check.ended ? kUnknown : check.accepted ? kDone : kFailed;
}

/// Says of options for safety alone that they are no answer about the program's liveness properties.
void require_safety_only(const commands::Verify& arguments, const verify::Program& program) {
  if (program.liveness.empty()) return;
  const char* option = !arguments.certificate.empty()         ? "--certificate"
                       : !arguments.check_certificate.empty() ? "--check-certificate"
                                                              : nullptr;
  if (option != nullptr)
    say(fmt::format("{}: {} is about safety: it says nothing of assert {}\n", program.file, option,
                    program.liveness.front().text));
}

/// Writes the certificate of a safe program. Says why where there is none.
bool write_certificate(const commands::Verify& arguments, const verify::Report& report,
                       const verify::CommandOptions& options) {
  if (report.answer.verdict != verify::Verdict::kSafe) {
    say(fmt::format("{}: no certificate: the program is {}\n", report.program.file,
                    verify::name(report.answer.verdict)));
    return false;
  }
  const verify::Report proof = verify::certify_program(report.program, options);
  if (proof.answer.certificate.empty()) {
    say(fmt::format("{}: no certificate: {}\n", report.program.file, proof.answer.why));
    return false;
  }
  write_file(arguments.certificate, proof.answer.certificate);
  return true;
}

/// The first counterexample as a drawing.
void draw(const std::string& file, const std::vector<verify::Report>& reports) {
  for (const verify::Report& report : reports) {
    if (!report.answer.counterexample) continue;
    if (file == "-") return print(verify::to_dot(report));
    return write_file(file, verify::to_dot(report));
  }
}

/// Prints text or JSON to stdout, unless the drawing goes there. Returns the results of the replays on hardware, for
/// the page.
std::vector<std::string> show(const commands::Verify& arguments, const std::vector<verify::Report>& reports,
                              const std::vector<scenario::Hardware>& hardware) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  std::string text;
  std::vector<std::string> notes;
  for (const verify::Report& report : reports) {
    const std::vector<replay::OnHardware> shown =
        replay::replay_on(report, hardware, {.max_seconds = arguments.options.max_seconds, .poll = {}});
    replay::add(shown, notes.emplace_back());
    json.push_back(verify::to_json(report, arguments.times));
    replay::add(shown, json.back());
    text += verify::to_text(report) + notes.back();
  }
  if (arguments.dot == "-") return notes;
  if (arguments.json)
    print(json);
  else
    print(text);
  return notes;
}

/// Writes the files that were asked for. The verdict is printed already, so that a file that cannot be written has an
/// exit code of its own.
int write_files(const commands::Verify& arguments, const std::vector<verify::Report>& reports,
                const std::vector<std::string>& notes, const verify::CommandOptions& options) {
  int code = verify::exit_code(reports);
  try {
    if (!arguments.out.empty()) write_file(arguments.out, verify::to_html(reports, notes));
    if (!arguments.dot.empty()) draw(arguments.dot, reports);
    if (!arguments.certificate.empty() && !write_certificate(arguments, reports.front(), options) && code == kDone)
      code = kUnknown;
  } catch (const std::runtime_error& error) {
    say(fmt::format("loco-sim: {}\n", error.what()));
    return kNotWritten;
  }
  return code;
}

}  // namespace

int verify_command(const commands::Verify& arguments) {
  require_one_program(arguments);
  if (!arguments.replay.empty()) return replay_trace(arguments);
  if (!arguments.certificate.empty()) require_place_of(arguments.certificate);
  if (!arguments.dot.empty() && arguments.dot != "-") require_place_of(arguments.dot);
  if (!arguments.out.empty()) require_place_of(arguments.out);
  std::vector<verify::Program> programs;
  for (const std::string& file : arguments.files) programs.push_back(program_in(file));
  verify::CommandOptions options = arguments.options;
  options.predicates = predicates_in(arguments.predicates, programs.front());
  require_safety_only(arguments, programs.front());
  if (!arguments.dump.empty()) return dump(arguments, programs.front(), options);
  if (!arguments.check_certificate.empty()) return check_certificate(arguments, programs.front(), options);
  const std::vector<scenario::Hardware> hardware = hardware_of(arguments);
  const std::vector<verify::Report> reports = verify::check_programs(std::move(programs), options);
  const std::vector<std::string> notes = show(arguments, reports, hardware);
  return write_files(arguments, reports, notes, options);
}

}  // namespace loco::cli
