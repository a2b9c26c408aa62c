#include "nic_model/engine/payloads.hpp"

#include <span>

namespace loco::nic {

std::uint32_t Payloads::acquire(std::uint32_t size) {
  const std::uint32_t index = buffers_.acquire();
  Buffer& buffer = buffers_[index];
  buffer.references = 1;
  buffer.size = size;
  buffer.in_any_order = false;
  buffer.order.clear();
  if (size > buffer.small.size()) {
    if (size > buffer.large.capacity()) {
      buffer.large.clear();  // what an earlier message left is not worth a copy
      buffer.large_written = false;
    }
    buffer.large.resize(size);
  }
  return index;
}

void Payloads::borrow(std::uint32_t buffer, std::uint32_t offset, std::uint32_t bytes, const ForeignMemory& from,
                      Address address) {
  Loan& loan = buffers_[buffer].loan;
  if (loan.from == &from && loan.end == offset && loan.address + (loan.end - loan.begin) == address) {
    loan.end += bytes;
    return;
  }
  static_cast<void>(edit(buffer));  // it is not blank any more, and has nothing of another loan
  loan = {&from, address, offset, offset + bytes};
  borrowers_.push_back(buffer);
}

bool Payloads::pass_on(std::uint32_t buffer, std::uint32_t offset, std::uint32_t bytes, ForeignMemory& to,
                       Address address) {
  Loan& loan = buffers_[buffer].loan;
  if (loan.from == nullptr || offset < loan.begin || offset + bytes > loan.end) return false;
  loan.from->copy(loan.address + (offset - loan.begin), bytes, to, address);
  if (offset != loan.begin) return true;
  loan.begin += bytes;
  loan.address += bytes;
  if (loan.begin == loan.end) forget(buffer);
  return true;
}

void Payloads::fetch_loan(std::uint32_t buffer) {
  Buffer& b = buffers_[buffer];
  const Loan loan = b.loan;
  forget(buffer);
  loan.from->read(loan.address, std::span(b.edit() + loan.begin, loan.end - loan.begin));
}

void Payloads::fetch_those_from(const ForeignMemory& memory, Address address, std::uint64_t size) {
  for (std::size_t i = borrowers_.size(); i > 0; --i) {
    const Loan& loan = buffers_[borrowers_[i - 1]].loan;
    const bool overlaps = loan.address < address + size && address < loan.address + (loan.end - loan.begin);
    if (loan.from == &memory && overlaps) fetch(borrowers_[i - 1]);
  }
}

void Payloads::forget(std::uint32_t buffer) {
  buffers_[buffer].loan = {};
  std::erase(borrowers_, buffer);
}

}  // namespace loco::nic
