"""Programs in scenarios: hosts that differ, several NICs, failures from which a program recovers."""

import re
import shutil
import subprocess

import pytest

from .conftest import LOCO_SIM, ROOT, needs_shim

pytestmark = needs_shim

OPEN = """
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
static void must(int good, const char *what) { if (!good) { perror(what); exit(3); } }
/* A connection between the two hosts: host 1 connects. */
static int meet(const char *server) {
  static int port = 7471;
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port++)};
  int s = socket(AF_INET, SOCK_STREAM, 0);
  if (server != NULL) {
    memcpy(&a.sin_addr, gethostbyname(server)->h_addr, 4);
    must(connect(s, (void *)&a, sizeof a) == 0, "connect");
    return s;
  }
  must(bind(s, (void *)&a, sizeof a) == 0 && listen(s, 1) == 0, "listen");
  return accept(s, NULL, NULL);
}
struct end { unsigned qpn, rkey; unsigned long address; };
static struct end exchange(int s, struct end mine) {
  struct end theirs;
  must(send(s, &mine, sizeof mine, 0) == sizeof mine && recv(s, &theirs, sizeof theirs, MSG_WAITALL) == sizeof theirs, "exchange");
  return theirs;
}
static long buffer[16] __attribute__((aligned(64)));
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static struct ibv_qp *make(int nic) {
  int n;
  struct ibv_device **all = ibv_get_device_list(&n);
  must(nic < n, "device");
  struct ibv_context *c = ibv_open_device(all[nic]);
  struct ibv_pd *pd = ibv_alloc_pd(c);
  mr = ibv_reg_mr(pd, buffer, sizeof buffer, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  cq = ibv_create_cq(c, 64, NULL, NULL, 0);
  struct ibv_qp_init_attr a = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
                               .cap = {.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1}};
  struct ibv_qp *qp = ibv_create_qp(pd, &a);
  must(qp != NULL, "queue pair");
  return qp;
}
/* From whatever state it is in, by RESET. */
static void connect_to(struct ibv_qp *qp, unsigned qpn) {
  struct ibv_qp_attr r = {.qp_state = IBV_QPS_RESET};
  must(ibv_modify_qp(qp, &r, IBV_QP_STATE) == 0, "RESET");
  struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
  must(ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0, "INIT");
  struct ibv_qp_attr b = {.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = qpn, .max_dest_rd_atomic = 1,
                          .min_rnr_timer = 12, .ah_attr = {.is_global = 1, .port_num = 1}};
  must(ibv_modify_qp(qp, &b, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0, "RTR");
  struct ibv_qp_attr d = {.qp_state = IBV_QPS_RTS, .timeout = 8, .retry_cnt = 2, .rnr_retry = 7, .max_rd_atomic = 1};
  must(ibv_modify_qp(qp, &d, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                                 IBV_QP_MAX_QP_RD_ATOMIC) == 0, "RTS");
}
static int write_to(struct ibv_qp *qp, struct end to, long value) {
  buffer[0] = value;
  struct ibv_sge s = {(unsigned long)buffer, 8, mr->lkey};
  struct ibv_send_wr w = {.sg_list = &s, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
                          .wr.rdma = {to.address + 64, to.rkey}}, *bad;
  struct ibv_wc wc;
  must(ibv_post_send(qp, &w, &bad) == 0, "post");
  while (!ibv_poll_cq(cq, 1, &wc)) {}
  return wc.status;
}
static long us(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000 + t.tv_nsec / 1000; }
"""


def scenario(tmp_path, text: str) -> tuple[list[str], subprocess.CompletedProcess]:
    """What the two programs print, and the run."""
    (tmp_path / "s.yaml").write_text(text)
    done = subprocess.run([LOCO_SIM, "exec", "--output", str(tmp_path), str(tmp_path / "s.yaml")], capture_output=True, text=True, timeout=120)
    return [(tmp_path / f"out.{host}").read_text() for host in (0, 1)], done


