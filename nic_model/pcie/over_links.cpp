#include "nic_model/pcie/over_links.hpp"

#include <algorithm>

#include "nic_model/pcie/paths.hpp"
#include "probe/probe.hpp"

namespace loco::nic {

void take_path(Engine& engine, NicId nic, std::uint32_t key, PostedWrite& write) {
  const std::uint32_t memory = memory_of(engine, nic, key);
  const PciePath& path = engine.paths.of(nic, memory);
  write.peer = path.peer;
  if (!path.hops.empty()) write.over_links = static_cast<std::uint16_t>(memory + 1);
  const sim::Duration stored =
      stored_time(path, tlp_behind(engine, nic, write, 0) + engine.profile(nic).pcie_write_header.count);
  write.way += stored;
  write.ready += stored;
}

void wait_for_links(Engine& engine, NicId nic, PostedWrite& write, std::uint32_t done, bool at_once) {
  const PciePath& path = engine.paths.of(nic, write.over_links - 1);
  write.ready = std::max(write.ready, engine.now());
  write.passes = engine.kernel.in_time() && !at_once;
  write.ready = write.passes ? earliest_over(engine, path, write.ready)
                             : pass_over(engine, nic, path, write.ready, tlp_behind(engine, nic, write, done));
}

bool waits_for_links(Engine& engine, NicId nic, PostedWrite& write) {
  write.passes = false;
  write.ready = pass_over(engine, nic, engine.paths.of(nic, write.over_links - 1), engine.now(),
                          tlp_behind(engine, nic, write, write.committed));
  if (write.ready <= engine.now()) return false;
  LOCO_PROBE(write_waits_for_shared_link);
  return true;
}

}  // namespace loco::nic
