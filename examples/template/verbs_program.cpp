// Host 0 writes 64 bytes into the memory of host 1 and waits for the completion.
#include <cstdio>
#include <exception>
#include <loco_sim/verbs.hpp>
#include <string>

int main(int argc, char** argv) try {
  namespace nic = loco::nic;
  loco::verbs::Machine machine(
      {.profile = loco::scenario::load_hardware(argc > 1 ? argv[1] : "cx5-roce-25g").profile, .nodes = 2});

  // set-up takes no simulated time
  nic::System& system = machine.system();
  const nic::MemoryRegion from = system.register_memory(0, system.allocate(0, 4096), 4096);
  const nic::MemoryRegion to = system.register_memory(1, system.allocate(1, 4096), 4096);
  const nic::CqId cq = system.create_cq(0, 16), other_cq = system.create_cq(1, 16);
  const nic::QpId qp = system.create_qp(0, cq, 16), other_qp = system.create_qp(1, other_cq, 16);
  system.connect(qp, other_qp);

  machine.spawn(0, [&](loco::verbs::Thread& thread) {
    thread.store(from.base, 42);
    thread.post_send(qp, {.opcode = nic::Opcode::rdma_write,
                          .length = 64,
                          .lkey = from.lkey,
                          .rkey = to.rkey,
                          .local = from.base,
                          .remote = to.base});
    const nic::Cqe done = thread.wait_cq(cq);
    std::printf("%s after %lld ns\n", std::string(nic::name(done.status)).c_str(),
                static_cast<long long>(thread.now().ps / 1000));
  });
  machine.run();
  std::printf("host 1 has %llu\n", static_cast<unsigned long long>(system.word(1, to.base)));
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
