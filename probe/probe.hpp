// Named rare branches: a line of code that counts how often it was reached. A run of the random worlds lists those that
// none of them reached (tests/loco_sim/worlds/probes.cpp): faults that are never drawn together test nothing. After the
// coverage macros of FoundationDB (Zhou et al., SIGMOD 2021, section 4).
//
// Counts are of the process, not of a run: they say what was executed, and no model ever reads them. A probe is known
// from the start of the program whose code has it, reached or not. Threads may reach one at once; a count may then miss
// some, but never all.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace loco::probe {

class Probe {
 public:
  explicit Probe(std::string_view name) noexcept : name_(name), next_(first) { first = this; }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  /// A load and a store, no locked addition: who asks only whether it was reached at all can do without.
  void reach() noexcept { count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

  [[nodiscard]] std::string_view name() const { return name_; }
  [[nodiscard]] std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }
  [[nodiscard]] const Probe* next() const { return next_; }

  inline static const Probe* first = nullptr;  ///< of all; constant when main() begins

 private:
  std::atomic<std::uint64_t> count_{0};
  std::string_view name_;
  const Probe* next_;
};

/// A name as a template's argument.
template <std::size_t N>
struct Name {
  consteval Name(const char (&text)[N]) { std::copy_n(text, N, letters); }  // NOLINT: a literal is the argument
  char letters[N]{};
};

/// The probe of this name: one, however many places reach it.
template <Name name>
struct Named {
  inline static Probe probe{name.letters};
};

/// All probes of the program, by name.
[[nodiscard]] inline std::vector<const Probe*> all() {
  std::vector<const Probe*> probes;
  for (const Probe* p = Probe::first; p != nullptr; p = p->next()) probes.push_back(p);
  std::ranges::sort(probes, {}, &Probe::name);
  return probes;
}

}  // namespace loco::probe

/// Statement: this branch has been reached. `name` is a word that says when.
#define LOCO_PROBE(name) ::loco::probe::Named<#name>::probe.reach()
