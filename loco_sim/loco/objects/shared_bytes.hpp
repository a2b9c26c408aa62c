// The part of a shared variable that does not depend on its type: a channel of one shared region of `size` bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "loco_sim/loco/membership/channel.hpp"
#include "loco_sim/loco/objects/shared_region.hpp"
#include "loco_sim/loco/operations/ack_key.hpp"

namespace loco {

class shared_bytes : public channel, public shared_region {
 public:
  /// `terms` is a text that must be equal on all nodes, such as who owns the variable (channel::set_terms).
  shared_bytes(within where, std::string_view name, std::uint64_t size, std::optional<expect_num> expected = {},
               std::string terms = {});
};

}  // namespace loco
