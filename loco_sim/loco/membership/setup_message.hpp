// The set-up messages of channels (LOCO paper, App. A.2), as text: one line for the kind and the channel, one line a
// region. They travel outside the timed data path. A life is the number of an endpoint on its node: in a join and its
// answers that of the one that joins, `by` that of the one that answers. A use counts the endpoints of that name.
//
//   join <channel> <life> <use> [<terms>]   connect <channel> <life> <by>     refuse <channel> <life>   fail <channel>
//   0 <region> <bytes>                        <region> <base> <bytes> <rkey>    <reason, one line>        <reason, one
//   line>
//
//   again <channel> <number> <step> <by>    two managers take each other back: reconnection.hpp
//   <region> <base> <bytes> <rkey>
//
//   gone <channel> <life>                   the receiver's endpoint of that life, whose regions the sender had, is not
//                                           written to any more: neither by its programs nor by what they have posted
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
  std::uint32_t life = 0;                     ///< of the endpoint that joins, in answers, too; gone: the receiver's
  std::uint32_t use = 0;                      ///< join: the how-manieth endpoint of that name its node has
  std::uint32_t by = 0;                       ///< connect, again: the life of the endpoint that answers
  std::vector<region_request> requests = {};  ///< join: what the sender expects of the receiver
  std::vector<region_offer> offers = {};      ///< connect: what the sender lets the receiver access
  std::string reason = {};                    ///< refuse, fail
  std::string terms = {};                     ///< join: what both sides must say alike, for people; may be empty
};

[[nodiscard]] std::string encode(const setup_message& message);

/// Throws setup_error when the text is not a set-up message.
[[nodiscard]] setup_message decode(std::string_view text);

}  // namespace loco
