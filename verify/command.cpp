#include "verify/command.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>

#include "verify/abstract/certificate.hpp"
#include "verify/abstract/predicate_engine.hpp"
#include "verify/engines.hpp"
#ifdef LOCO_SIM_Z3
#include "verify/abstract/certificate_check.hpp"
#include "verify/abstract/extrapolate_engine.hpp"
#endif

namespace loco::verify {

namespace {

using Clock = std::chrono::steady_clock;

Limits limits_of(const CommandOptions& options) {
  Limits limits;
  if (options.max_seconds > 0)
    limits.deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                         std::chrono::duration<double>(std::min(options.max_seconds, 1e9)));
  limits.memory_bytes = options.max_memory;
  limits.pending = options.pending;
  limits.look = options.look;
  return limits;
}

Report report_on(Program program, const CommandOptions& options) {
  Report report;
  report.flush_after_every_remote = options.where;
  report.program = options.where ? with_flush_after_every_remote(program) : std::move(program);
  report.flushes = all_flushes(report.program);
  report.network = options.network;
  return report;
}

Report check(Program program, const CommandOptions& options) {
  const auto start = Clock::now();
  Report report = report_on(std::move(program), options);
  const auto engine = make_engine(options.engine, options.predicates);
  const Task task{report.program, report.flushes, options.network, limits_of(options)};
  try {
    if (options.search_flushes || options.where) {
      report.search = search_flushes(*engine, task);
      report.answer = report.search->all;
    } else {
      report.answer = engine->check(task);
    }
  } catch (const std::bad_alloc&) {
    report.answer = {Verdict::kUnknown, "out of memory", std::string(engine->name()), std::nullopt, "", std::nullopt};
  }
  report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return report;
}

}  // namespace

std::vector<Report> check_programs(std::vector<Program> programs, const CommandOptions& options) {
  std::vector<Report> reports(programs.size());
  std::vector<std::exception_ptr> errors(programs.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < programs.size(); i = next++) {
      try {
        reports[i] = check(std::move(programs[i]), options);
      } catch (...) {
        errors[i] = std::current_exception();
        next = programs.size();
      }
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < std::min<std::size_t>(options.jobs, programs.size()); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return reports;
}

Report certify_program(Program program, const CommandOptions& options) {
  const auto start = Clock::now();
  Report report = report_on(std::move(program), options);
  report.answer = certified({report.program, report.flushes, options.network, limits_of(options)}, options.predicates);
  report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return report;
}

NeedsZ3::NeedsZ3()
    : std::runtime_error("expected a build with Z3, found one without (apt-get install libz3-dev, then build again)") {}

#ifdef LOCO_SIM_Z3

CertificateCheck check_certificate(const Program& program, const std::string& text) {
  const abstract::Certificate certificate = abstract::certificate_from(program, text);
  const abstract::CertificateVerdict verdict = abstract::check_certificate(program, certificate);
  return {verdict.accepted, verdict.why, verdict.obligations, certificate.network, certificate.flushes};
}

std::string dump(const Program& program, const std::string& what, const CommandOptions& options) {
  return dump({program, all_flushes(program), options.network, limits_of(options)}, what, options.predicates);
}

#else

CertificateCheck check_certificate(const Program& /*program*/, const std::string& /*text*/) { throw NeedsZ3(); }

std::string dump(const Program& /*program*/, const std::string& /*what*/, const CommandOptions& /*options*/) {
  throw NeedsZ3();
}

#endif

int exit_code(const std::vector<Report>& reports) {
  int code = 0;
  for (const Report& report : reports) {
    if (report.answer.verdict == Verdict::kUnsafe) return 1;
    const bool searched = !report.search || (report.search->found && report.search->undecided.empty());
    if (report.answer.verdict == Verdict::kUnknown || !searched) code = 3;
  }
  return code;
}

}  // namespace loco::verify
