// loco-sim soundness: bounded soundness of LOCO's libraries (docs/models.md). model/litmus compares; this file prints.
#include <array>
#include <chrono>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <utility>

#include "loco_sim/cli/commands.hpp"
#include "loco_sim/cli/output.hpp"
#include "model/litmus/implementations/soundness.hpp"

namespace loco::cli {

namespace {

namespace litmus = model::litmus;
using Clock = std::chrono::steady_clock;

/// An option that says something of one library only is a mistake beside another.
void require_library(const SoundnessArguments& a, const std::string& option, std::string_view library) {
  if (a.library == library) return;
  throw UsageError(
      fmt::format("loco-sim soundness: {}: expected --library {}, found --library {}", option, library, a.library));
}

litmus::SoundnessOptions soundness_options(const SoundnessArguments& a) {
  litmus::SoundnessOptions o;
  o.library = a.library;
  o.threads = a.threads;
  o.calls = a.calls;
  o.clients_max = a.max_clients;
  if (a.transitive) {
    require_library(a, "--transitive", "bal");
    o.transitive = true;
  }
  if (a.ring_cells) {
    require_library(a, "--ring-cells", "rbl");
    o.implementation.ring_cells = *a.ring_cells;
  }
  if (a.guards) {
    require_library(a, "--guards", "msw");
    o.implementation.mixed_size = litmus::MixedSize::guards;
  }
  if (a.lock_class != "strong") require_library(a, "--class", "lock");
  o.lock_class = a.lock_class == "weak"   ? litmus::LockClass::weak
                 : a.lock_class == "node" ? litmus::LockClass::node
                                          : litmus::LockClass::strong;
  constexpr std::array kLockBugs = {std::pair{"release_before_data", litmus::LockBug::release_before_data},
                                    std::pair{"no_fence", litmus::LockBug::no_fence},
                                    std::pair{"get_and_put", litmus::LockBug::get_and_put},
                                    std::pair{"home_cas", litmus::LockBug::home_cas}};
  for (const auto& [name, bug] : kLockBugs) {
    if (a.bug != name) continue;
    require_library(a, "--bug " + a.bug, "lock");
    o.lock_bug = bug;
  }
  if (a.promises && (a.library == "rdmawait" || a.library == "lock"))
    throw UsageError(fmt::format(
        "loco-sim soundness: --promises: expected --library sv, bal, rbl or msw, found --library {}", a.library));
  o.promises = a.promises;
  o.executions_max = a.max_executions.value_or(o.executions_max);
  if (a.bug == "wait_without_poll") {
    require_library(a, "--bug " + a.bug, "rdmawait");
    o.wait_without_poll = true;
  } else if (a.bug == "barrier_fences_others") {
    require_library(a, "--bug " + a.bug, "bal");
    o.implementation.barrier_fences_others = true;
  } else if (a.bug == "barrier_without_fence") {
    require_library(a, "--bug " + a.bug, "bal");
    o.implementation.barrier_without_fence = true;
  } else if (a.bug == "fence_without_wait") {
    require_library(a, "--bug " + a.bug, "sv");
    o.implementation.fence_without_wait = true;
  } else if (a.bug == "guards_forward") {
    require_library(a, "--bug " + a.bug, "msw");
    o.implementation.mixed_size = litmus::MixedSize::guards_forward;
  }
  return o;
}

/// What has kept a search from its end, and how to let it go on.
std::string limits(const SoundnessArguments& a, const litmus::SoundnessResult& r, double seconds) {
  std::string out;
  const auto add = [&](bool reached, const std::string& words) {
    if (reached) out += (out.empty() ? "" : "; ") + words;
  };
  add(r.cut != 0, fmt::format("of {} client(s) no more than {} executions were looked at (--max-executions; 0: all)",
                              r.cut, a.max_executions.value_or(litmus::SoundnessOptions{}.executions_max)));
  add(a.max_clients != 0 && r.clients >= a.max_clients, fmt::format("after {} clients (--max-clients)", r.clients));
  add(a.max_seconds > 0 && seconds >= a.max_seconds, fmt::format("after {} s (--max-seconds)", a.max_seconds));
  return out.empty() ? "an implementation has more executions than can be looked at, a limit that is fixed" : out;
}

std::string text(const SoundnessArguments& a, const litmus::SoundnessResult& r, double seconds) {
  std::string out = fmt::format("{}{}: {} clients of at most {} threads and {} calls each, {:.1f} s\n", a.library,
                                a.bug.empty() ? "" : " with " + a.bug, r.clients, a.threads, a.calls, seconds);
  if (r.sound) {
    if (a.promises && r.complete)
      return out + fmt::format("locally sound: all promises are kept in {} executions\n", r.executions);
    return out + (r.complete ? "sound: no client sees more than the specification allows\n"
                             : fmt::format("no client sees more than the specification allows, but the search stopped "
                                           "early: {}\n",
                                           limits(a, r, seconds)));
  }
  if (!r.promise.empty())
    return out + "not locally sound: a smallest client in which a promise is broken\n\n" + r.counterexample +
           "\nbroken promise: " + r.promise + "\n";
  out += "unsound: a smallest client that sees what the specification forbids\n\n" + r.counterexample + "\n";
  for (const std::string& outcome : r.outcomes) out += "forbidden, but shown: " + outcome + "\n";
  return out;
}

}  // namespace

int soundness_command(const SoundnessArguments& a) {
  const auto options = soundness_options(a);
  const auto start = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  auto reported = start;
  const litmus::SoundnessResult r = litmus::check_soundness(options, [&](std::uint64_t clients) {
    if (Clock::now() - reported > std::chrono::seconds(5)) {
      reported = Clock::now();
      say(fmt::format("{} clients compared, {:.0f} s\n", clients, seconds()));
    }
    return a.max_seconds <= 0 || seconds() < a.max_seconds;
  });
  if (a.json) {
    nlohmann::ordered_json json{{"library", a.library},  {"bug", a.bug},
                                {"threads", a.threads},  {"calls", a.calls},
                                {"sound", r.sound},      {"complete", r.complete || !r.sound},
                                {"clients", r.clients},  {"counterexample", r.counterexample},
                                {"outcomes", r.outcomes}};
    if (a.promises) json["promise"] = r.promise, json["executions"] = r.executions, json["clients_cut"] = r.cut;
    if (a.times) json["seconds"] = seconds();
    cli::print(json);
  } else {
    print(text(a, r, seconds()));
  }
  return r.sound ? kDone : kFailed;
}

}  // namespace loco::cli
