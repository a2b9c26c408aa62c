"""What programs ask of queues and memory beyond posting and polling: lists of elements, events, freeing, windows."""

import subprocess

import pytest

from .conftest import LOCO_SIM, needs_shim
from .test_endings import PAIR

pytestmark = needs_shim

# As PAIR, with regions and queues for lists.
LISTS = PAIR.replace(".max_send_sge = 1, .max_recv_sge = 1", ".max_send_sge = 4, .max_recv_sge = 4").replace(
    ".qp_access_flags = IBV_ACCESS_REMOTE_WRITE", ".qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ"
).replace("IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)", "IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)")


def test_lists_of_elements(run, compiled):
    # Elements of odd lengths at odd places, on both sides of a SEND, from which a WRITE is gathered, and to which a READ
    # is scattered; a wrong key in any of them is a protection error.
    program = compiled(LISTS + """
        #include <string.h>
        static char big[65536] __attribute__((aligned(4096)));
        static struct ibv_mr *mrs[2];
        static struct ibv_sge at(int from, int bytes) {
          struct ibv_sge s = {(unsigned long)big + from, bytes, mrs[from >= 32768]->lkey};
          return s;
        }
        static int wait_for(int i) {
          struct ibv_wc wc;
          while (!ibv_poll_cq(cq[i], 1, &wc)) {}
          return wc.status;
        }
        static void post(int opcode, struct ibv_sge *list, int count, int remote) {
          struct ibv_send_wr w = {.sg_list = list, .num_sge = count, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED,
                                  .wr.rdma = {(unsigned long)big + remote, mrs[1]->rkey}}, *bad;
          must(ibv_post_send(qp[0], &w, &bad) == 0);
        }
        int main(void) {
          setup();
          int rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
          must((mrs[0] = ibv_reg_mr(pd, big, 32768, rights)) && (mrs[1] = ibv_reg_mr(pd, big + 32768, 32768, rights)));
          for (int i = 0; i < 32768; ++i) big[i] = i * 7 + i / 256;
          struct ibv_sge from[] = {at(3, 1000), at(5000, 1), at(4090, 300)}, to[] = {at(40001, 17), at(50000, 2000)};
          struct ibv_recv_wr r = {.sg_list = to, .num_sge = 2}, *bad;
          must(ibv_post_recv(qp[1], &r, &bad) == 0);
          post(IBV_WR_SEND, from, 3, 0);
          int status = wait_for(0) | wait_for(1);
          char whole[1301];
          memcpy(whole, big + 3, 1000); whole[1000] = big[5000]; memcpy(whole + 1001, big + 4090, 300);
          printf("%d %d %d", status, memcmp(big + 40001, whole, 17), memcmp(big + 50000, whole + 17, 1284));
          post(IBV_WR_RDMA_WRITE, from, 3, 33333);
          status = wait_for(0);
          printf(" %d %d", status, memcmp(big + 33333, whole, 1301));
          struct ibv_sge into[] = {at(20000, 5), at(21000, 1200), at(23001, 96)};
          post(IBV_WR_RDMA_READ, into, 3, 33333);
          status = wait_for(0);
          printf(" %d %d %d %d", status, memcmp(big + 20000, whole, 5), memcmp(big + 21000, whole + 5, 1200),
                 memcmp(big + 23001, whole + 1205, 96));
          from[2].lkey = 1;
          post(IBV_WR_RDMA_WRITE, from, 3, 33333);
          printf(" %d\\n", wait_for(0));
          return 0;
        }""")
    r = run(program, options=("--hosts", "1")).ends_well()
    assert r.out[0] == "0 0 0 0 0 0 0 0 0 4\n"
    assert not r.report["approximated"] and not r.report["not_supported"]


def test_a_list_is_read_with_a_request_an_element(run, compiled):
    # 2 x 64 bytes that do not lie next to each other: two reads and two completions, and a WQE of 64 bytes
    # (16 control, 16 address, 2 x 16); next to each other, in one element: one of each. Writing them is one TLP.
    def tlps(lengths: str) -> int:
        program = compiled(LISTS + """
            int main(void) {
              setup();
              unsigned long base = (unsigned long)buffer;
              struct ibv_sge s[] = {%s};
              struct ibv_send_wr w = {.sg_list = s, .num_sge = sizeof s / sizeof *s, .opcode = IBV_WR_RDMA_WRITE,
                .send_flags = IBV_SEND_SIGNALED, .wr.rdma = {base, mr->rkey}}, *bad;
              must(ibv_post_send(qp[0], &w, &bad) == 0);
              struct ibv_wc wc;
              while (!ibv_poll_cq(cq[0], 1, &wc)) {}
              return wc.status;
            }""" % lengths)
        counters = run(program, options=("--hosts", "1")).ends_well().report["counters"]
        return counters["tlps_up"], counters["tlps_down"]

    one = tlps("{base, 32, mr->lkey}")
    two = tlps("{base, 16, mr->lkey}, {base + 64, 16, mr->lkey}")
    assert two == (one[0] + 1, one[1] + 1)


