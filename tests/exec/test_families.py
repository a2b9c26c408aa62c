"""Programs that have children: servers that fork, launchers of parallel programs; and groups of datagrams."""

import re
import shutil
import subprocess

import pytest

from .conftest import needs_shim

pytestmark = needs_shim

ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@pytest.mark.long
def test_qperf_measures_what_perftest_does(run):
    # its server forks a child for each test; 1 s of messages of one byte, polled for
    r = run("qperf", "qperf node0 -t 1 -cp 1 -mt 1024 rc_lat quit", timeout=300).ends_well()
    found = float(re.search(r"latency *= *([\d.]+) us", r.out[1])[1])
    assert found == pytest.approx(1.53, abs=0.01) and not r.report["not_deterministic"]


MPI = """
#include <mpi.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
  int rank, n;
  static char b[1 << 20];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  for (int size = 64; size <= 1 << 20; size <<= 7) {
    memset(b, rank == 0 ? size % 251 : 0, sizeof b);
    MPI_Barrier(MPI_COMM_WORLD);
    double t = MPI_Wtime();
    for (int i = 0; i < 20; ++i) {
      if (rank == 0) MPI_Send(b, size, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
      if (rank < 2) MPI_Recv(b, size, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (rank == 1) MPI_Send(b, size, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
    int right = 1;
    for (int i = 0; i < size; ++i) right = right && b[i] == (char)(size % 251);
    if (rank == 0) printf("%d %d %.2f\\n", size, right, (MPI_Wtime() - t) / 40 * 1e6);
  }
  double all[1000], sum[1000];
  for (int i = 0; i < 1000; ++i) all[i] = rank + i;
  MPI_Allreduce(all, sum, 1000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  int right = 1;
  for (int i = 0; i < 1000; ++i) right = right && sum[i] == n * (n - 1) / 2 + n * i;
  if (rank == 0) printf("sums %d\\n", right);
  MPI_Finalize();
  return 0;
}
"""


def test_open_mpi_over_ucx(run, tmp_path):
    # two ranks of one host, whose messages go out of the NIC and in again: UCX has nothing but RC and UD
    if not shutil.which("mpicc") or not shutil.which("mpirun"):
        pytest.skip("no Open MPI: openmpi-bin and libopenmpi-dev are not installed")
    (tmp_path / "p.c").write_text(MPI)
    subprocess.run(["mpicc", "-O1", "-o", tmp_path / "p", tmp_path / "p.c"], check=True)
    command = (f"mpirun -n 2 --oversubscribe --mca pml ucx -x UCX_TLS=rc_v,ud_v -x UCX_NET_DEVICES=loco0:1 {tmp_path}/p")
    first, second = (run(command, options=("--hosts", "1"), environment=ROOT).ends_well() for _ in range(2))
    rows = [line.split() for line in first.out[0].splitlines()]
    assert [row[:2] for row in rows] == [["64", "1"], ["8192", "1"], ["1048576", "1"], ["sums", "1"]]
    assert first.report["counters"]["packets_sent"] > 2 * 20 * 1024 and first.printed() == second.printed()
    assert not first.report["not_deterministic"] and first.err[0] == ""


def test_open_mpi_on_two_hosts(run, tmp_path):
    # mpirun starts its daemon on the other host by ssh, which is ours: a rank on each, with nothing but RC and UD
    if not shutil.which("mpicc") or not shutil.which("mpirun"):
        pytest.skip("no Open MPI: openmpi-bin and libopenmpi-dev are not installed")
    (tmp_path / "p.c").write_text(MPI)
    subprocess.run(["mpicc", "-O1", "-o", tmp_path / "p", tmp_path / "p.c"], check=True)
    command = (f"mpirun -n 2 --host node0,node1 --mca oob_tcp_if_include eth0 --mca pml ucx -x UCX_TLS=rc_v,ud_v "
               f"-x UCX_NET_DEVICES=loco0:1 {tmp_path}/p")
    first, second = (run(command, "true", environment=ROOT).ends_well() for _ in range(2))
    rows = [line.split() for line in first.out[0].splitlines()]
    assert [row[:2] for row in rows] == [["64", "1"], ["8192", "1"], ["1048576", "1"], ["sums", "1"]]
    assert 1.5 < float(rows[0][2]) < 3  # us one way: twice through a NIC, over the switch
    assert first.printed() == second.printed() and not first.report["not_deterministic"]