def test_a_queue_pair_is_repaired_after_a_flap(compiled, tmp_path):
    # The cable is down from 3 to 20 ms. A WRITE is repeated twice, each after 4.096 us * 2^8 = 1.05 ms at least, and
    # then the queue pair is in ERROR; the program waits for PORT_ACTIVE and goes through RESET, INIT, RTR and RTS.
    program = compiled(OPEN + """
        int main(int argc, char **argv) {
          struct ibv_qp *qp = make(0);
          int s = meet(argc > 1 ? argv[1] : NULL), again = 0, status;
          struct end to = exchange(s, (struct end){qp->qp_num, mr->rkey, (unsigned long)buffer});
          connect_to(qp, to.qpn);
          exchange(s, to);
          if (argc == 1) {  /* who is written to repairs its end, too */
            exchange(s, to);
            connect_to(qp, to.qpn);
            exchange(s, to);
            exchange(s, to);
            printf("%ld\\n", buffer[8]);
            return 0;
          }
          long failed = 0;
          for (long i = 1; (status = write_to(qp, to, i)) == 0; ++i) usleep(100);
          failed = us();
          struct ibv_qp_attr a; struct ibv_qp_init_attr b;
          ibv_query_qp(qp, &a, IBV_QP_STATE, &b);
          printf("%s; %d\\n", ibv_wc_status_str(status), a.qp_state == IBV_QPS_ERR);
          struct ibv_async_event e;
          do { must(ibv_get_async_event(qp->context, &e) == 0, "event"); printf("%s\\n", ibv_event_type_str(e.event_type)); ibv_ack_async_event(&e); }
          while (e.event_type != IBV_EVENT_PORT_ACTIVE);
          exchange(s, to);
          connect_to(qp, to.qpn);
          exchange(s, to);
          printf("%d after %ld us\\n", write_to(qp, to, 77), us() - failed);
          exchange(s, to);
          return 0;
        }""")
    out, done = scenario(tmp_path, f"""
        hardware: cx5-roce-100g
        topology: {{kind: star, nodes: 2}}
        fabric: {{failures: [{{link: [h1, s0], down: 3ms, up: 20ms}}]}}
        workload: {{kind: programs, hosts: {{0: [{program}], 1: [{program}, node0]}}}}""")
    assert done.returncode == 0, done.stderr
    lines = out[1].splitlines()
    assert lines[:3] == ["transport retry counter exceeded; 1", "port error", "port active"]
    # what failed last was posted at 3.0 to 3.1 ms; three time-outs, each of 1.05 to 4.2 ms (IBTA volume 1, 9.9.2.1.1)
    repaired, waited = (float(word) for word in (lines[3].split()[0], lines[3].split()[2]))
    assert repaired == 0 and 17_000 - 3 * 4_300 < waited < 17_000 - 2 * 1_048 and out[0] == "77\n"


def test_hosts_that_differ_and_several_nics(compiled, tmp_path):
    # Host 0 has two NICs; the second one's cable is cut, and only it stops.
    program = compiled(OPEN + """
        int main(int argc, char **argv) {
          int n;
          struct ibv_device **all = ibv_get_device_list(&n);
          for (int i = 0; i < n; ++i) printf("%s %lx\\n", ibv_get_device_name(all[i]), (unsigned long)be64toh(ibv_get_device_guid(all[i])));
          for (int nic = 0; nic < 2; ++nic) {
            struct ibv_qp *qp = make(argc > 1 ? 0 : nic);
            int s = meet(argc > 1 ? argv[1] : NULL);
            struct end to = exchange(s, (struct end){qp->qp_num, mr->rkey, (unsigned long)buffer});
            connect_to(qp, to.qpn);
            exchange(s, to);
            if (argc > 1) printf("%d\\n", write_to(qp, to, 5 + nic));
            exchange(s, to);
            close(s);
            if (argc > 1) usleep(1000);
          }
          if (argc == 1) printf("%ld\\n", buffer[8]);
          return 0;
        }""")
    text = f"""
        hardware: cx5-roce-100g
        topology: {{kind: star, nodes: 2}}
        hosts: [{{nodes: [0], nics: 2}}, {{nodes: [1], hardware: {{base: cx5-roce-100g, cpu: {{poll_empty: 45ns}}}}}}]
        fabric: {{failures: [{{link: [h0.1, s0], down: 0ms}}]}}
        workload: {{kind: programs, hosts: {{0: [{program}], 1: [{program}, node0]}}}}"""
    out, done = scenario(tmp_path, text)
    assert done.returncode == 0, done.stderr
    assert out[0].splitlines() == ["loco0 20000fffe000001", "loco1 20000fffe010001", "5"]
    assert out[1].splitlines() == ["loco0 20000fffe000002", "0", "12"]  # IBV_WC_RETRY_EXC_ERR


