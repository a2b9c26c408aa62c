#include "exec/recorder.hpp"

#include <cerrno>
#include <fmt/format.h>
#include <system_error>

namespace loco::exec {

Recorder::Recorder(const std::string& record, const std::string& compare) {
  if (!record.empty()) {
    out_.open(record, std::ios::trunc);
    if (!out_) throw std::system_error(errno, std::generic_category(), record);
  }
  if (!compare.empty()) {
    in_.open(compare);
    if (!in_) throw std::system_error(errno, std::generic_category(), compare);
  }
}

void Recorder::note(std::uint32_t host, std::uint32_t thread, const Channel& c) {
  constexpr std::uint64_t kPrime = 0x100000001b3ULL;  // FNV-1a (Fowler, Noll, Vo), of words
  const auto add = [this](std::uint64_t word) { hash_ = (hash_ ^ word) * kPrime; };
  add(std::uint64_t{host} << 32U | thread);
  add(static_cast<std::uint64_t>(c.request));
  add(static_cast<std::uint64_t>(c.now_ps + c.ahead_ps));
  add(c.posts_bytes);
  // The arguments of a start are numbers of the kernel, which vary.
  const bool plain =
      c.request != Request::start && c.request != Request::thread_start && c.request != Request::process_start;
  if (plain)
    for (const std::uint64_t argument : c.arguments) add(argument);
  ++number_;
  if (!out_.is_open() && !in_.is_open()) return;
  const std::string line =
      fmt::format("{} ps host {} thread {}: {}{}{}", c.now_ps + c.ahead_ps, host, thread,
                  kRequestNames[static_cast<std::size_t>(c.request)],
                  plain ? fmt::format(" {:x} {:x} {:x} {:x} {:x} {:x} posts {}", c.arguments[0], c.arguments[1],
                                      c.arguments[2], c.arguments[3], c.arguments[4], c.arguments[5], c.posts_bytes)
                        : "",
                  c.request == Request::note ? fmt::format(" ({})", static_cast<const char*>(c.data)) : "");
  if (out_.is_open()) out_ << line << '\n';
  std::string then;
  if (!in_.is_open() || !difference_.empty()) return;
  if (!std::getline(in_, then)) then = "nothing";
  if (then != line) difference_ = fmt::format("change {}: then {}, now {}", number_, then, line);
}

void Recorder::end() {
  std::string then;
  if (in_.is_open() && difference_.empty() && std::getline(in_, then))
    difference_ = fmt::format("change {}: then {}, now nothing", number_ + 1, then);
  out_.close();
}

std::string Recorder::fingerprint() const { return fmt::format("{:016x}", hash_); }

}  // namespace loco::exec
