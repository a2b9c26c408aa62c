#include "nic_model/pcie/paths.hpp"

#include <algorithm>
#include <variant>

#include "nic_model/pcie/link.hpp"

namespace loco::nic {

namespace {

using Kind = TreeLinkName::Kind;

/// Of a host, in this order: links above switches, of GPUs, between sockets.
std::uint32_t links_of(const HostConfig& host) {
  const std::uint32_t sockets = host.sockets.count;
  return static_cast<std::uint32_t>(host.switches.size() + host.gpus.size()) + sockets * (sockets - 1) / 2;
}
std::uint32_t link_above(std::uint32_t pcie_switch) { return pcie_switch; }
std::uint32_t link_of_gpu(const HostConfig& host, std::uint32_t gpu) {
  return static_cast<std::uint32_t>(host.switches.size()) + gpu;
}
std::uint32_t link_between(const HostConfig& host, std::uint32_t a, std::uint32_t b) {
  const auto [low, high] = std::minmax(a, b);
  return link_of_gpu(host, static_cast<std::uint32_t>(host.gpus.size())) + high * (high - 1) / 2 + low;
}

sim::Duration sockets_delay(const HostConfig& host, const HardwareProfile& p) {
  return host.sockets.delay.value_or(p.pcie_numa_penalty);
}

/// Does anything of the tree say more than the profile?
bool says_more(const HostConfig& host) {
  return !host.gpus.empty() || !host.switches.empty() || host.sockets.count > 1;
}

sim::BitsPerSecond slower(sim::BitsPerSecond a, sim::BitsPerSecond b) {
  if (a.value == 0 || b.value == 0) return {std::max(a.value, b.value)};
  return std::min(a, b);
}

/// Where a device is: the switches above it, the lowest first, and its socket.
struct Position {
  std::vector<std::uint32_t> switches;
  std::uint32_t socket = 0;
};
Position position(const HostConfig& host, std::uint32_t pcie_switch, std::uint32_t at_root_port) {
  return {switches_above(host, pcie_switch), socket_of(host, pcie_switch, at_root_port)};
}

/// A memory at the end of a path: a socket's (none of both), a GPU's, or that of a NIC of the same host.
struct SocketMemory {};
struct GpuMemory {
  std::uint32_t gpu = 0;
};
struct NicMemory {
  NicId nic{};
};
using Memory = std::variant<SocketMemory, GpuMemory, NicMemory>;

/// Builds the path from one device to another, or to a socket's memory.
class PathBuilder {
 public:
  PathBuilder(const HostConfig& host, const HardwareProfile& p, std::uint32_t first_link)
      : host_(host), p_(p), first_link_(first_link) {}

  /// `to`: where the device is that has the memory, or of which socket it is.
  PciePath build(const Position& from, const Position& to, const Memory& memory) {
    const bool of_device = !std::holds_alternative<SocketMemory>(memory);
    const auto shared = [&](std::uint32_t s) {
      return of_device && std::ranges::find(to.switches, s) != to.switches.end();
    };
    const auto turn = std::ranges::find_if(from.switches, shared);
    const bool through_root = turn == from.switches.end();
    path_.data_stored = stores_tlps(host_, from.switches.empty() ? kRootPort : from.switches.front());
    go_up(from, turn);
    if (through_root && from.socket != to.socket) cross(from.socket, to.socket);
    if (!of_device) return path_;
    path_.peer = true;
    if (through_root) {
      path_.there += p_.pcie_downstream;
      path_.back += p_.pcie_upstream;
    }
    go_down(to, through_root ? kRootPort : *turn);
    add_device(memory, through_root, !to.switches.empty() && stores_tlps(host_, to.switches.front()));
    return path_;
  }

 private:
  using Place = std::vector<std::uint32_t>::const_iterator;

