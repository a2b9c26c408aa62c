// How units hash records that several of them hold: see System::behaviour_hash. Private to nic_model/.
#pragma once

#include "nic_model/engine/hash.hpp"
#include "nic_model/engine/payloads.hpp"
#include "nic_model/verbs.hpp"

namespace loco::nic {

/// Hashes `length` bytes of a buffer from `from` on; nothing for kNoBuffer.
inline void add_payload(Hasher& h, const Payloads& payloads, std::uint32_t buffer, std::uint32_t from,
                        std::uint32_t length) {
  if (buffer == fabric::kNoBuffer) return;
  const std::byte* bytes = payloads.data_at(buffer, from);
  for (std::uint32_t i = 0; i < length; i += 8) {
    std::uint64_t word = 0;
    for (std::uint32_t k = 0; k < 8 && i + k < length; ++k) {
      word |= static_cast<std::uint64_t>(bytes[i + k]) << (8 * k);
    }
    h.add(word);
  }
}

/// Hashes a buffer into which memory is being read: its first `read` bytes if it is read in order, otherwise all of it.
inline void add_part_read(Hasher& h, const Payloads& payloads, std::uint32_t buffer, std::uint32_t read) {
  const bool any = payloads.in_any_order(buffer);
  add_payload(h, payloads, buffer, 0, any ? payloads.size(buffer) : read);
  if (any) {
    for (std::uint32_t i = 0; i * 8 < read; ++i) h.add(payloads.word_read(buffer, i));
  }
}

inline void add_packet(Hasher& h, const Payloads& payloads, const fabric::Packet& p) {
  h.add_all(p.source_qp, p.opcode, p.first, p.last, p.nak, p.immediate, p.ack_request, p.psn.value(), p.wqe, p.rkey,
            p.offset, p.length, p.total, p.address, p.a, p.b);
  add_payload(h, payloads, p.buffer, p.offset, p.length);
}

inline void add_wqe(Hasher& h, const Wqe& w) {
  h.add_all(w.wr_id, w.opcode, w.signaled, w.fence, w.inline_data, w.length, w.lkey, w.rkey, w.local, w.remote,
            w.compare_add, w.swap, w.with_imm, w.imm, w.remote_qp, w.remote_qkey, w.gather);
}

inline void add_cqe(Hasher& h, const Cqe& c) {
  h.add_all(c.wr_id, c.qp, c.opcode, c.status, c.length, c.with_imm, c.imm, c.source_qp, c.wqe);
}

inline void add_receive(Hasher& h, const RecvWqe& w) { h.add_all(w.wr_id, w.address, w.length, w.lkey); }

}  // namespace loco::nic