def test_what_is_used_is_not_freed(run, compiled):
    program = compiled("#include <errno.h>\n" + PAIR + """
        int main(void) {
          setup();
          int before[] = {ibv_dealloc_pd(pd), ibv_destroy_cq(cq[0]), ibv_resize_cq(cq[0], 64), cq[0]->cqe};
          int after[] = {ibv_destroy_qp(qp[0]), ibv_destroy_qp(qp[1]), ibv_destroy_cq(cq[0]), ibv_destroy_cq(cq[1]),
                         ibv_dealloc_pd(pd) == EBUSY, ibv_dereg_mr(mr), ibv_dealloc_pd(pd)};
          printf("%d %d %d %d", before[0] == EBUSY, before[1] == EBUSY, before[2], before[3]);
          for (int i = 0; i < 7; ++i) printf(" %d", after[i]);
          return 0;
        }""")
    assert run(program, options=("--hosts", "1")).ends_well().out[0] == "1 1 0 64 0 0 0 0 1 0 0"


def test_events_of_queue_pairs_that_refuse(run, compiled):
    # A WRITE that the queue pair's rights forbid, though the region's allow it: the requester gets a completion, the
    # responder an event (IBTA volume 1, 11.6.3.2).
    program = compiled(PAIR.replace(".qp_access_flags = IBV_ACCESS_REMOTE_WRITE", ".qp_access_flags = 0") + """
        int main(void) {
          setup();
          write_to(0);
          struct ibv_wc wc;
          while (!ibv_poll_cq(cq[0], 1, &wc)) {}
          struct ibv_async_event e;
          must(ibv_get_async_event(context, &e) == 0);
          printf("%s; %s; %d\\n", ibv_wc_status_str(wc.status), ibv_event_type_str(e.event_type), e.element.qp == qp[1]);
          ibv_ack_async_event(&e);
          return 0;
        }""")
    assert run(program, options=("--hosts", "1")).ends_well().out[0] == (
        "remote access error; local access violation work queue error; 1\n")


def test_an_overrun_of_a_completion_queue(run, compiled):
    program = compiled(PAIR.replace("ibv_create_cq(context, 16,", "ibv_create_cq(context, 2,") + """
        int main(void) {
          setup();
          for (int i = 0; i < 3; ++i) write_to(0);
          struct ibv_async_event e[2];
          for (int i = 0; i < 2; ++i) must(ibv_get_async_event(context, &e[i]) == 0);
          struct ibv_qp_attr a; struct ibv_qp_init_attr b;
          must(ibv_query_qp(qp[0], &a, IBV_QP_STATE, &b) == 0);
          printf("%s %d; %s %d; %d\\n", ibv_event_type_str(e[0].event_type), e[0].element.cq == cq[0],
                 ibv_event_type_str(e[1].event_type), e[1].element.qp == qp[0], a.qp_state == IBV_QPS_ERR);
          return 0;
        }""")
    assert run(program, options=("--hosts", "1")).ends_well().out[0] == (
        "CQ error 1; local work queue catastrophic error 1; 1\n")


def test_a_flapping_cable_is_told_by_events(tmp_path):
    # down from 3 to 5 ms; ibv_asyncwatch waits for more, and nothing is left to happen
    (tmp_path / "flap.yaml").write_text("""
        hardware: cx5-roce-100g
        topology: {kind: star, nodes: 2}
        fabric: {failures: [{link: [h0, s0], down: 3ms, up: 5ms}]}
        workload: {kind: programs, hosts: {0: [ibv_asyncwatch]}}""")
    done = subprocess.run([LOCO_SIM, "exec", "--output", str(tmp_path), str(tmp_path / "flap.yaml")], capture_output=True, text=True)
    out = (tmp_path / "out.0").read_text()
    if "No such file" in done.stderr or "none of that name" in done.stderr:
        pytest.skip("no ibv_asyncwatch")
    assert "PORT_ERR (10), port 1" in out and "PORT_ACTIVE (9), port 1" in out
    assert "waits for an asynchronous event" in done.stderr and done.returncode == 1


