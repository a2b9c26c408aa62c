#include "nic_model/profile.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "nic_model/profile_options.hpp"

namespace loco::nic {

namespace {
/// TLP bandwidth of a link after flow control and skip symbols, in bits per second. The values of the widths in
/// pcie-bench (Neugebauer et al., SIGCOMM 2018) are from there; the others are scaled by line rate and encoding: 8b/10b
/// up to generation 2, then 128b/130b, and FLITs in generation 6.
std::uint64_t tlp_bandwidth(std::uint32_t generation, std::uint32_t lanes) {
  if (generation == 3 && lanes == 8) return 57'880'000'000;
  constexpr std::array<std::uint64_t, 7> kMegabitsPerLane = {0, 2'000, 4'000, 7'877, 15'754, 31'508, 61'686};
  // gen3 x16 and gen4 x8 have 113.7 of 126.03 Gb/s, gen4 x16 has 227.4 of 252.06 Gb/s
  constexpr std::uint64_t kUsable = 113'700, kOf = 126'032;
  const std::uint64_t megabits = kMegabitsPerLane.at(generation) * lanes;
  const std::uint64_t usable = (megabits * kUsable + kOf / 2) / kOf;
  return usable * 1'000'000;
}
}  // namespace

std::int64_t value(const HardwareProfile& profile, const options::Option& option) { return option.get(&profile); }

void set_value(HardwareProfile& profile, const options::Option& option, std::int64_t value) {
  option.set(&profile, value);
  const std::uint64_t by_width = tlp_bandwidth(profile.pcie_generation, profile.pcie_lanes);
  if (option.key == "pcie.rate" && profile.pcie_rate.value != by_width) profile.pcie_generation = 0;
  if ((option.key == "pcie.generation" || option.key == "pcie.lanes") && profile.pcie_generation != 0) {
    profile.pcie_rate = {tlp_bandwidth(profile.pcie_generation, profile.pcie_lanes)};
  }
}

std::string HardwareProfile::validate() const {
  for (const options::Option& option : transport_options()) {
    const std::int64_t v = option.get(&transport);
    if (!options::in_range(option, v))
      return fmt::format("transport.{} is {}, outside of [{}, {}]", option.key, v, option.least, option.most);
  }
  for (const options::Option& option : profile_options()) {
    const std::int64_t v = option.get(this);
    if (!options::in_range(option, v))
      return fmt::format("{} is {}, outside of [{}, {}]", option.key, v, option.least, option.most);
  }
  for (const sim::Bytes* size : {&pcie_mps, &pcie_mrrs, &pcie_read_completion}) {
    if ((size->count & (size->count - 1)) != 0)
      return "pcie.mps, pcie.mrrs and pcie.read_completion must be powers of two";
  }
  if (pcie_read_completion > pcie_mrrs) return "pcie.read_completion must not exceed pcie.mrrs";
  if (link_mtu.count % 8 != 0) return "link.mtu must be a multiple of 8";
  // The same limit as for fabric.link.rate and custom cables. At a few bits per second, messages would outlast
  // simulated time (2^63 ps).
  if (link_rate.value != 0 && link_rate.value < 1'000'000) {
    return "link.rate must be at least 1 Mb/s, or 0: infinitely fast";
  }
  if (pcie_warm_saving > std::min(pcie_read_access, pcie_write_commit)) {
    return "pcie.warm_saving must not exceed pcie.read_access and pcie.write_commit";
  }
  if ((pcie_lanes & (pcie_lanes - 1)) != 0) return "pcie.lanes must be 1, 2, 4, 8 or 16";
  if (nic_blueflame && nic_inline_max.count == 0) return "nic.blueflame needs nic.inline_max above 0";
  if (nic_inline_puts && nic_inline_max.count < 8)
    return "nic.inline_puts needs nic.inline_max of a word (8 B) or more";
  if (nic_stale_operands != StaleOperands::none && nic_atomic_operands != AtomicOperands::memory)
    return "nic.stale_operands needs nic.atomic_operands: memory";
  if ((nic_word_unit.count & (nic_word_unit.count - 1)) != 0) return "nic.word_unit must be a power of two";
  if (nic_word_order == WordOrder::any && nic_word_unit > std::min(pcie_mps, pcie_read_completion))
    return "nic.word_order: any needs nic.word_unit of at most pcie.mps and pcie.read_completion";
  if (nic_recovery == Recovery::selective_repeat && !overtakes(nic_placement))
    return "nic.recovery: selective_repeat needs nic.placement: out_of_order (or unordered, reads_overtake): in order, "
           "what comes behind a gap is dropped";
  if (nic_recovery == Recovery::go_back_n && overtakes(nic_placement))
    return "nic.recovery: go_back_n needs nic.placement: in_order (or serial): out of order, what comes behind a gap "
           "is "
           "kept";
  const bool one_path = transport.choice == EntropyChoice::by_kind || transport.choice == EntropyChoice::one;
  const bool in_order = transport.kind == TransportKind::uet
                            ? transport.mode == UetMode::rod
                            : transport.kind == TransportKind::rc && !writes_overtake(nic_placement);
  if (in_order && !one_path)
    return "transport.paths.choice needs packets that are placed as they come: transport srd, uet with mode rud or "
           "rudi, or rc with nic.placement: out_of_order";
  if (transport.kind != TransportKind::uet && transport.mode != UetMode::rud)
    return "transport.mode is one of transport.kind: uet";
  if (pcie_iommu && pcie_iommu_window < kIommuPage)
    return "pcie.iommu needs pcie.iommu_window of a page (4 KiB) or more";
  return {};
}

}  // namespace loco::nic
