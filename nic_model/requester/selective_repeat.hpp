// Selective repeat: which PSNs of a queue pair have to be sent again, and no others (nic.recovery).
//
// As IRN does it (Mittal et al., "Revisiting Network Support for RDMA", SIGCOMM 2018, section 3; ConnectX NICs have
// such a mode, selective_repeat in their ROCE_ACCL register; SRD: Shalev et al., "A Cloud-Optimized Transport Protocol
// for Elastic and Scalable HPC", IEEE Micro 2020). A responder says of each request that comes behind a gap which one
// has come, and what is missing. A packet is lost when one that was sent later has come: what is sent again is sent
// later, so that its loss is noticed, too. Answers are data of READs and results of atomics; they leave the responder
// in the order in which requests were taken, so one is lost when the answer to a request that was sent later has come.
// With a tolerance, "later" is by more than that: networks with several paths reorder.
//
// A packet that a switch has trimmed is lost, and known to be. Sent again at once and trimmed again for ever, such
// packets' headers can take so much of a port that no data leaves it (docs/transports.md). So they back off.
//
// What is not noticed is the loss of the last packets: there the timer helps (retransmit.cpp). What is repeated without
// need does no harm: responders take each PSN once. An answer that comes sooner after a repetition than any has come
// yet is to what was sent before: it says nothing of what was sent in between (as in RACK, RFC 8985, section 6.2).
// Private to nic_model/.
#pragma once

#include <array>
#include <cstdint>

#include "fabric/packet.hpp"
#include "nic_model/engine/hash.hpp"
#include "sim/ring.hpp"
#include "sim/time.hpp"

namespace loco::nic {

class SelectiveRepeat {
 public:
  /// What answers a PSN: an ACK, of many PSNs at once; data, in the order of the requests; the data of a READ that is
  /// executed as it comes.
  enum class Answer : std::uint8_t { ack, in_turn, as_it_comes };

  /// A request has been sent, or sent again, that takes [psn, psn + count).
  void sent(fabric::Psn psn, std::uint32_t count, Answer answer, sim::SimTime at, std::uint16_t entropy = 0);
  /// Everything before una is done with.
  void forget_before(fabric::Psn una);
  void clear();

  /// When an answer has come, and how much later than others a packet may come.
  struct Seen {
    sim::SimTime now{};
    sim::Duration tolerance{};
  };
  /// Request `psn` has reached the responder, and so has everything before `missing`.
  void reached(fabric::Psn psn, fabric::Psn missing, const Seen& seen);
  /// Of this packet only the headers have come. Trimmed again, it waits, and with it whatever is to be sent again:
  /// `most` at most.
  void trimmed(fabric::Psn psn, sim::SimTime now, sim::Duration most);
  /// Of these packets none was taken that is not known to have come.
  void lose_all_of(fabric::Psn psn, std::uint32_t count);
  /// Data for `psn` has come.
  void answered(fabric::Psn psn);
  /// An answer has come to `psn`: those to requests that were sent earlier are lost if they have not come.
  /// `as_it_comes`: it says so of the data of READs only.
  void answer_seen(fabric::Psn psn, bool as_it_comes, const Seen& seen);
  /// There was no answer for a long time: everything is lost that is not known to have come, `all`: that, too.
  void time_out(bool all);

  /// Is there something to send again?
  [[nodiscard]] bool pending() const { return !repeats_.empty(); }
  /// The next PSN to be sent again, and how many from there on are lost, `most` of them at most, which the request of a
  /// READ may ask for at once. They are lost no more. Precondition: pending().
  [[nodiscard]] fabric::Psn next() const { return repeats_.front(); }
  /// With which entropy it was sent last.
  [[nodiscard]] std::uint16_t entropy_of(fabric::Psn psn) const { return at(psn).entropy; }
  std::uint32_t take(std::uint32_t most);
  /// From then on: what was trimmed again has waited.
  [[nodiscard]] sim::SimTime from() const { return from_; }

  /// What is to be sent again, oldest first.
  [[nodiscard]] const sim::Ring<fabric::Psn>& lost() const { return repeats_; }

  void hash(Hasher& h) const;
  /// Is each PSN to be sent again known, and lost?
  [[nodiscard]] bool consistent() const;
  bool operator==(const SelectiveRepeat&) const = default;

 private:
  enum class Where : std::uint8_t { on_its_way, there, done, lost };

  struct Tracked {
    sim::SimTime at{};        // sent last
    std::uint32_t count = 1;  // PSNs of the request that begins here
    std::uint16_t entropy = 0;
    Where where = Where::on_its_way;
    Answer answer = Answer::ack;
    bool again = false;      // sent more than once
    std::uint8_t trims = 0;  // sendings that only the headers have come of

    bool operator==(const Tracked&) const = default;
  };

  /// A request as it was sent, in the order of sending.
  struct Sending {
    fabric::Psn psn{};
    std::uint32_t count = 1;
    sim::SimTime at{};

    bool operator==(const Sending&) const = default;
  };

  [[nodiscard]] bool knows(fabric::Psn psn) const;
  [[nodiscard]] Tracked& at(fabric::Psn psn) { return psns_[static_cast<std::size_t>(psn.distance(base_))]; }
  [[nodiscard]] const Tracked& at(fabric::Psn psn) const {
    return psns_[static_cast<std::size_t>(psn.distance(base_))];
  }
  void is_there(fabric::Psn psn);
  void lose(fabric::Psn psn);
  [[nodiscard]] bool tells_of_others(fabric::Psn psn, sim::SimTime now);
  void lose_requests(fabric::Psn psn, sim::Duration tolerance);
  void lose_answers(sim::Ring<Sending>& asked, fabric::Psn psn, sim::Duration tolerance);
  void lose_newest();
  void drop_forgotten();

  fabric::Psn base_{};  // of psns_[0]
  sim::Ring<Tracked> psns_{};
  fabric::Psn there_{};                        // everything before it has reached the responder
  sim::Ring<Sending> requests_{};              // that are not known to be there, or lost
  std::array<sim::Ring<Sending>, 2> asked_{};  // whose data has not all come; the second: as it comes
  sim::Ring<fabric::Psn> repeats_{};
  sim::SimTime from_{};
  sim::Duration shortest_{};  // from sending to an answer, of what was sent once; 0: none yet
};

}  // namespace loco::nic
