// A token goes round a ring of hosts: a write with immediate data brings it, the receive's completion tells of it.
#include <array>
#include <exception>
#include <fmt/core.h>

#include "loco_sim/verbs.hpp"

int main() try {
  using namespace loco;
  constexpr std::uint32_t kHosts = 4, kLaps = 100;
  verbs::Machine machine({.profile = scenario::load_hardware("cx5-roce-25g").profile, .nodes = kHosts});
  nic::System& system = machine.system();

  struct Host {
    nic::MemoryRegion memory;
    nic::CqId sends = 0, receives = 0;
    nic::QpId left = 0, right = 0;  // towards its neighbours
  };
  std::array<Host, kHosts> hosts;
  for (nic::NodeId n = 0; n < kHosts; ++n) {
    hosts[n].memory = system.register_memory(n, system.allocate(n, 64), 64);
    hosts[n].sends = system.create_cq(n, 16);
    hosts[n].receives = system.create_cq(n, 16);
    const nic::QpConfig queues{
        .send_cq = hosts[n].sends, .recv_cq = hosts[n].receives, .send_entries = 4, .recv_entries = 4};
    hosts[n].left = system.create_qp(n, queues);
    hosts[n].right = system.create_qp(n, queues);
  }
  for (nic::NodeId n = 0; n < kHosts; ++n) system.connect(hosts[n].right, hosts[(n + 1) % kHosts].left);

  for (nic::NodeId n = 0; n < kHosts; ++n) {
    system.post_recv(hosts[n].left, {});  // a write with immediate data leaves the receive's buffer alone
    machine.spawn(n, [&, n](verbs::Thread& thread) {
      const Host& me = hosts[n];
      const Host& next = hosts[(n + 1) % kHosts];
      bool sent = false;
      // Until its completion the NIC may read what is sent: it is not changed before.
      const auto wait_until_sent = [&] {
        if (sent && thread.wait_cq(me.sends).status != nic::Status::success) throw verbs::VerbsError("a write failed");
      };
      const auto send = [&](std::uint32_t lap) {
        wait_until_sent();
        sent = true;
        thread.store(me.memory.base, lap);
        thread.post_send(me.right, {.with_imm = true,
                                    .lkey = me.memory.lkey,
                                    .rkey = next.memory.rkey,
                                    .imm = lap,
                                    .local = me.memory.base,
                                    .remote = next.memory.base + 8});
      };
      const sim::SimTime start = thread.now();
      if (n == 0) send(0);
      for (std::uint32_t lap = 0; lap < kLaps; ++lap) {
        const nic::Cqe token = thread.wait_cq(me.receives);
        if (token.status != nic::Status::success) throw verbs::VerbsError(std::string(name(token.status)));
        thread.post_recv(me.left, {});
        if (n != 0 || lap + 1 < kLaps) send(n == 0 ? token.imm + 1 : token.imm);
      }
      wait_until_sent();
      if (n == 0)
        fmt::print("{} hops of {:.3f} us\n", kLaps * kHosts,
                   static_cast<double>((thread.now() - start).ps) / 1e6 / (kLaps * kHosts));
    });
  }
  machine.run();
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
