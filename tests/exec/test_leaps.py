"""The middle of long messages is left out: all that programs and the report see is as if it were simulated.

Faults made on purpose in a copy of the simulator, and how many of 24 tests (without the long ones) see them:

| fault | seen by |
|---|---|
| a leap is a packet too long, or its time a segment too short | 18 |
| steps of reading that were carried on are not counted | 18 |
| times of payloads read are not taken back by the leap's | 17 |
| reading is carried on for 1 us less | both that change memory |
| the reading of queued payloads goes on 1 ns late | one that changes memory |
| the PCIe link keeps its times of before the leap | two: SENDs queued behind each other, changing memory |
| what the NIC has read is copied from memory, as that is at the leap | both that change memory |
| what the NIC has read behind a leap is read again | one that changes memory |
| a SEND's packets behind a leap are placed as far forward as their offsets say | two, of bytes |
| a receive's completion has a length without what was left out | two, of bytes |
"""

import random

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
@pytest.mark.parametrize("tool", ["ib_write_lat", "ib_send_lat"])
def test_a_ping_pong_of_long_messages(run, tool):
    left_out = compare(run, f"{tool} -s 4194304 -n 6", f"{tool} -s 4194304 -n 6 node0")
    assert left_out >= 2 * 5 * (4096 - 9 * 32)


# The same of messages that are queued behind each other, whose payloads are read meanwhile: of 2 MiB, at least
# 2048 - 9 * 32 are left out. Where the receiver's program has its turns, and in the message before which a completion
# comes, a segment or two more are simulated.
@pytest.mark.parametrize("tool", ["ib_write_bw", "ib_send_bw"])
def test_messages_queued_behind_each_other(run, tool):
    left_out = compare(run, f"{tool} -s 2097152 -n 16", f"{tool} -s 2097152 -n 16 node0")
    assert left_out >= 14 * (2048 - 11 * 32)


@pytest.mark.parametrize("hardware", ["cx5-roce-25g", "cx6-ib-hdr-metal", "cx3-ib-qdr", "cx7-ib-ndr"])
def test_other_hardware(run, hardware):
    compare(run, "ib_write_lat -s 1048576 -n 5", "ib_write_lat -s 1048576 -n 5 node0", options=("--hardware", hardware))


@pytest.mark.parametrize("words", ["-s 4194304 -n 5 -t 1", "-s 3000001 -n 5 -t 2", "-s 524288 -n 8 -q 2",
                                   "-b -s 1048576 -n 5", "-s 65536 -n 60"])
def test_bandwidth(run, words):
    compare(run, f"ib_write_bw {words}", f"ib_write_bw {words} node0")


@pytest.mark.parametrize("key", ["link.mtu=4096", "nic.ack_coalescing=8", "nic.translation_page=256KiB",
                                 "nic.ack_timeout=131072ns"])
def test_other_settings(run, key):
    words = "ib_write_lat -s 4194304 -n 5" + (" -m 4096" if "mtu" in key else "")
    compare(run, words, f"{words} node0", options=("--set", key))


# Programs that connect by a socket and have a queue pair each.
SETUP = """
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
struct side { unsigned qpn, rkey; unsigned long address; union ibv_gid gid; };
static unsigned char *memory;
static struct ibv_mr *mr;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct side other;
static int s;
static void must(int good) { if (!good) { perror("setup"); exit(3); } }
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
static void set_up(const char *server, unsigned long bytes) {
  int n;
  struct ibv_context *context = ibv_open_device(ibv_get_device_list(&n)[0]);
  struct ibv_pd *pd = ibv_alloc_pd(context);
  must(posix_memalign((void **)&memory, 4096, bytes) == 0);
  memset(memory, 0, bytes);
  mr = ibv_reg_mr(pd, memory, bytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  cq = ibv_create_cq(context, 16, NULL, NULL, 0);
  struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
                                  .cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1}};
  qp = ibv_create_qp(pd, &init);
  must(qp != NULL);
  struct side mine = {qp->qp_num, mr->rkey, (unsigned long)memory};
  must(ibv_query_gid(context, 1, 0, &mine.gid) == 0);
  s = meet(server);
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
}
static void receive(unsigned long at, unsigned bytes) {
  struct ibv_sge to = {(unsigned long)memory + at, bytes, mr->lkey};
  struct ibv_recv_wr w = {.sg_list = &to, .num_sge = 1}, *bad;
  must(ibv_post_recv(qp, &w, &bad) == 0);
}
static void post(enum ibv_wr_opcode what, unsigned bytes, unsigned long to) {
  struct ibv_sge from = {(unsigned long)memory, bytes, mr->lkey};
  struct ibv_send_wr w = {.sg_list = &from, .num_sge = 1, .opcode = what, .send_flags = IBV_SEND_SIGNALED,
                          .wr.rdma = {other.address + to, other.rkey}}, *bad;
  must(ibv_post_send(qp, &w, &bad) == 0);
}
static unsigned completion(void) {
  struct ibv_wc wc;
  while (!ibv_poll_cq(cq, 1, &wc)) {}
  return wc.status == 0 ? wc.byte_len : 0;
}
"""

