// loco-sim soundness: bounded soundness of LOCO's libraries (docs/models.md). What is compared lies in model/litmus.
#include <chrono>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "loco_sim/cli/commands.hpp"
#include "loco_sim/cli/output.hpp"
#include "model/litmus/soundness.hpp"

namespace loco::cli {

namespace {

namespace litmus = model::litmus;
using Clock = std::chrono::steady_clock;

litmus::SoundnessOptions soundness_options(const SoundnessArguments& a) {
  litmus::SoundnessOptions o;
  o.library = a.library;
  o.threads = a.threads;
  o.calls = a.calls;
  o.transitive = a.transitive;
  o.clients_max = a.max_clients;
  o.implementation.ring_cells = a.ring_cells;
  if (a.guards) o.implementation.mixed_size = litmus::MixedSize::guards;
  const auto only_in = [&](std::string_view library) {
    if (a.library != library) {
      throw UsageError(fmt::format("loco-sim soundness: --bug {}: expected --library {}, found --library {}", a.bug,
                                   library, a.library));
    }
  };
  if (a.bug == "barrier_without_fence") {
    only_in("bal");
    o.implementation.barrier_without_fence = true;
  } else if (a.bug == "fence_without_wait") {
    only_in("sv");
    o.implementation.fence_without_wait = true;
  } else if (a.bug == "guards_forward") {
    only_in("msw");
    o.implementation.mixed_size = litmus::MixedSize::guards_forward;
  }
  return o;
}

std::string text(const SoundnessArguments& a, const litmus::SoundnessResult& r, double seconds) {
  std::string out = fmt::format("{}{}: {} clients of at most {} threads and {} calls each, {:.1f} s\n", a.library,
                                a.bug.empty() ? "" : " with " + a.bug, r.clients, a.threads, a.calls, seconds);
  if (r.sound) {
    return out + (r.complete ? "sound: no client sees more than the specification allows\n"
                             : "no client sees more than the specification allows, but the search stopped early\n");
  }
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
      fmt::print(stderr, "{} clients compared, {:.0f} s\n", clients, seconds());
    }
    return a.max_seconds <= 0 || seconds() < a.max_seconds;
  });
  if (a.json) {
    print(nlohmann::ordered_json{{"library", a.library},
                                 {"bug", a.bug},
                                 {"threads", a.threads},
                                 {"calls", a.calls},
                                 {"sound", r.sound},
                                 {"complete", r.complete || !r.sound},
                                 {"clients", r.clients},
                                 {"counterexample", r.counterexample},
                                 {"outcomes", r.outcomes},
                                 {"seconds", seconds()}});
  } else {
    print(text(a, r, seconds()));
  }
  return r.sound ? kDone : kFailed;
}

}  // namespace loco::cli
