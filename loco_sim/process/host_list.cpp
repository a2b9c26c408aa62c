#include "loco_sim/process/host_list.hpp"

#include <algorithm>
#include <charconv>

#include "loco_sim/loco/errors.hpp"

namespace loco::process {

namespace {

[[noreturn]] void refuse(std::size_t node, std::string_view entry, std::string_view expected) {
  throw setup_error("host list: node " + std::to_string(node) + " is '" + std::string(entry) + "': expected " +
                    std::string(expected));
}

HostAddress parse_entry(std::string_view entry, std::size_t node) {
  const std::size_t colon = entry.rfind(':');
  const std::string_view name = entry.substr(0, colon);
  if (name.empty()) refuse(node, entry, "a host's name or address, such as node0 or 10.0.0.1:18600");
  if (colon == std::string_view::npos) return {std::string(name), static_cast<std::uint16_t>(kFirstPort + node)};
  const std::string_view digits = entry.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc{} || end != digits.data() + digits.size() || port == 0)
    refuse(node, entry, "a port from 1 to 65535 behind the colon");
  return {std::string(name), port};
}

}  // namespace

std::vector<HostAddress> parse_host_list(std::string_view text) {
  std::vector<HostAddress> hosts;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const std::string_view entry = text.substr(from, comma - from);
    HostAddress host = parse_entry(entry, hosts.size());
    const auto same = [&](const HostAddress& other) { return other.text() == host.text(); };
    if (std::ranges::any_of(hosts, same)) refuse(hosts.size(), entry, "another address or port than those before");
    hosts.push_back(std::move(host));
    from = comma + 1;
  }
  return hosts;
}

}  // namespace loco::process
