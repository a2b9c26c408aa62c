"""The middle of long WRITEs is left out: all that programs and the report see is as if it were simulated."""

import pytest

from .conftest import needs_shim

pytestmark = needs_shim


def everything(r) -> tuple:
    """All of a run that may not depend on whether packets were left out."""
    assert r.returncode == 0, (r.stderr, r.err, r.report.get("failure"))
    return r.printed(), r.report["counters"], r.report["changes"]


def compare(run, *programs: str, options: tuple = ()) -> int:
    """Runs with and without what is left out, which may make no difference. Returns how many packets that were."""
    whole = run(*programs, options=(*options, "--every-packet"))
    short = run(*programs, options=options)
    assert whole.report["packets_left_out"] == 0
    assert everything(short) == everything(whole)
    return short.report["packets_left_out"]


# A message of b bytes has b / 1024 packets. At most 5 segments at its begin, 3 at its end and what does not fill a
# segment of 32 packets are simulated: of 4 MiB, 4096 packets, at least 4096 - 9 * 32 are left out, where the receiver's
# NIC holds all translations (which the first message to a page brings).
def test_a_ping_pong_of_long_messages(run):
    left_out = compare(run, "ib_write_lat -s 4194304 -n 6", "ib_write_lat -s 4194304 -n 6 node0")
    assert left_out >= 2 * 5 * (4096 - 9 * 32)


@pytest.mark.parametrize("hardware", ["cx5-roce-25g", "cx6-ib-hdr-metal", "cx3-ib-qdr", "cx7-ib-ndr"])
def test_other_hardware(run, hardware):
    compare(run, "ib_write_lat -s 2097152 -n 5", "ib_write_lat -s 2097152 -n 5 node0", options=("--hardware", hardware))


@pytest.mark.parametrize("words", ["-s 8388608 -n 5 -t 1", "-s 8388608 -n 6", "-s 3000001 -n 5 -t 2", "-s 1048576 -n 20 -q 2",
                                   "-b -s 4194304 -n 5", "-s 65536 -n 60"])
def test_bandwidth(run, words):
    compare(run, f"ib_write_bw {words}", f"ib_write_bw {words} node0")


@pytest.mark.parametrize("key", ["link.mtu=4096", "nic.ack_coalescing=8", "nic.translation_page=256KiB",
                                 "nic.ack_timeout=131072ns"])
def test_other_settings(run, key):
    words = "ib_write_lat -s 4194304 -n 5" + (" -m 4096" if "mtu" in key else "")
    compare(run, words, f"{words} node0", options=("--set", key))


# Two programs that connect by a socket. The client WRITEs messages of changing bytes; the server waits for the last one
# in its memory, and compares all of them.
BYTES = """
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
enum { BYTES = 3000001, OFFSET = 7, ROUNDS = 4 };
struct side { unsigned qpn, rkey; unsigned long address; union ibv_gid gid; };
static unsigned char *memory;
static void must(int good) { if (!good) { perror("setup"); exit(3); } }
static unsigned char byte(long i, int round) { return (i * 31 + i / 251 + 17 * round) | 1; }
static int meet(const char *server) {
  int s = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(18000)};
  if (server == NULL) {
    must(bind(s, (void *)&a, sizeof a) == 0 && listen(s, 1) == 0);
    return accept(s, NULL, NULL);
  }
  struct hostent *h = gethostbyname(server);
  memcpy(&a.sin_addr, h->h_addr_list[0], 4);
  must(connect(s, (void *)&a, sizeof a) == 0);
  return s;
}
int main(int argc, char **argv) {
  int n;
  struct ibv_context *context = ibv_open_device(ibv_get_device_list(&n)[0]);
  struct ibv_pd *pd = ibv_alloc_pd(context);
  must(posix_memalign((void **)&memory, 4096, BYTES + 8192) == 0);
  memset(memory, 0, BYTES + 8192);
  struct ibv_mr *mr = ibv_reg_mr(pd, memory, BYTES + 8192, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, NULL, 0);
  struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
                                  .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};
  struct ibv_qp *qp = ibv_create_qp(pd, &init);
  must(qp != NULL);
  struct side mine = {qp->qp_num, mr->rkey, (unsigned long)memory}, other;
  must(ibv_query_gid(context, 1, 0, &mine.gid) == 0);
  int s = meet(argv[1]);
  must(write(s, &mine, sizeof mine) == sizeof mine && read(s, &other, sizeof other) == sizeof other);
  struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
  must(ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
  struct ibv_qp_attr b = {.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = other.qpn,
                          .max_dest_rd_atomic = 1, .min_rnr_timer = 12,
                          .ah_attr = {.is_global = 1, .port_num = 1, .grh.dgid = other.gid}};
  must(ibv_modify_qp(qp, &b, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0);
  struct ibv_qp_attr c = {.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1};
  must(ibv_modify_qp(qp, &c, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                                 IBV_QP_MAX_QP_RD_ATOMIC) == 0);
  char token = 0;
  for (int round = 0; round < ROUNDS; ++round) {
    if (argv[1] == NULL) {
      must(write(s, &token, 1) == 1);
      volatile unsigned char *last = memory + OFFSET + BYTES - 1;
      while (*last != byte(BYTES - 1, round)) {}
      long wrong = memory[OFFSET - 1] + memory[OFFSET + BYTES];
      for (long i = 0; i < BYTES; ++i) wrong += memory[OFFSET + i] != byte(i, round);
      printf("%ld ", wrong);
    } else {
      for (long i = 0; i < BYTES; ++i) memory[i] = byte(i, round);
      must(read(s, &token, 1) == 1);
      struct ibv_sge from = {(unsigned long)memory, BYTES, mr->lkey};
      struct ibv_send_wr w = {.sg_list = &from, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
                              .send_flags = IBV_SEND_SIGNALED, .wr.rdma = {other.address + OFFSET, other.rkey}}, *bad;
      must(ibv_post_send(qp, &w, &bad) == 0);
      struct ibv_wc wc;
      while (!ibv_poll_cq(cq, 1, &wc)) {}
      printf("%d %u ", wc.status, wc.byte_len);
    }
  }
  return 0;
}
"""


def test_bytes_that_are_left_out(run, compiled):
    # Neither end of the WRITE is at a word, a TLP or a page.
    program = compiled(BYTES)
    left_out = compare(run, program, f"{program} node0")
    r = run(program, f"{program} node0").ends_well()
    assert r.out == {0: "0 0 0 0 ", 1: "0 3000001 " * 4}
    assert left_out >= 3 * (3000001 // 1024 - 9 * 32)