  /// The profile's way goes through all switches above the NIC: those above the turn are not on this one.
  void go_up(const Position& from, Place turn) {
    for (auto s = from.switches.begin(); s != turn; ++s) {
      const auto next = s + 1;
      add_link(*s, LinkWay::up, stores_tlps(host_, *s),
               stores_tlps(host_, next == from.switches.end() ? kRootPort : *next));
    }
    for (auto s = turn == from.switches.end() ? turn : turn + 1; s != from.switches.end(); ++s) {
      path_.there = path_.there - switch_delay(host_, p_, *s);
      path_.back = path_.back - switch_delay(host_, p_, *s);
    }
  }
  void cross(std::uint32_t from, std::uint32_t to) {
    path_.there += sockets_delay(host_, p_);
    const sim::BitsPerSecond rate = host_.sockets.link.rate;
    path_.hops.push_back({.link = first_link_ + link_between(host_, from, to),
                          .way = from < to ? LinkWay::up : LinkWay::down,
                          .write = rate,
                          .read = rate});
  }
  /// From below the turn, or from the root complex, to the switch above the device.
  void go_down(const Position& to, std::uint32_t turn) {
    const auto end = std::ranges::find(to.switches, turn);
    for (auto s = end; s != to.switches.begin();) {
      const std::uint32_t above = s == to.switches.end() ? kRootPort : *s;
      --s;
      path_.there += switch_delay(host_, p_, *s);
      path_.back += switch_delay(host_, p_, *s);
      add_link(*s, LinkWay::down, stores_tlps(host_, above), stores_tlps(host_, *s));
    }
  }
  /// The link of the device that has the memory. A NIC's is the one that all it does goes over (pcie/link.hpp), and its
  /// memory takes as long as for itself.
  void add_device(const Memory& memory, bool through_root, bool stored) {
    PathHop hop{.way = LinkWay::down, .stored = stored};
    sim::BitsPerSecond rate = p_.pcie_rate;
    if (const auto* of = std::get_if<GpuMemory>(&memory)) {
      hop.link = first_link_ + link_of_gpu(host_, of->gpu);
      rate = host_.gpus[of->gpu].rate;
    } else {
      hop.nic = std::get<NicMemory>(memory).nic;
      path_.write = p_.nic_device_access - p_.pcie_write_commit;
      path_.read = p_.nic_device_access - p_.pcie_read_access;
    }
    hop.write = through_root ? slower(rate, p_.pcie_peer_write) : rate;
    hop.read = through_root ? slower(rate, p_.pcie_peer_read) : rate;
    path_.hops.push_back(hop);
  }
  void add_link(std::uint32_t pcie_switch, LinkWay way, bool stored, bool data_stored) {
    if (pcie_switch >= host_.switches.size()) return;  // one that nobody has described: its link has no limit
    const sim::BitsPerSecond rate = host_.switches[pcie_switch].link.rate;
    path_.hops.push_back({.link = first_link_ + link_above(pcie_switch),
                          .way = way,
                          .write = rate,
                          .read = rate,
                          .stored = stored,
                          .data_stored = data_stored});
  }

