// Which entropy a queue pair's next packet gets (docs/transports.md, "Paths").
//
// `learned` leaves out entropies whose last answer was marked, trimmed or missing until all are used up, as UEC's
// simulator does (htsim, class UecMpBitmap) and REPS (Bonato et al., "REPS: Recycled Entropy Packet Spraying for
// Adaptive Load Balancing and Failure Mitigation", 2024) recycles only those that were good. A value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nic_model/delivery/policy.hpp"

namespace loco::nic {

class Entropies {
 public:
  /// `seed`: of random choices, and of where turns begin: queue pairs do not go through their entropies in step.
  [[nodiscard]] std::uint32_t next(const DeliveryPaths& paths, std::uint64_t seed);
  /// A packet with this entropy was answered; `good`: neither marked nor trimmed nor lost.
  void answered(const DeliveryPaths& paths, std::uint32_t entropy, bool good);

  bool operator==(const Entropies&) const = default;

 private:
  [[nodiscard]] bool is_bad(std::uint32_t entropy) const {
    return entropy / 64 < bad_.size() && (bad_[entropy / 64] >> (entropy % 64) & 1U) != 0;
  }

  std::uint32_t sent_ = 0;  // packets
  std::uint32_t bad_count_ = 0;
  std::vector<std::uint64_t> bad_{};  // a bit an entropy
};

}  // namespace loco::nic