PINGPONG = str(ROOT / "scenarios/exec/pingpong.yaml")


def microseconds(run) -> float:
    return float(re.search(r"([\d.]+) usec/iter", run.programs[0].stdout)[1])


@pytest.mark.skipif(not shutil.which("ibv_rc_pingpong"), reason="no ibverbs-utils")
def test_runs_and_sweeps_take_scenarios_of_programs(tmp_path):
    ls = pytest.importorskip("loco_sim")
    once = ls.run(PINGPONG)
    assert microseconds(once) == microseconds(ls.exec(PINGPONG)) and once.programs[0].status == 0
    pytest.importorskip("pandas")
    delays = {"fabric.link.delay": ["50ns", "1050ns"]}
    table = ls.sweep(PINGPONG, delays, metrics={"us": microseconds}, jobs=1)
    assert list(table["error"]) == [None, None]
    # two links each way, each longer by 1 us: an iteration is a message there and one back
    assert table["us"][1] - table["us"][0] == pytest.approx(4, abs=0.02)
    with open(PINGPONG) as file:
        text = file.read() + "sweep: {fabric.link.delay: [50ns, 1050ns]}\n"
    of_its_own = tmp_path / "sweep.yaml"
    of_its_own.write_text(text)
    rows = list(ls.sweep_rows(of_its_own, jobs=1))
    assert [row["ended_us.0"] < row["ended_us.1"] + 1000 for row in rows] == [True, True]
    assert rows[0]["simulated_ps"] < rows[1]["simulated_ps"] and rows[0]["counters.packets_sent"] > 0


def of_one(program: str, more: str, tmp_path) -> subprocess.CompletedProcess:
    (tmp_path / "s.yaml").write_text(f"hardware: cx5-roce-100g\ntopology: {{kind: star, nodes: 2}}\n{more}\n"
                                     f"workload: {{kind: programs, hosts: {{0: [{program}]}}}}\n")
    return subprocess.run([LOCO_SIM, "exec", str(tmp_path / "s.yaml")], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("more, message", [
    ("check: [rdmawait]", "3:8: check: expected [], since programs are no LOCO programs"),
    ("schedule: random", "3:11: schedule: expected timed"),
    ("trace: {level: packets}", "3:16: trace.level: expected subevents"),
    ("capture: {path: x.pcapng}", "3:17: capture.path: expected no such key beside programs"),
    ("series: {interval: 1us}", "3:20: series.interval: expected no such key beside programs"),
    ("sim: {threads: 2}", "3:16: sim.threads: expected no such key beside programs"),
])
def test_keys_that_mean_nothing_for_programs(tmp_path, more, message):
    done = of_one("true", more, tmp_path)
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("limit, message", [("events: 1000", "limits.events"), ("wall_time: 300ms", "limits.wall_time")])
def test_limits_end_a_run(compiled, tmp_path, limit, message):
    # one sleeps for ever, and each time is an event; the other computes, and hands over no more
    program = compiled("""
        #include <unistd.h>
        int main(void) { %s }""" % ("for (;;) usleep(1);" if "events" in limit else "for (volatile int i = 0;; ++i) {}"), "-lc")
    done = of_one(program, f"limits: {{{limit}}}", tmp_path)
    assert done.returncode == 1 and message in done.stderr
