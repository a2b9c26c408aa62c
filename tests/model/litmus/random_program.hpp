// Random litmus documents, a function of the seed, for comparing engines and oracles.
#pragma once

#include <cstdint>
#include <string>

namespace loco::model::litmus::test {

struct RandomShape {
  std::string model = "rdmawait";
  int nodes_max = 3;
  int threads_max = 3;
  int operations_max = 4;  ///< per thread
  int total_max = 12;      ///< over all threads
  bool atomics = false;    ///< rcas and rfaa, a third of the statements
};

[[nodiscard]] std::string random_document(std::uint64_t seed, const RandomShape& shape);

/// Of model verbs: one or two pairs of queue pairs, with shared completion and receive queues now and then.
struct RandomVerbs {
  int threads_max = 3;
  int operations_max = 4;   ///< per thread
  int total_max = 7;        ///< over all threads
  bool unreliable = false;  ///< also UC and UD
  bool regions = true;      ///< words with relaxed ordering and on the device
  bool lists = true;        ///< messages of two words
};
[[nodiscard]] std::string random_verbs_document(std::uint64_t seed, const RandomVerbs& shape);

}  // namespace loco::model::litmus::test
