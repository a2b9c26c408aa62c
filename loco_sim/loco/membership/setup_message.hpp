// The set-up messages of channels (LOCO paper, App. A.2), as text: a line with the kind and the channel, then one line
// per region or a reason. They travel outside the timed data path. A life is the incarnation number of an endpoint on
// its node: in a join and its answers that of the joining endpoint, and `by` is that of the answering one. A use counts
// the endpoints of that name.
//
//   join <channel> <life> <use> [<terms>]    each line: <region> <bytes>
//   connect <channel> <life> <by>            each line: <region> <base> <bytes> <rkey>
//   refuse <channel> <life>                  one line: the reason
//   fail <channel> 0                         one line: the reason
//   again <channel> <number> <step> <by>     each line: <region> <base> <bytes> <rkey>; two managers rejoin, see
//                                            reconnection.hpp
//   gone <channel> <life>                    nothing from the sender writes any more to the regions of the receiver's
//                                            endpoint of that life, neither its programs nor operations in flight
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "loco_sim/loco/transport.hpp"

namespace loco {

/// A memory region of a channel: "bar/sst/ov0" has region "val", in full "bar/sst/ov0.val".
struct region_request {
  std::string name;
  std::uint64_t size = 0;
};

struct region_offer {
  std::string name;
  Region region;
};

struct setup_message {
  enum class Kind : std::uint8_t { join, connect, refuse, fail, gone, again };
  Kind kind = Kind::join;
  std::string channel;
  std::uint32_t life = 0;                     ///< of the endpoint that joins, also in answers; gone: of the receiver's
  std::uint32_t use = 0;                      ///< join: the sender's endpoint is the use-th of that name on its node
  std::uint32_t by = 0;                       ///< connect, again: incarnation of the endpoint that answers
  std::vector<region_request> requests = {};  ///< join: what the sender expects of the receiver
  std::vector<region_offer> offers = {};      ///< connect: regions that the receiver may access
  std::string reason = {};                    ///< refuse, fail
  std::string terms = {};                     ///< join: text that must be equal on both sides; may be empty
};

[[nodiscard]] std::string encode(const setup_message& message);

/// Throws setup_error if the text is not a set-up message.
[[nodiscard]] setup_message decode(std::string_view text);

}  // namespace loco
