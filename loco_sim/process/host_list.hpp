// The nodes of a run on a real network: where each of them listens for the others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace loco::process {

struct HostAddress {
  std::string name;  ///< as getaddrinfo takes it
  std::uint16_t port = 0;
  /// "name:port", as the list had it.
  [[nodiscard]] std::string text() const { return name + ":" + std::to_string(port); }
};

/// "a,b:7000,c": node 0, node 1, ... One without a port has kFirstPort plus its number. Throws loco::setup_error for an
/// empty name, what is no port, or an entry that is there twice.
[[nodiscard]] std::vector<HostAddress> parse_host_list(std::string_view text);

inline constexpr std::uint16_t kFirstPort = 18600;

}  // namespace loco::process