def test_ssh_between_hosts(run, compiled):
    # ours is in front of the machine's own in PATH; its command goes on as a process of the other host
    program = compiled("""
        #include <infiniband/verbs.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/wait.h>
        #include <unistd.h>
        int main(int argc, char **argv) {
          char name[64], command[4200];
          int n, status = 0;
          gethostname(name, sizeof name);
          struct ibv_device **all = ibv_get_device_list(&n);
          printf("%s %d %llx\\n", name, (int)getpid(), (unsigned long long)ibv_get_device_guid(all[0]));
          fflush(stdout);
          if (argc > 1) return strcmp(argv[1], "there") == 0 ? 3 : 0;
          snprintf(command, sizeof command, "%s there", argv[0]);
          for (const char *to = "node1"; to; to = strcmp(to, "node1") == 0 ? "node7" : NULL) {
            if (fork() == 0) { execlp("ssh", "ssh", "-x", to, command, NULL); _exit(99); }
            wait(&status);
            printf("%d\\n", WEXITSTATUS(status));
          }
          return 0;
        }""")
    r = run(program, f"{program} here").ends_well()
    here, there, status, refused = r.out[0].splitlines()
    assert here.split()[0] == "node0" and there.split()[0] == "node1" and status == "3" and refused == "255"
    assert there.split()[2] == r.out[1].split()[2] != here.split()[2] and there.split()[1] != r.out[1].split()[1]
    assert "expected a host of this run" in r.err[0]


def test_multicast(run, compiled):
    # Two of three hosts are in the group; the third one sends, and each of the two gets every datagram once.
    program = compiled("""
        #include <infiniband/verbs.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <unistd.h>
        static unsigned char in[8 * 104], out[64];
        int main(int argc, char **argv) {
          int n, sends = argc > 2;
          struct ibv_context *c = ibv_open_device(ibv_get_device_list(&n)[0]);
          struct ibv_pd *pd = ibv_alloc_pd(c);
          struct ibv_mr *a = ibv_reg_mr(pd, in, sizeof in, IBV_ACCESS_LOCAL_WRITE), *b = ibv_reg_mr(pd, out, sizeof out, 0);
          struct ibv_cq *cq = ibv_create_cq(c, 32, NULL, NULL, 0);
          struct ibv_qp_init_attr make = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UD,
                                          .cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1}};
          struct ibv_qp *qp = ibv_create_qp(pd, &make);
          struct ibv_qp_attr at = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 5};
          ibv_modify_qp(qp, &at, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
          at.qp_state = IBV_QPS_RTR; ibv_modify_qp(qp, &at, IBV_QP_STATE);
          at.qp_state = IBV_QPS_RTS; ibv_modify_qp(qp, &at, IBV_QP_STATE | IBV_QP_SQ_PSN);
          union ibv_gid group = {.raw = {0xff, 0x0e, [15] = 7}};
          struct ibv_wc wc;
          if (!sends) {
            for (int i = 0; i < 8; ++i) {
              struct ibv_sge s = {(unsigned long)in + 104 * i, 104, a->lkey};
              struct ibv_recv_wr r = {.wr_id = i, .sg_list = &s, .num_sge = 1}, *bad;
              ibv_post_recv(qp, &r, &bad);
            }
            if (ibv_attach_mcast(qp, &group, 0)) return 4;
            for (int i = 0; i < 4; ++i) {
              while (!ibv_poll_cq(cq, 1, &wc)) {}
              printf("%d:%d:%d ", wc.status, wc.byte_len, in[104 * wc.wr_id + 40]);
            }
            if (ibv_detach_mcast(qp, &group, 0) || !ibv_detach_mcast(qp, &group, 0)) return 5;
            usleep(1000);
            printf("%d\\n", ibv_poll_cq(cq, 1, &wc));
            return 0;
          }
          struct ibv_ah_attr to = {.is_global = 1, .port_num = 1, .grh.dgid = group};
          struct ibv_sge d = {(unsigned long)out, sizeof out, b->lkey};
          struct ibv_ah *ah = ibv_create_ah(pd, &to);
          usleep(5000);
          for (int i = 0; i < 4; ++i) {
            out[0] = i;
            struct ibv_send_wr w = {.sg_list = &d, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
                                    .wr.ud = {ah, 0xffffff, 5}}, *bad;
            if (ibv_post_send(qp, &w, &bad)) return 6;
            while (!ibv_poll_cq(cq, 1, &wc)) {}
            if (wc.status) return 7;
          }
          usleep(1000);
          return 0;
        }""")
    r = run(program, program, f"{program} and send").ends_well()
    assert r.out[0] == r.out[1] == "0:104:0 0:104:1 0:104:2 0:104:3 0\n"
    assert r.report["counters"]["packets_sent"] == 8 and "leave once for each receiver" in r.report["approximated"][0]


@pytest.mark.parametrize("group", ["-m 239.0.0.1", "-M ff0e::7"])
def test_mckey(run, group):
    r = run(f"mckey {group} -b node0", f"mckey {group} -s -b node1").ends_well()
    assert "data transfers complete" in r.out[0] and "return status 0" in r.out[0]


def test_management_datagrams_are_refused(run):
    # perftest's groups on InfiniBand, for which it asks the subnet's administrator by libibumad
    r = run("ib_send_bw -g -c UD -n 100 -s 512", options=("--hardware", "cx6-ib-hdr"))
    assert r.status == {0: 1, 1: 1} and "failed to init the UMAD library" in r.err[0]
