#include "nic_model/profile.hpp"

#include <fmt/format.h>
#include <type_traits>

#include "nic_model/profile_fields.hpp"

namespace loco::nic {

std::int64_t value(const HardwareProfile& profile, const ProfileField& field) {
  return std::visit(
      [&](auto member) -> std::int64_t {
        const auto& v = profile.*member;
        using T = std::remove_cvref_t<decltype(v)>;
        if constexpr (std::is_same_v<T, sim::Duration>) {
          return v.ps;
        } else if constexpr (std::is_same_v<T, sim::Bytes>) {
          return static_cast<std::int64_t>(v.count);
        } else if constexpr (std::is_same_v<T, sim::BitsPerSecond>) {
          return static_cast<std::int64_t>(v.value);
        } else {
          return static_cast<std::int64_t>(v);
        }
      },
      field.member);
}

void set_value(HardwareProfile& profile, const ProfileField& field, std::int64_t value) {
  std::visit(
      [&](auto member) {
        auto& v = profile.*member;
        using T = std::remove_cvref_t<decltype(v)>;
        if constexpr (std::is_same_v<T, sim::Duration>) {
          v.ps = value;
        } else if constexpr (std::is_same_v<T, sim::Bytes>) {
          v.count = static_cast<std::uint64_t>(value);
        } else if constexpr (std::is_same_v<T, sim::BitsPerSecond>) {
          v.value = static_cast<std::uint64_t>(value);
        } else {
          v = static_cast<T>(value);
        }
      },
      field.member);
}

std::string HardwareProfile::validate() const {
  for (const ProfileField& field : kProfileFields) {
    const std::int64_t v = value(*this, field);
    if (v < field.minimum || v > field.maximum) {
      return fmt::format("{} is {}, outside of [{}, {}]", field.key, v, field.minimum, field.maximum);
    }
  }
  for (const sim::Bytes* size : {&pcie_mps, &pcie_mrrs, &pcie_read_completion}) {
    if ((size->count & (size->count - 1)) != 0)
      return "pcie.mps, pcie.mrrs and pcie.read_completion must be powers of two";
  }
  if (pcie_read_completion > pcie_mrrs) return "pcie.read_completion must not exceed pcie.mrrs";
  if (link_mtu.count % 8 != 0) return "link.mtu must be a multiple of 8";
  if (nic_blueflame && nic_inline_max.count == 0) return "nic.blueflame needs nic.inline_max above 0";
  return {};
}

}  // namespace loco::nic
