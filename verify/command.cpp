#include "verify/command.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <new>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>

#include "verify/abstract/certificate.hpp"
#include "verify/abstract/predicate_engine.hpp"
#include "verify/engines.hpp"
#include "verify/liveness/words.hpp"
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
  limits.cpu_seconds_max = options.max_cpu_seconds;
  limits.cpu_seconds_begin = thread_cpu_seconds();
  limits.memory_bytes = options.max_memory;
  if (options.jobs == 1) {
    limits.heap_begin = heap_bytes();
    limits.heap_max = options.max_memory;
  }
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

/// Whether anything may go wrong in a finite run.
bool asks_for_safety(const Program& program) {
  const auto asserts = [](const Edge& edge) { return edge.action.kind == ActionKind::kAssert; };
  return !program.properties.empty() || program.liveness.empty() ||
         std::any_of(program.processes.begin(), program.processes.end(),
                     [&](const Process& p) { return std::any_of(p.edges.begin(), p.edges.end(), asserts); });
}

/// Safety by an engine, then liveness. What it says of a program that is not live is for the search for flushes.
class WithLiveness final : public Engine {
 public:
  WithLiveness(Engine& engine, Fairness fairness) : engine_(engine), fairness_(fairness) {}

  [[nodiscard]] std::string_view name() const override { return engine_.name(); }

  [[nodiscard]] Answer check(const Task& task) override {
    Answer answer = safety(task);
    std::vector<liveness::LiveAnswer> lively;
    if (!task.program.liveness.empty()) lively = liveness::check(task, fairness_);
    if (!first_) first_ = std::pair(answer, lively);
    for (const liveness::LiveAnswer& a : lively) {
      if (answer.verdict != Verdict::kSafe || a.verdict == liveness::LiveVerdict::kLive) continue;
      answer.verdict = a.verdict == liveness::LiveVerdict::kNotLive ? Verdict::kUnsafe : Verdict::kUnknown;
      answer.why = a.why;
      if (a.lasso)
        answer.passed = liveness::flushes_that_would_wait({task.program, task.flushes, task.network}, *a.lasso);
    }
    return answer;
  }

  /// Of the first check: safety and liveness apart.
  [[nodiscard]] std::pair<Answer, std::vector<liveness::LiveAnswer>> first() { return std::move(first_.value()); }

 private:
  Answer safety(const Task& task) {
    if (asks_for_safety(task.program)) {
      Task own = task;
      const auto now = Clock::now();
      // Liveness is to have its share of the time.
      if (!task.program.liveness.empty() && task.limits.deadline != Clock::time_point::max())
        own.limits.deadline = now + (task.limits.deadline - now) / 2;
      return engine_.check(own);
    }
    Answer answer;
    answer.verdict = Verdict::kSafe;
    answer.engine = "explicit";
    answer.why = "the program has no property of safety";
    return answer;
  }

  Engine& engine_;
  Fairness fairness_;
  std::optional<std::pair<Answer, std::vector<liveness::LiveAnswer>>> first_;
};

Report check(Program program, const CommandOptions& options) {
  const auto start = Clock::now();
  Report report = report_on(std::move(program), options);
  const auto engine = make_engine(options.engine, options.predicates);
  WithLiveness both(*engine, options.fairness);
  const Task task{report.program, report.flushes, options.network, limits_of(options)};
  try {
    if (options.search_flushes || options.where)
      report.search = search_flushes(both, task);
    else
      (void)both.check(task);
    std::tie(report.answer, report.liveness) = both.first();
  } catch (const std::bad_alloc&) {
    report.answer = {Verdict::kUnknown, "out of memory", std::string(engine->name()), std::nullopt, "", std::nullopt};
  } catch (const LimitReached& reached) {
    report.answer = {Verdict::kUnknown, reached.what(), std::string(engine->name()), std::nullopt, "", std::nullopt};
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

CertificateCheck check_certificate(const Program& program, const std::string& text, const CommandOptions& options) {
  const abstract::Certificate certificate = abstract::certificate_from(program, text);
  const abstract::CertificateVerdict verdict = abstract::check_certificate(program, certificate, limits_of(options));
  return {verdict.accepted, verdict.ended, verdict.why, verdict.obligations, certificate.network, certificate.flushes};
}

std::string dump(const Program& program, const std::string& what, const CommandOptions& options) {
  return dump({program, all_flushes(program), options.network, limits_of(options)}, what, options.predicates);
}

#else

CertificateCheck check_certificate(const Program& /*program*/, const std::string& /*text*/,
                                   const CommandOptions& /*options*/) {
  throw NeedsZ3();
}

std::string dump(const Program& /*program*/, const std::string& /*what*/, const CommandOptions& /*options*/) {
  throw NeedsZ3();
}

#endif

int exit_code(const std::vector<Report>& reports) {
  int code = 0;
  for (const Report& report : reports) {
    if (report.answer.verdict == Verdict::kUnsafe) return 1;
    for (const liveness::LiveAnswer& a : report.liveness) {
      if (a.verdict == liveness::LiveVerdict::kNotLive) return 1;
      if (a.verdict == liveness::LiveVerdict::kUnknown) code = 3;
    }
    const bool searched = !report.search || (report.search->found && report.search->undecided.empty());
    if (report.answer.verdict == Verdict::kUnknown || !searched) code = 3;
  }
  return code;
}

}  // namespace loco::verify
