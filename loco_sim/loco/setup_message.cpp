#include "loco_sim/loco/setup_message.hpp"

#include <sstream>

#include "loco_sim/loco/errors.hpp"

namespace loco {

namespace {
std::string_view word(setup_message::Kind kind) {
  switch (kind) {
    case setup_message::Kind::join:
      return "join";
    case setup_message::Kind::connect:
      return "connect";
    case setup_message::Kind::refuse:
      break;
  }
  return "refuse";
}

setup_message::Kind kind_of(const std::string& text) {
  for (const auto kind : {setup_message::Kind::join, setup_message::Kind::connect, setup_message::Kind::refuse})
    if (text == word(kind)) return kind;
  throw setup_error("set-up message of unknown kind '" + text + "'");
}
}  // namespace

std::string encode(const setup_message& message) {
  std::ostringstream out;
  out << word(message.kind) << ' ' << message.channel << '\n';
  for (const auto& r : message.requests) out << r.name << ' ' << r.size << '\n';
  for (const auto& o : message.offers)
    out << o.name << ' ' << o.region.base << ' ' << o.region.size << ' ' << o.region.rkey << '\n';
  if (message.kind == setup_message::Kind::refuse) out << message.reason << '\n';
  return out.str();
}

setup_message decode(std::string_view text) {
  std::istringstream in{std::string(text)};
  setup_message message;
  std::string kind;
  in >> kind >> message.channel;
  message.kind = kind_of(kind);
  in.ignore();
  for (std::string line; std::getline(in, line);) {
    if (message.kind == setup_message::Kind::refuse) {
      message.reason = line;
      break;
    }
    std::istringstream fields(line);
    if (message.kind == setup_message::Kind::join) {
      region_request request;
      fields >> request.name >> request.size;
      message.requests.push_back(request);
    } else {
      region_offer offer;
      fields >> offer.name >> offer.region.base >> offer.region.size >> offer.region.rkey;
      message.offers.push_back(offer);
    }
    if (fields.fail()) throw setup_error("set-up message with a bad region line '" + line + "'");
  }
  return message;
}

}  // namespace loco
