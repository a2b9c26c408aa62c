#include "nic_model/delivery/entropies.hpp"

#include "probe/probe.hpp"
#include "sim/rng.hpp"

namespace loco::nic {

std::uint32_t Entropies::next(const DeliveryPaths& paths, std::uint64_t seed) {
  if (!paths.sprays()) return 0;
  std::uint64_t state = paths.choice == EntropyChoice::random ? seed + sent_ : seed;
  const std::uint64_t drawn = sim::splitmix64(state);
  if (paths.choice == EntropyChoice::random) {
    ++sent_;
    return static_cast<std::uint32_t>(drawn % paths.entropies);
  }
  const auto first = static_cast<std::uint32_t>(drawn % paths.entropies);
  if (bad_count_ == paths.entropies) {
    LOCO_PROBE(every_path_bad);
    bad_.clear();
    bad_count_ = 0;
  }
  std::uint32_t entropy = (first + sent_++) % paths.entropies;
  while (bad_count_ != 0 && is_bad(entropy)) {
    LOCO_PROBE(bad_path_avoided);
    entropy = (first + sent_++) % paths.entropies;
  }
  return entropy;
}

void Entropies::answered(const DeliveryPaths& paths, std::uint32_t entropy, bool good) {
  if (paths.choice != EntropyChoice::learned || is_bad(entropy) == !good) return;
  if (bad_.empty()) bad_.resize((paths.entropies + 63) / 64);
  bad_[entropy / 64] ^= std::uint64_t{1} << (entropy % 64);
  good ? --bad_count_ : ++bad_count_;
}

}  // namespace loco::nic
