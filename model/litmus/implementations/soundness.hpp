// Bounded soundness of LOCO's library implementations (LOCO paper, Definition 3.10): for every client program up to
// a bound, the outcomes of the implementation over rdmawait are among those of the specification.
//
// Clients are enumerated by size, so the first counterexample is a smallest one. Those that another client covers are
// left out (clients.hpp). Deterministic.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/litmus/implementations/implementations.hpp"
#include "model/litmus/models/axioms.hpp"

namespace loco::model::litmus {

/// The accesses of a holder that are before the next holder of the lock: CPU stores; these and operations to one node;
/// all.
enum class LockClass : std::uint8_t { weak, node, strong };
/// Mistakes in an implementation of locks.
enum class LockBug : std::uint8_t { none, release_before_data, no_fence, get_and_put, home_cas };

struct SoundnessOptions {
  std::string library;      ///< rdmawait, sv, bal, rbl, msw or lock
  int threads = 2;          ///< at most, one a node (msw: all on one node)
  int calls = 3;            ///< of one thread, at most
  bool transitive = false;  ///< bal: clients use the transitive barrier
  Implementation implementation;
  ModelOptions model_options;
  int loop_bound = 1;             ///< repetitions of an implementation's waiting loops
  std::uint64_t clients_max = 0;  ///< stop after so many; 0: no limit
  LockClass lock_class = LockClass::strong;
  int lock_node = 2;  ///< LockClass::node: 2, where the lock's word is, or 4
  LockBug lock_bug = LockBug::none;
  bool promises = false;                  ///< sv, bal, rbl, msw: each is kept in every execution (promises.hpp)
  bool wait_without_poll = false;         ///< rdmawait: a mistake, a wait polls nothing
  std::uint64_t executions_max = 20'000;  ///< with `promises`, of a client; 0: no limit
  bool every_client = false;              ///< also those that another one covers (clients.hpp): to test that rule
};

struct SoundnessResult {
  bool sound = true;
  bool complete = true;               ///< false: clients_max was reached, or an implementation had too many executions
  std::uint64_t clients = 0;          ///< programs compared
  std::string counterexample;         ///< a smallest client with an outcome that the specification lacks, as a document
  std::vector<std::string> outcomes;  ///< those outcomes
  std::string promise;                ///< or a promise that an execution of it breaks
  std::uint64_t executions = 0;       ///< that `promises` has looked at
  std::uint64_t cut = 0;              ///< clients of which `executions_max` left executions out
};

/// Called now and then with the number of clients compared; false stops the search.
using SoundnessProgress = std::function<bool(std::uint64_t)>;

/// Throws std::invalid_argument for an unknown library or bounds below 1.
[[nodiscard]] SoundnessResult check_soundness(const SoundnessOptions& options, const SoundnessProgress& progress = {});

/// The same for `lock` (lock_soundness.cpp).
[[nodiscard]] SoundnessResult check_lock_soundness(const SoundnessOptions& options, const SoundnessProgress& progress);

}  // namespace loco::model::litmus
