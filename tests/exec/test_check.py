"""`loco-sim exec --check`: uses of a buffer that a request is still working on, with file and line."""

import shutil
import subprocess

import pytest

from .conftest import LOCO_SIM, needs_shim
from .test_endings import PAIR

pytestmark = needs_shim

# A READ of 8 bytes from the other half of the buffer: 42 is there once its completion has been polled.
READ = PAIR.replace("IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)", "IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)").replace(
    ".qp_access_flags = IBV_ACCESS_REMOTE_WRITE", ".qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ") + """
static void post(int opcode, int from, int to) {
  struct ibv_sge s = {(unsigned long)&buffer[to], 8, mr->lkey};
  struct ibv_send_wr w = {.sg_list = &s, .num_sge = 1, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED,
                          .wr.rdma = {(unsigned long)&buffer[from], mr->rkey}}, *bad;
  must(ibv_post_send(qp[0], &w, &bad) == 0); /* POST */
}
static void poll(void) {
  struct ibv_wc wc;
  while (!ibv_poll_cq(cq[0], 1, &wc)) {}
  must(wc.status == 0);
}
"""


def line_of(source: str, mark: str) -> int:
    return next(number for number, line in enumerate(source.split("\n"), 1) if mark in line)


def tsan(compiled, source: str) -> str:
    """The runtime that it finds is ours, whatever it is linked with."""
    return compiled(source, "-g", "-fsanitize=thread", "-libverbs")


@pytest.mark.parametrize("body, mark, words", [
    ("post(IBV_WR_RDMA_READ, 8, 0);\n unsigned long v = buffer[0]; /* LOAD */\n poll();\n printf(\"%lu\\n\", v);", "LOAD",
     "this load may see the old value, before the READ"),
    ("post(IBV_WR_RDMA_READ, 8, 0);\n buffer[0] = 7; /* STORE */\n poll();", "STORE", "this store may be lost to the READ"),
    ("buffer[0] = 1;\n post(IBV_WR_RDMA_WRITE, 8, 0);\n buffer[0] = 7; /* CHANGE */\n poll();", "CHANGE",
     "this store may change what is sent by the WRITE"),
])
def test_a_missing_wait_is_named(run, compiled, body, mark, words):
    source = READ + "int main(void) {\n setup();\n buffer[8] = 42;\n" + body + "\n return 0;\n}\n"
    r = run(tsan(compiled, source), options=("--hosts", "1", "--check"))
    where = f"program.c:{line_of(source, mark)}" if shutil.which("addr2line") else "program+0x"
    assert r.returncode == 1 and len(r.report["mistakes"]) == 1 and r.report["loads_and_stores_checked"]
    assert r.report["mistakes"][0].startswith(f"host 0: {where}") and words in r.report["mistakes"][0]
    if shutil.which("addr2line"):
        assert f"posted at program.c:{line_of(source, 'POST')}: no poll of its completion between" in r.report["mistakes"][0]


RIGHT = READ + """
int main(void) {
  setup();
  buffer[8] = 42;
  for (int i = 0; i < 4; ++i) {
    post(IBV_WR_RDMA_READ, 8, 0);
    buffer[1] = i;
    poll();
    must(buffer[0] == 42);
    buffer[0] = i;
    post(IBV_WR_RDMA_WRITE, 9, 0);
    must(buffer[0] == i);
    poll();
    buffer[0] = 0;
  }
  printf("right\\n");
  return 0;
}"""


def test_a_program_that_waits_is_clean(run, compiled):
    program = tsan(compiled, RIGHT)
    for seed in range(1, 6):
        r = run(program, options=("--hosts", "1", "--check", "--seed", str(seed))).ends_well()
        assert r.out[0] == "right\n" and r.report["mistakes"] == []


@pytest.mark.long
def test_a_program_that_waits_is_clean_in_a_thousand_seeds(run, compiled):
    program = tsan(compiled, RIGHT)
    for seed in range(1, 1001):
        assert run(program, options=("--hosts", "1", "--check", "--seed", str(seed))).ends_well().report["mistakes"] == []


def test_a_wait_for_data_is_no_mistake(run, compiled, tmp_path):
    # a volatile load, again and again until the value is there
    source = READ + """int main(void) {
      setup();
      buffer[8] = 42;
      post(IBV_WR_RDMA_READ, 8, 0);
      while (*(volatile unsigned long *)&buffer[0] != 42) {}
      poll();
      return 0;
    }"""
    folder = subprocess.run([LOCO_SIM, "exec", "--libraries"], capture_output=True, text=True, check=True).stdout.strip()
    (tmp_path / "wait.c").write_text(source)
    compiler = ["gcc", "-g", "-O1", "-fsanitize=thread", "--param", "tsan-distinguish-volatile=1", "-c"]
    subprocess.run([*compiler, tmp_path / "wait.c", "-o", tmp_path / "wait.o"], check=True)
    subprocess.run(["gcc", tmp_path / "wait.o", "-o", tmp_path / "wait", f"-L{folder}", "-l:libibverbs.so.1", "-l:libtsan.so.2"], check=True)
    r = run(str(tmp_path / "wait"), options=("--hosts", "1", "--check")).ends_well()
    assert r.report["mistakes"] == [] and r.report["loads_and_stores_checked"]


def test_requests_are_checked_as_they_are(run, compiled):
    # not recompiled: a WRITE's source is a READ's target
    source = READ + """int main(void) {
      setup();
      post(IBV_WR_RDMA_READ, 8, 0);
      post(IBV_WR_RDMA_WRITE, 9, 0);
      poll(); poll();
      return 0;
    }"""
    r = run(compiled(source, "-g", "-libverbs"), options=("--hosts", "1", "--check"))
    assert r.returncode == 1 and "a WRITE reads memory that is also written by the READ" in r.report["mistakes"][0]
    assert not r.report["loads_and_stores_checked"]


def test_without_the_option_nothing_is_checked(run, compiled):
    source = READ + "int main(void) { setup(); post(IBV_WR_RDMA_READ, 8, 0); post(IBV_WR_RDMA_WRITE, 9, 0); poll(); poll(); return 0; }"
    assert "mistakes" not in run(compiled(source), options=("--hosts", "1")).ends_well().report
