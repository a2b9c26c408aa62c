// How a work request ended: the completion status of verbs, named as ibv_wc_status (IBTA volume 1, section 11.6.2).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace loco::rdma {

enum class Status : std::uint8_t {
  success,
  loc_len_err,
  loc_prot_err,
  wr_flush_err,
  rem_inv_req_err,
  rem_access_err,
  rem_op_err,
  retry_exc_err,
  rnr_retry_exc_err,
};

inline constexpr std::array<std::string_view, 9> kStatusNames = {
    "success",        "loc_len_err", "loc_prot_err",  "wr_flush_err",     "rem_inv_req_err",
    "rem_access_err", "rem_op_err",  "retry_exc_err", "rnr_retry_exc_err"};

[[nodiscard]] constexpr std::string_view name(Status s) { return kStatusNames[static_cast<std::size_t>(s)]; }

/// In words, as ibv_wc_status_str has them.
[[nodiscard]] constexpr std::string_view text(Status s) {
  constexpr std::array<std::string_view, 9> kTexts = {
      "success",
      "local length error",
      "local protection error",
      "Work Request Flushed Error",
      "remote invalid request error",
      "remote access error",
      "remote operation error",
      "transport retry counter exceeded",
      "RNR retry counter exceeded",
  };
  return kTexts[static_cast<std::size_t>(s)];
}

}  // namespace loco::rdma
