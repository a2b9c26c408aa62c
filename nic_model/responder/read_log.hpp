// READs that a responder may execute more than once: the aNRR that each of their words has in the trace, which the
// first execution to read the word has begun. Kept with the witness only, for READs that their requester still knows
// of: each READ request says which these are. Private to nic_model/.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "fabric/packet.hpp"
#include "nic_model/verbs.hpp"

namespace loco::nic {

class ReadLog {
 public:
  /// A READ is executed for the first time, as far as this responder knows.
  void begin(const fabric::Packet& request) {
    if (request.source_qp != peer_) reads_.clear();
    peer_ = request.source_qp;
    reads_.try_emplace(request.wqe);
  }
  /// A READ request has come: earlier ones are known to nobody any more. Numbers of work requests wrap.
  void forget_before(const fabric::Packet& request) {
    if (request.source_qp != peer_) return;
    std::erase_if(reads_, [&](const auto& read) { return static_cast<std::int32_t>(read.first - request.oldest) < 0; });
  }
  /// Is there such a READ? Its number is that of its work request.
  [[nodiscard]] bool knows(std::uint32_t read) const { return reads_.contains(read); }
  /// The aNRR of a word; 0: none yet.
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
