// A posted write on the links behind its NIC's own (paths.hpp).
//
// These carry the TLPs of all devices in the order in which they come: a TLP takes its place there when it could be in
// memory if nothing was in front of it. Where any event may be next it does so at once. Private to nic_model/.
#pragma once

#include "nic_model/pcie/pcie.hpp"
#include "nic_model/pcie/posted_domain.hpp"

namespace loco::nic {

/// Bytes of the TLP of a write that begins behind `done`.
[[nodiscard]] inline std::uint32_t tlp_behind(const Engine& engine, NicId nic, const PostedWrite& write,
                                              std::uint32_t done) {
  return write.is_cqe ? static_cast<std::uint32_t>(engine.profile(nic).nic_cqe_bytes.count)
                      : write_step(engine, nic, write.address + done, write.length - done);
}

/// Says of a write that is on its NIC's link already which links it goes over behind that.
void take_path(Engine& engine, NicId nic, std::uint32_t key, PostedWrite& write);
/// When memory may have the TLP behind `done` bytes, as far as is known (PostedWrite::passes); or, `at_once`, when it
/// has it.
void wait_for_links(Engine& engine, NicId nic, PostedWrite& write, std::uint32_t done, bool at_once);
/// A TLP has come as far as it could with nothing in front of it. True: it has to wait for a link, until `write.ready`.
bool waits_for_links(Engine& engine, NicId nic, PostedWrite& write);

}  // namespace loco::nic
