// The aNRR subevents of READs that a responder may execute more than once: the first execution to read a word begins
// it. Kept only with the witness, and only for READs that their requester still knows; each READ request tells which
// these are. Private to nic_model/.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "fabric/packet.hpp"
#include "nic_model/verbs.hpp"

namespace loco::nic {

class ReadLog {
 public:
  /// A READ is executed, for the first time as far as this responder knows.
  void begin(const fabric::Packet& request) {
    if (request.source_qp != peer_) reads_.clear();
    peer_ = request.source_qp;
    reads_.try_emplace(request.wqe);
  }
  /// Drops READs that the requester has forgotten, as a new READ request tells. Numbers of work requests wrap.
  void forget_before(const fabric::Packet& request) {
    if (request.source_qp != peer_) return;
    std::erase_if(reads_, [&](const auto& read) { return static_cast<std::int32_t>(read.first - request.oldest) < 0; });
  }
  /// True if the READ is known; its number is that of its work request.
  [[nodiscard]] bool knows(std::uint32_t read) const { return reads_.contains(read); }
  /// The aNRR of a word; 0 if it has none yet.
  [[nodiscard]] SubeventId sampled(std::uint32_t read, Address word) const {
    const auto found = reads_.at(read).find(word);
    return found == reads_.at(read).end() ? 0 : found->second;
  }
  void name(std::uint32_t read, Address word, SubeventId id) { reads_.at(read)[word] = id; }

  bool operator==(const ReadLog&) const = default;

 private:
  QpId peer_ = kNone;
  std::map<std::uint32_t, std::map<Address, SubeventId>> reads_{};
};

}  // namespace loco::nic
