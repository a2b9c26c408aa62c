#include "loco_sim/loco/membership/setup_message.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <utility>

#include "loco_sim/loco/errors.hpp"

namespace loco {

namespace {
constexpr std::array<std::string_view, 6> kWords = {"join", "connect", "refuse", "fail", "gone", "again"};

std::string_view word(setup_message::Kind kind) { return kWords.at(static_cast<std::size_t>(kind)); }

/// True if the message carries the reason of a failure instead of regions.
bool has_reason(setup_message::Kind kind) {
  return kind == setup_message::Kind::refuse || kind == setup_message::Kind::fail;
}

setup_message::Kind kind_of(std::string_view text) {
  const auto* const found = std::ranges::find(kWords, text);
  if (found == kWords.end()) throw setup_error("set-up message of unknown kind '" + std::string(text) + "'");
  return static_cast<setup_message::Kind>(found - kWords.begin());
}

bool has_use(setup_message::Kind kind) {
  return kind == setup_message::Kind::join || kind == setup_message::Kind::again;
}
bool has_by(setup_message::Kind kind) {
  return kind == setup_message::Kind::connect || kind == setup_message::Kind::again;
}

/// Removes the text up to the next `end` from the front of `text`, and returns it.
std::string_view take_until(std::string_view& text, char end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return taken;
}

template <typename Number>
bool take_number(std::string_view& text, Number& number) {
  const std::string_view digits = take_until(text, ' ');
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size();
}

void append(std::string& out, std::initializer_list<std::uint64_t> numbers) {
  std::array<char, 20> digits{};  // the longest 64-bit number in decimal
  for (const std::uint64_t number : numbers) {
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out.append(" ").append(digits.data(), end);
  }
}
}  // namespace

// Written by hand for speed: start-up encodes one message per pair of nodes and channel.
std::string encode(const setup_message& message) {
  constexpr std::size_t kMostly = 256;
  std::string out;
  out.reserve(kMostly);
  append(out.append(word(message.kind)).append(" ").append(message.channel), {message.life});
  if (has_use(message.kind)) append(out, {message.use});
  if (has_by(message.kind)) append(out, {message.by});
  if (!message.terms.empty()) out.append(" ").append(message.terms);
  out.append("\n");
  for (const auto& r : message.requests) {
    append(out.append(r.name), {r.size});
    out += '\n';
  }
  for (const auto& o : message.offers) {
    append(out.append(o.name), {o.region.base, o.region.size, o.region.rkey});
    out += '\n';
  }
  if (has_reason(message.kind)) out.append(message.reason).append("\n");
  out.shrink_to_fit();  // many messages may wait in queues
  return out;
}

setup_message decode(std::string_view text) {
  setup_message message;
  std::string_view head = take_until(text, '\n');
  message.kind = kind_of(take_until(head, ' '));
  message.channel = take_until(head, ' ');
  if (!take_number(head, message.life))
    throw setup_error("set-up message for '" + message.channel + "' without a life");
  if (has_use(message.kind) && !take_number(head, message.use))
    throw setup_error("set-up message for '" + message.channel + "' without a use");
  if (has_by(message.kind) && !take_number(head, message.by))
    throw setup_error("set-up message for '" + message.channel + "' without the life that answers");
  message.terms = head;
  const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  if (message.kind == setup_message::Kind::join) message.requests.reserve(lines);
  if (message.kind == setup_message::Kind::connect) message.offers.reserve(lines);
  while (!text.empty()) {
    const std::string_view line = take_until(text, '\n');
    if (has_reason(message.kind)) {
      message.reason = line;
      break;
    }
    std::string_view fields = line;
    std::string name(take_until(fields, ' '));
    bool good = !name.empty();
    if (message.kind == setup_message::Kind::join) {
      region_request& request = message.requests.emplace_back(region_request{.name = std::move(name), .size = 0});
      good = good && take_number(fields, request.size);
    } else {
      region_offer& offer = message.offers.emplace_back(region_offer{.name = std::move(name), .region = {}});
      good = good && take_number(fields, offer.region.base) && take_number(fields, offer.region.size) &&
             take_number(fields, offer.region.rkey);
    }
    if (!good) throw setup_error("set-up message with a bad region line '" + std::string(line) + "'");
  }
  return message;
}

}  // namespace loco