def test_datagrams_say_whom_they_are_from(run, compiled):
    # RoCE v2 over IPv4: the IP header is in bytes 20 to 39 in front of the payload (IBTA annex A17).
    program = compiled("""
        #include <infiniband/verbs.h>
        #include <stdio.h>
        static unsigned char in[104], out[64];
        int main(void) {
          int n;
          struct ibv_context *c = ibv_open_device(ibv_get_device_list(&n)[0]);
          struct ibv_pd *pd = ibv_alloc_pd(c);
          struct ibv_mr *a = ibv_reg_mr(pd, in, sizeof in, IBV_ACCESS_LOCAL_WRITE), *b = ibv_reg_mr(pd, out, sizeof out, 0);
          struct ibv_cq *cq = ibv_create_cq(c, 4, NULL, NULL, 0);
          struct ibv_qp_init_attr make = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UD,
                                          .cap = {.max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1}};
          struct ibv_qp *qp = ibv_create_qp(pd, &make);
          struct ibv_qp_attr at = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 5};
          ibv_modify_qp(qp, &at, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
          at.qp_state = IBV_QPS_RTR; ibv_modify_qp(qp, &at, IBV_QP_STATE);
          at.qp_state = IBV_QPS_RTS; ibv_modify_qp(qp, &at, IBV_QP_STATE | IBV_QP_SQ_PSN);
          struct ibv_sge s = {(unsigned long)in, sizeof in, a->lkey}, d = {(unsigned long)out, sizeof out, b->lkey};
          struct ibv_recv_wr r = {.sg_list = &s, .num_sge = 1}, *bad_r;
          ibv_post_recv(qp, &r, &bad_r);
          struct ibv_ah_attr to = {.is_global = 1, .port_num = 1};
          struct ibv_send_wr w = {.sg_list = &d, .num_sge = 1, .opcode = IBV_WR_SEND,
                                  .wr.ud = {ibv_create_ah(pd, &to), qp->qp_num, 5}}, *bad;
          ibv_post_send(qp, &w, &bad);
          struct ibv_wc wc;
          while (!ibv_poll_cq(cq, 1, &wc)) {}
          printf("%d %x %d %d %d.%d.%d.%d\\n", wc.status, in[20], in[22] * 256 + in[23], in[29], in[32], in[33], in[34], in[35]);
          return 0;
        }""")
    # IP 20, UDP 8, BTH 12, DETH 8, payload 64, ICRC 4; protocol UDP
    assert run(program, options=("--hosts", "1")).ends_well().out[0] == "0 45 116 17 10.0.0.1\n"


def pingpong_with(failures: str, tmp_path) -> tuple[str, str]:
    """What the server prints, and the report, of a ping-pong with these failures of the network."""
    (tmp_path / "scenario.yaml").write_text(f"""
        hardware: cx5-roce-100g
        topology: {{kind: star, nodes: 2}}
        fabric: {{failures: [{failures}]}}
        workload: {{kind: programs, hosts: {{0: [ibv_rc_pingpong, -g, "0"], 1: [ibv_rc_pingpong, -g, "0", node0]}}}}""")
    done = subprocess.run([LOCO_SIM, "exec", "--output", str(tmp_path), str(tmp_path / "scenario.yaml")], capture_output=True, text=True)
    if "none of that name" in done.stderr:
        pytest.skip("no ibv_rc_pingpong")
    return (tmp_path / "out.0").read_text() + (tmp_path / "err.0").read_text(), done.stderr


@pytest.mark.long
def test_a_cable_that_does_not_come_back(tmp_path):
    # what was sent is repeated 7 times, 67 ms apart (timeout code 14), and then the queue pair is dead
    out, report = pingpong_with("{link: [h1, s0], down: 3ms}", tmp_path)
    assert "Failed status transport retry counter exceeded (12)" in out and "host 0 (ibv_rc_pingpong): status 1" in report


@pytest.mark.long
def test_a_host_that_stops(tmp_path):
    out, report = pingpong_with("{host: h0, stops: 3ms}", tmp_path)
    assert "usec/iter" not in out and "host 1 (ibv_rc_pingpong) waits for a completion" in report


def test_a_queue_pair_connected_to_itself(run, compiled):
    # as UCX makes one for messages of a process to itself
    program = compiled(PAIR.replace("qp[1 - i]->qp_num", "qp[i]->qp_num") + """
        int main(void) {
          setup();
          struct ibv_wc wc;
          write_to(0);
          while (!ibv_poll_cq(cq[0], 1, &wc)) {}
          printf("%d %lu\\n", wc.status, buffer[8]);
          return 0;
        }""")
    assert run(program, options=("--hosts", "1")).ends_well().out[0] == "0 5\n"
