// Chooses the entropy of a queue pair's next packet (docs/transports.md, "Paths").
//
// `learned` avoids entropies whose last answer was marked, trimmed or missing, until no other is left. UEC's simulator
// does so (htsim, class UecMpBitmap), and REPS (Bonato et al., "REPS: Recycled Entropy Packet Spraying for Adaptive
// Load Balancing and Failure Mitigation", 2024) recycles only good ones. A value type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nic_model/delivery/policy.hpp"

namespace loco::nic {

class Entropies {
 public:
  /// The next entropy. `seed` sets the random choices and the start of the round robin, so that queue pairs do not
  /// cycle in step.
  [[nodiscard]] std::uint32_t next(const DeliveryPaths& paths, std::uint64_t seed);
  /// Records the answer to a packet with this entropy; `good` means neither marked, trimmed nor lost.
  void answered(const DeliveryPaths& paths, std::uint32_t entropy, bool good);

  bool operator==(const Entropies&) const = default;

 private:
  [[nodiscard]] bool is_bad(std::uint32_t entropy) const {
    return entropy / 64 < bad_.size() && (bad_[entropy / 64] >> (entropy % 64) & 1U) != 0;
  }

  std::uint32_t sent_ = 0;  // number of packets
  std::uint32_t bad_count_ = 0;
  std::vector<std::uint64_t> bad_{};  // one bit per entropy
};

}  // namespace loco::nic