  const HostConfig& host_;
  const HardwareProfile& p_;
  std::uint32_t first_link_;
  PciePath path_{};
};

void add_links(const HostConfig& host, const HardwareProfile& p, HostId node, std::vector<TreeLink>& links) {
  for (std::uint32_t s = 0; s < host.switches.size(); ++s)
    links.emplace_back(TreeLinkName{node, Kind::above_switch, s}, host.switches[s].link.credits.count,
                       switch_delay(host, p, s));
  for (std::uint32_t gpu = 0; gpu < host.gpus.size(); ++gpu)
    links.emplace_back(TreeLinkName{node, Kind::of_gpu, gpu}, 0, sim::Duration{});
  for (std::uint32_t b = 1; b < host.sockets.count; ++b)
    for (std::uint32_t a = 0; a < b; ++a)
      links.emplace_back(TreeLinkName{node, Kind::sockets, a, b}, host.sockets.link.credits.count,
                         sockets_delay(host, p));
}

}  // namespace

PciePaths::PciePaths(const Kernel& kernel) {
  if (std::ranges::any_of(kernel.config().hosts.of, says_more)) add_all(kernel);
}

void PciePaths::add_all(const Kernel& kernel) {
  std::uint32_t links = 0;
  for (const HostConfig& host : kernel.config().hosts.of) {
    first_link_.emplace_back(links);
    links += links_of(host);
  }
  first_.resize(kernel.nics());
  sockets_.resize(kernel.nics());
  for (const NicId nic : kernel.all_nics()) add(kernel, nic, false);
}

void PciePaths::reach_nics(const Kernel& kernel, HostId host) {
  if (empty()) add_all(kernel);
  const std::uint32_t nics = kernel.config().hosts.nics(host);
  for (std::uint32_t index = 0; index < nics; ++index) add(kernel, kernel.nic_of(host, index), true);
}

void PciePaths::add(const Kernel& kernel, NicId nic, bool to_nics) {
  const SystemConfig& config = kernel.config();
  const HostId node = kernel.host_of(nic);
  const HostConfig& host = config.hosts.of[node];
  const HardwareProfile& p = config.hosts.profile(config.profile, node);
  const std::uint32_t index = kernel.index_of(nic);
  const Position from = position(host, host.switch_of(index), host.nic_socket(index));
  first_[nic] = static_cast<std::uint32_t>(paths_.size());
  sockets_[nic] = from.socket;
  const auto build = [&](const Position& to, const Memory& memory) {
    paths_.push_back(PathBuilder(host, p, first_link_[node]).build(from, to, memory));
  };
  for (std::uint32_t socket = 0; socket < host.sockets.count; ++socket) build({{}, socket}, SocketMemory{});
  for (std::uint32_t gpu = 0; gpu < host.gpus.size(); ++gpu)
    build(position(host, host.gpus[gpu].pcie_switch, host.gpus[gpu].socket), GpuMemory{gpu});
  for (std::uint32_t other = 0; to_nics && other < host.nics; ++other) {
    if (other == index) {
      paths_.emplace_back();
    } else {
      build(position(host, host.switch_of(other), host.nic_socket(other)), NicMemory{kernel.nic_of(node, other)});
    }
  }
}

std::vector<TreeLink> make_tree_links(const Kernel& kernel) {
  std::vector<TreeLink> links;
  const SystemConfig& config = kernel.config();
  for (const HostId node : config.hosts.of.ids())
    add_links(config.hosts.of[node], config.hosts.profile(config.profile, node), node, links);
  return links;
}

std::uint32_t memory_of(const Engine& engine, NicId nic, std::uint32_t key) {
  const MemoryRegion* const region = engine.region(key);
  if (region == nullptr) return engine.paths.own_memory(nic);
  if (region->kind.gpu == 0 && !region->kind.device) return region->kind.numa;
  const HostsConfig& hosts = engine.kernel.config().hosts;
  const HostId host(region->node);
  if (region->kind.gpu != 0) return hosts.sockets(host) + region->kind.gpu - 1;
  return hosts.sockets(host) + static_cast<std::uint32_t>(hosts.gpus(host)) + region->kind.nic;
}

sim::SimTime earliest_over(const Engine& engine, const PciePath& path, sim::SimTime due) {
  for (const PathHop& hop : path.hops) {
    due = hop.nic == NicId::none() ? engine.tree_links[hop.link].earliest(hop.way, due)
                                   : engine.links[hop.nic].earliest_down(due, {});
  }
  return due;
}

sim::SimTime pass_over(Engine& engine, NicId nic, const PciePath& path, sim::SimTime due, std::uint64_t bytes) {
  const std::uint64_t on_wire = bytes + engine.profile(nic).pcie_write_header.count;
  // A TLP takes room at a link's far end from when it leaves the near end until it passes the next link.
  const PathHop* held = nullptr;
  sim::SimTime held_from;
  sim::SimTime gone;
  const auto give_back = [&](sim::SimTime until) {
    if (held != nullptr) engine.tree_links[held->link].return_credits(held->way, bytes, held_from, until, gone);
    held = nullptr;
  };
  for (const PathHop& hop : path.hops) {
    const sim::Duration taken = sim::transmission_time({on_wire}, hop.write);
    if (hop.nic != NicId::none()) {
      due = engine.links[hop.nic].pass_down(due, taken);
      continue;
    }
    TreeLink& link = engine.tree_links[hop.link];
    if (link.limits_credits()) due = std::max(due, link.take_credits(hop.way, bytes) + taken + link.delay());
    due = link.take(hop.way, due, taken);
    give_back(due);
    if (!link.limits_credits()) continue;
    held = &hop;
    held_from = due - taken - link.delay();
    gone = engine.now() - taken - link.delay();
  }
  give_back(due);
  return due;
}

sim::SimTime send_back(Engine& engine, const PciePath& path, sim::SimTime now, std::uint64_t bytes) {
  sim::SimTime sent = now;
  for (const PathHop& hop : path.hops) {
    const sim::Duration taken = sim::transmission_time({bytes}, hop.read);
    sent = std::max(sent, hop.nic == NicId::none() ? engine.tree_links[hop.link].send(other_way(hop.way), now, taken)
                                                   : engine.links[hop.nic].send_up(now, taken));
  }
  return sent;
}

sim::Duration stored_time(const PciePath& path, std::uint64_t bytes) {
  sim::Duration time{};
  for (const PathHop& hop : path.hops)
    if (hop.stored) time += sim::transmission_time({bytes}, hop.write);
  return time;
}

sim::Duration data_stored_time(const PciePath& path, sim::BitsPerSecond own, std::uint64_t bytes) {
  sim::Duration time{};
  if (path.data_stored) time += sim::transmission_time({bytes}, own);
  for (const PathHop& hop : path.hops)
    if (hop.data_stored) time += sim::transmission_time({bytes}, hop.read);
  return time;
}

}  // namespace loco::nic
