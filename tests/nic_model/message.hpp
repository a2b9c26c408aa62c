// Message passing between two hosts in random schedules: data, then a flag, by NICs and to memories that a test names.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "hosts/steps.hpp"
#include "stages.hpp"
#include "tests/catch.hpp"

namespace loco::test {

/// The result of a reader on host 1: the data it read after it saw the flag, which is written once the data's WRITE is
/// complete.
struct Seen {
  std::uint64_t flag = 0, data = 0;
  bool operator<(const Seen& o) const { return std::pair(flag, data) < std::pair(o.flag, o.data); }
  bool operator==(const Seen&) const = default;
};

enum class Flush { none, same_nic, other_nic };

/// Host 0 writes data by queue pair 0, waits for its completion, perhaps reads by another queue pair, and writes the
/// flag by queue pair 1, which are on these NICs and ports of host 1. `data_on`: the memory that the data is in.
/// `receiver`: host 1. Any pending event may be next.
inline Seen message(std::uint64_t seed, const nic::HostConfig& receiver, std::array<std::uint32_t, 2> nic,
                    nic::RegionKind data_on = {}, Flush flush = Flush::none,
                    std::array<std::uint8_t, 2> port = {0, 0}) {
  nic::SystemConfig config{.profile = primes(), .topology = fabric::Topology::star, .nodes = 2};
  config.hosts.of = {{.nics = receiver.nics, .ports = receiver.ports}, receiver};
  nic::System system(config);
  hosts::Steps steps;
  const nic::MemoryRegion local = system.register_memory(0, system.allocate(0, 64), 64);
  const nic::MemoryRegion flag = system.register_memory(1, system.allocate(1, 64), 64);
  const nic::MemoryRegion data = system.register_memory(1, system.allocate(1, 64), 64, nic::kAllAccess, data_on);
  system.set_word(0, local.base, 1);
  const nic::CqId cq = system.create_cq(0, 64);
  std::array<nic::QpId, 3> qp{};
  const std::uint32_t reader = flush == Flush::other_nic ? 1 - nic[0] : nic[0];
  for (std::size_t i = 0; i < 3; ++i) {
    const std::uint32_t on = i == 2 ? reader : nic[i];
    const std::uint8_t by = i == 2 ? std::uint8_t{0} : port[i];
    qp[i] = system.create_qp(0, {.send_cq = cq, .send_entries = 16, .nic = on, .port = by});
    system.connect(qp[i],
                   system.create_qp(1, {.send_cq = system.create_cq(1, 1), .send_entries = 1, .nic = on, .port = by}));
  }
  const auto request = [&](const nic::MemoryRegion& to, nic::Opcode opcode, std::uint64_t at) {
    return nic::Wqe{.opcode = opcode,
                    .length = 8,
                    .lkey = local.lkey,
                    .rkey = to.rkey,
                    .local = local.base + at,
                    .remote = to.base};
  };
  std::vector<std::pair<nic::QpId, nic::Wqe>> all = {{qp[0], request(data, nic::Opcode::rdma_write, 0)}};
  if (flush != Flush::none) all.emplace_back(qp[2], request(data, nic::Opcode::rdma_read, 8));
  all.emplace_back(qp[1], request(flag, nic::Opcode::rdma_write, 0));
  std::size_t next = 0;
  bool waits = false;
  steps.add(system, 0, [&](nic::Cpu& cpu) {
    std::array<nic::Cqe, 1> cqe;
    if (waits && cpu.poll_cq(cq, cqe) == 0) return cpu.pause({});
    waits = true;
    if (next == all.size()) return cpu.stop();
    REQUIRE(cpu.post_send(all[next].first, {&all[next].second, 1}) == nic::PostResult::ok);
    ++next;
    cpu.resume_after({});
  });
  Seen seen;
  steps.add(system, 1, [&](nic::Cpu& cpu) {
    if (seen.flag == 0) {
      seen.flag = cpu.load(flag.base);
      if (seen.flag == 0) return cpu.pause({});
      return cpu.resume_after({});
    }
    seen.data = cpu.load(data.base);
    cpu.stop();
  });
  nic::Context context{steps};
  std::uint64_t random = seed + 1;
  while (!system.idle()) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    std::size_t event = (random >> 33U) % system.pending_events();
    // Every other run holds the data back as long as anything else is pending.
    for (std::size_t i = 0; seed % 2 == 1 && i < system.pending_events(); ++i) {
      const nic::Footprint f = system.footprint(event);
      if (f.kind != nic::Footprint::Kind::memory_write || f.address != data.base) break;
      event = i;
    }
    system.step(context, event);
  }
  return seen;
}

/// All that happens in so many random schedules.
template <typename... Arguments>
std::set<Seen> outcomes_on(const nic::HostConfig& receiver, const Arguments&... arguments) {
  std::set<Seen> all;
  for (std::uint64_t seed = 0; seed < 400; ++seed) all.insert(message(seed, receiver, arguments...));
  return all;
}

inline const std::set<Seen> kOrdered = {{1, 1}};
inline const std::set<Seen> kBoth = {{1, 0}, {1, 1}};

}  // namespace loco::test
