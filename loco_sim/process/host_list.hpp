// The nodes of a run on a real network, with the address at which each listens for the others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace loco::process {

struct HostAddress {
  std::string name;  ///< as for getaddrinfo
  std::uint16_t port = 0;
  /// "name:port", as in the list.
  [[nodiscard]] std::string text() const { return name + ":" + std::to_string(port); }
};

/// Parses "a,b:7000,c" as node 0, node 1, ... The default port is kFirstPort plus the node's number. Throws
/// loco::setup_error for an empty name, an invalid port, or a duplicate entry.
[[nodiscard]] std::vector<HostAddress> parse_host_list(std::string_view text);

inline constexpr std::uint16_t kFirstPort = 18600;

}  // namespace loco::process
