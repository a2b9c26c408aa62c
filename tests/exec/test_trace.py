"""`loco-sim exec --trace`: what foreign programs did, as a trace that `loco-sim check` judges."""

import csv
import io
import json
import subprocess

import pytest

from .conftest import LOCO_SIM, needs_shim
from .test_check import READ, RIGHT, line_of, tsan

pytestmark = needs_shim


def check(trace: str) -> tuple[int, dict]:
    done = subprocess.run([LOCO_SIM, "check", trace, "--json"], capture_output=True, text=True)
    return done.returncode, json.loads(done.stdout)


def subevents(trace: str) -> list[dict]:
    text = subprocess.run([LOCO_SIM, "trace", "export", trace, "--to", "csv"], capture_output=True, text=True, check=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


def test_a_program_as_it_is(run, tmp_path):
    # 20 messages of 4096 bytes each way: each word of them is read by one NIC and written by the other
    trace = str(tmp_path / "t")
    plain = run("ibv_rc_pingpong -g 0 -n 20").ends_well()
    r = run("ibv_rc_pingpong -g 0 -n 20", options=("--trace", trace)).ends_well()
    assert r.printed() == plain.printed()  # to look changes nothing
    verdict = r.report["verdict"]
    assert verdict["consistent"] and "-fsanitize=thread" in verdict["covers"]
    found = subevents(trace)
    for stamp in ("aNLR", "aNRW"):
        assert sum(s["stamp"] == stamp for s in found) == 2 * 20 * 4096 // 8
    status, same = check(trace)
    assert (status == 0) == (not any(race["error"] for race in same["races"]))
    assert same["races"] == verdict["races"] and same["subevents"] == verdict["subevents"]


def test_values(run, compiled, tmp_path):
    # a WRITE out of two elements, which begin within words: 42 from one, 43 from the other, read back by a READ
    source = READ + """int main(void) {
      setup();
      buffer[0] = 42; buffer[2] = 43;
      struct ibv_sge s[2] = {{(unsigned long)&buffer[0], 8, mr->lkey}, {(unsigned long)&buffer[2], 8, mr->lkey}};
      struct ibv_send_wr w = {.sg_list = s, .num_sge = 2, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
                              .wr.rdma = {(unsigned long)&buffer[8], mr->rkey}}, *bad;
      must(ibv_post_send(qp[0], &w, &bad) == 0);
      poll();
      post(IBV_WR_RDMA_READ, 9, 4);
      poll();
      must(buffer[4] == 43);
      return 0;
    }"""
    trace = str(tmp_path / "t")
    r = run(compiled(source.replace(".max_send_sge = 1", ".max_send_sge = 2")), options=("--hosts", "1", "--trace", trace)).ends_well()
    assert r.report["verdict"]["consistent"] and not r.report["verdict"]["races"]
    by_stamp: dict = {}
    for s in subevents(trace):
        by_stamp.setdefault(s["stamp"], []).append(int(s["value"]))
    assert by_stamp["aNLR"] == [42, 43] and by_stamp["aNRW"] == [42, 43]
    assert by_stamp["aNRR"] == [43] and by_stamp["aNLW"] == [43] and len(by_stamp["aWT"]) == 2


def test_a_missing_wait_is_a_race(run, compiled, tmp_path):
    body = 'post(IBV_WR_RDMA_READ, 8, 0);\n unsigned long v = buffer[0]; /* LOAD */\n poll();\n printf("%lu\\n", v);'
    source = READ + "int main(void) {\n setup();\n buffer[8] = 42;\n" + body + "\n return 0;\n}\n"
    trace = str(tmp_path / "t")
    r = run(tsan(compiled, source), options=("--hosts", "1", "--trace", trace)).ends_well()
    verdict = r.report["verdict"]
    assert verdict["consistent"] and "loads and stores of registered memory" in verdict["covers"]
    [race] = verdict["races"]
    assert race["kind"] == "result before completion" and race["error"]
    places = {race["first"]["place"], race["second"]["place"]}
    assert places == {f"program.c:{line_of(source, mark)}" for mark in ("LOAD", "POST")}
    assert check(trace)[0] == 1


def test_a_program_that_waits_has_none(run, compiled, tmp_path):
    trace = str(tmp_path / "t")
    r = run(tsan(compiled, RIGHT), options=("--hosts", "1", "--trace", trace)).ends_well()
    assert r.report["verdict"]["consistent"] and not r.report["verdict"]["races"]
    stamps = [s["stamp"] for s in subevents(trace)]
    assert stamps.count("aCW") >= 4 * 2 and stamps.count("aCR") >= 4 * 2 and check(trace)[0] == 0


# On a NIC whose reads pass earlier posted writes, a READ behind a WRITE sees the old value.
BEHIND = READ + """int main(void) {
  setup();
  buffer[0] = 42;
  post(IBV_WR_RDMA_WRITE, 8, 0);
  post(IBV_WR_RDMA_READ, 8, 4);
  poll(); poll();
  printf("%lu\\n", buffer[4]);
  return 0;
}"""


@pytest.mark.parametrize("fault, value", [("read_does_not_flush", "0"), ("", "42")])
def test_a_wrong_nic_is_found(compiled, tmp_path, fault, value):
    (tmp_path / "s.yaml").write_text(f"hardware: cx5-roce-100g\ntopology: {{kind: star, nodes: 2}}\nfaults: [{fault}]\n"
                                     f"workload: {{kind: programs, hosts: {{0: [{compiled(BEHIND)}]}}}}\n")
    done = subprocess.run([LOCO_SIM, "exec", "--json", "--trace", str(tmp_path / "t"), str(tmp_path / "s.yaml")],
                          capture_output=True, text=True, timeout=60)
    report = json.loads(done.stdout)
    assert report["programs"][0]["stdout"] == value + "\n"
    assert report["verdict"]["consistent"] == (fault == "") and report["status"] == (0 if fault == "" else 1)


# A queue pair is reset with a receive and a completion that nobody has taken, and used again: both are gone.
AGAIN = (READ.replace("static void setup(void) {", "static void join(void);\nstatic void setup(void) {")
         .replace("  for (int i = 0; i < 2; ++i) {\n    struct ibv_qp_attr a", "  join();\n}\nstatic void join(void) {\n  for (int i = 0; i < 2; ++i) {\n    struct ibv_qp_attr a")) + """
static void receive(int number) {
  struct ibv_sge s = {(unsigned long)&buffer[8], 8, mr->lkey};
  struct ibv_recv_wr r = {.wr_id = number, .sg_list = &s, .num_sge = 1}, *bad;
  must(ibv_post_recv(qp[1], &r, &bad) == 0);
}
int main(void) {
  setup();
  receive(1); receive(2);
  post(IBV_WR_SEND, 0, 0);
  poll();
  struct ibv_qp_attr a = {.qp_state = IBV_QPS_RESET};
  for (int i = 0; i < 2; ++i) must(ibv_modify_qp(qp[i], &a, IBV_QP_STATE) == 0);
  join();
  receive(3);
  post(IBV_WR_SEND, 0, 0);
  poll();
  struct ibv_wc wc;
  while (!ibv_poll_cq(cq[1], 1, &wc)) {}
  printf("%d\\n", (int)wc.wr_id);
  return 0;
}"""


def test_a_queue_pair_that_is_reset(run, compiled, tmp_path):
    r = run(compiled(AGAIN), options=("--hosts", "1", "--trace", str(tmp_path / "t"))).ends_well()
    assert r.out[0] == "3\n" and r.report["verdict"]["consistent"] and r.report["verdict"]["violations"] == []
    assert check(str(tmp_path / "t"))[1]["consistent"]


def test_a_scenario_says_where_its_trace_goes(run, compiled, tmp_path):
    program, trace = compiled(RIGHT), tmp_path / "t"
    r = run(program, options=("--hosts", "1", "--trace", str(trace))).ends_well()
    bytes_of_it = trace.read_bytes()
    trace.unlink()
    (tmp_path / "s.yaml").write_text(f"hardware: cx5-roce-100g\ntopology: {{kind: star, nodes: 2}}\ntrace: {{path: {trace}}}\n"
                                     f"workload: {{kind: programs, hosts: {{0: [{program}]}}}}\n")
    done = subprocess.run([LOCO_SIM, "run", "--json", str(tmp_path / "s.yaml")], capture_output=True, text=True, timeout=60)
    report = json.loads(done.stdout)
    assert done.returncode == 0 and report["verdict"] == r.report["verdict"] and report["fingerprint"] == r.report["fingerprint"]
    assert trace.read_bytes() == bytes_of_it