# The client sends messages of changing bytes; the server waits for the last one in its memory, or for the completion of
# a receive that is longer than the message, and compares all of them.
BYTES = SETUP + """
enum { BYTES = 3000001, OFFSET = 7, ROUNDS = 4 };
static unsigned char byte(long i, int round) { return (i * 31 + i / 251 + 17 * round) | 1; }
int main(int argc, char **argv) {
  set_up(argv[1], BYTES + 8192);
  char token = 0;
  for (int round = 0; round < ROUNDS; ++round) {
    if (argv[1] == NULL) {
      if (WHAT == IBV_WR_SEND) receive(OFFSET, BYTES + 99);
      must(write(s, &token, 1) == 1);
      volatile unsigned char *last = memory + OFFSET + BYTES - 1;
      if (WHAT == IBV_WR_SEND) must(completion() == BYTES);
      while (*last != byte(BYTES - 1, round)) {}
      long wrong = memory[OFFSET - 1] + memory[OFFSET + BYTES];
      for (long i = 0; i < BYTES; ++i) wrong += memory[OFFSET + i] != byte(i, round);
      printf("%ld ", wrong);
    } else {
      for (long i = 0; i < BYTES; ++i) memory[i] = byte(i, round);
      must(read(s, &token, 1) == 1);
      post(WHAT, BYTES, OFFSET);
      printf("%u ", completion());
    }
  }
  return 0;
}
"""


@pytest.mark.parametrize("what", ["IBV_WR_RDMA_WRITE", "IBV_WR_SEND"])
def test_bytes_that_are_left_out(run, compiled, what):
    # Neither end of the message is at a word, a TLP or a page.
    program = compiled(BYTES, "-DWHAT=" + what, "-libverbs")
    left_out = compare(run, program, f"{program} node0")
    r = run(program, f"{program} node0").ends_well()
    assert r.out == {0: "0 0 0 0 ", 1: "3000001 " * 4}
    assert left_out >= 3 * (3000001 // 1024 - 9 * 32)


# The client posts messages from one place and, against the rules, changes that at each completion, while the NIC reads
# for the messages behind. What comes of each message is what the NIC has read by then: the server prints where the
# bytes of each change.
RACE = SETUP + """
enum { BYTES = 2000003, MESSAGES = 6 };
int main(int argc, char **argv) {
  set_up(argv[1], (unsigned long)MESSAGES * BYTES + 8192);
  char token = 0;
  if (argv[1] == NULL) {
    for (int m = 0; m < MESSAGES; ++m)
      if (WHAT == IBV_WR_SEND) receive((unsigned long)m * BYTES, BYTES);
    must(write(s, &token, 1) == 1);
    for (int m = 0; m < MESSAGES && WHAT == IBV_WR_SEND; ++m) must(completion() == BYTES);
    must(read(s, &token, 1) == 1);
    for (int m = 0; m < MESSAGES; ++m) {
      unsigned char *at = memory + (unsigned long)m * BYTES;
      printf("%d", at[0]);
      for (long i = 1; i < BYTES; ++i)
        if (at[i] != at[i - 1]) printf(",%ld:%d", i, at[i]);
      printf(" ");
    }
  } else {
    must(read(s, &token, 1) == 1);
    for (int m = 0; m < MESSAGES; ++m) post(WHAT, BYTES, (unsigned long)m * BYTES);
    for (int m = 0; m < MESSAGES; ++m) {
      must(completion() == BYTES);
      memset(memory, m + 1, BYTES);
    }
    must(write(s, &token, 1) == 1);
  }
  return 0;
}
"""


@pytest.mark.parametrize("what", ["IBV_WR_RDMA_WRITE", "IBV_WR_SEND"])
def test_memory_that_changes_while_it_is_sent(run, compiled, what):
    program = compiled(RACE, "-DWHAT=" + what, "-libverbs")
    left_out = compare(run, program, f"{program} node0")
    printed = run(program, f"{program} node0").ends_well().out[0].split()
    assert len(printed) == 6 and any("," in message for message in printed)  # some message has bytes of two moments
    assert left_out >= 5 * (2000003 // 1024 - 11 * 32)


def drawn(seed: int) -> tuple[str, tuple]:
    """The words of a program and options of the run."""
    r = random.Random(seed)
    tool = r.choice(["ib_write_bw", "ib_send_bw", "ib_write_bw", "ib_send_bw", "ib_write_lat", "ib_send_lat"])
    size = r.choice([r.randrange(500_000, 6_000_000), r.randrange(3, 24) << 18, r.randrange(700_000, 3_000_000)])
    at_once = r.choice([1, 1, 1, 2, 4]) if tool.endswith("bw") else 1
    count = max(8, r.randrange(20_000_000, 60_000_000) // size // at_once * at_once)
    words = f"{tool} -s {size} -m {r.choice([1024, 1024, 2048, 4096, 512])} -n {count}"
    hardware = ["cx5-roce-100g", "cx5-roce-25g", "cx6-ib-hdr-metal", "cx3-ib-qdr", "cx7-ib-ndr"]
    if tool.endswith("bw"):
        more = ["", "", "", f" -t {r.randrange(1, 40)}", f" -Q {r.randrange(1, 9)}", " -b", " -q 2"]
        words += f" -l {at_once}" if at_once > 1 else r.choice(more)
        hardware += ["cx4-ib-edr", "cx6-ib-hdr"]  # which take no inline payload as long as ib_write_lat has it
    if tool == "ib_send_bw":
        words += r.choice(["", "", f" -r {r.randrange(4, 20)}"])
    options = ["--hardware", r.choice(hardware), "--set", "link.mtu=4096"]
    for key in ["nic.ack_coalescing=8", "nic.translation_page=256KiB", "pcie.tags=32", "pcie.read_completion=64",
                "pcie.mps=128", "pcie.mrrs=1024", "nic.ack_timeout=131072ns", "pcie.read_interval=40ns"]:
        if r.random() < 0.15:
            options += ["--set", key]
    return words, tuple(options)


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(1, 60))])
def test_drawn(run, seed):
    words, options = drawn(seed)
    compare(run, words, f"{words} node0", options=options)
