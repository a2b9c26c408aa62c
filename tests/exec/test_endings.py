"""How runs end: refusals, crashes, forks, deadlocks; and that two runs are one."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .conftest import LOCO_SIM, needs_shim

pytestmark = needs_shim


def processes(program: str = "", parent: int = 0) -> set[int]:
    """Those that have the shim, and run this program, or are children of this process: others run tests, too."""
    found = set()
    for entry in os.listdir("/proc"):
        try:
            maps = Path(f"/proc/{entry}/maps").read_text()
            status = Path(f"/proc/{entry}/status").read_text()
        except (OSError, ValueError):
            continue
        mine = program in maps and (parent == 0 or f"PPid:\t{parent}\n" in status)
        if entry.isdigit() and mine and "lib/loco-sim/exec/" in maps:
            found.add(int(entry))
    return found


def test_two_runs_are_one_also_beside_others(run):
    program = "ibv_rc_pingpong -g 0"
    first = run(program).ends_well()
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        second = run(program)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert second.printed() == first.printed()


def test_a_recorded_run_is_compared(run, tmp_path):
    record = str(tmp_path / "record")
    run("ibv_rc_pingpong -g 0 -n 10", options=("--record", record)).ends_well()
    run("ibv_rc_pingpong -g 0 -n 10", options=("--compare", record)).ends_well()
    other = run("ibv_rc_pingpong -g 0 -n 10 -s 64", options=("--compare", record))
    assert other.returncode == 1 and "reg_mr" in other.report["difference"]


@pytest.mark.parametrize("words, expected", [
    (["no-such-program"], "no-such-program: expected a program, found none of that name in PATH"),
    ([], "expected a scenario, or -- PROGRAM ARGS"),
    (["true", ","], "found no program"),
])
def test_refused(words, expected):
    done = subprocess.run([LOCO_SIM, "exec", "--", *words], capture_output=True, text=True)
    assert done.returncode == 2 and expected in done.stderr and done.stderr.count("\n") == 1


def test_a_static_program_is_refused(compiled):
    program = compiled("int main(void) { return 0; }", "-static")
    done = subprocess.run([LOCO_SIM, "exec", "--", program], capture_output=True, text=True)
    assert done.returncode == 2 and "static" in done.stderr and "link it without -static" in done.stderr


@pytest.mark.parametrize("kind, message", [
    ("setuid", "an unprivileged program is expected, found setuid"),
    ("other machine", "expected a program for x86-64, found one for another architecture"),
])
def test_programs_that_cannot_be_run_so_are_refused(tmp_path, kind, message):
    program = tmp_path / "p"
    content = bytearray(Path("/bin/true").read_bytes())
    if kind == "other machine":
        content[4] = 1  # EI_CLASS: 32 bits
    program.write_bytes(content)
    program.chmod(0o4755 if kind == "setuid" else 0o755)
    done = subprocess.run([LOCO_SIM, "exec", "--hosts", "1", "--", str(program)], capture_output=True, text=True)
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1


def test_a_libibverbs_of_the_program_s_own_path_is_not_loaded(run, tmp_path):
    # one that has no device list at all, so that it would be seen
    (tmp_path / "other.c").write_text("void *ibv_get_device_list(int *n) { *n = 77; return 0; }")
    (tmp_path / "p.c").write_text("int printf(const char *, ...); void *ibv_get_device_list(int *);"
                                  "int main(void) { int n; ibv_get_device_list(&n); return !printf(\"%d\\n\", n); }")
    library, program = tmp_path / "libibverbs.so.1", tmp_path / "p"
    subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,-soname,libibverbs.so.1", "-o", library, tmp_path / "other.c"], check=True)
    subprocess.run(["gcc", "-o", program, tmp_path / "p.c", library, f"-Wl,-rpath,{tmp_path}"], check=True)
    assert subprocess.run([program], capture_output=True, text=True, check=True).stdout == "77\n"
    assert run(str(program), options=("--hosts", "1")).ends_well().out[0] == "1\n"


def test_nothing_listens_beyond_loopback(run, compiled):
    # what is bound to all addresses, as the kernel has it: the fourth byte of an address is its first
    program = compiled("""
        #include <arpa/inet.h>
        #include <stdio.h>
        #include <string.h>
        #include <sys/socket.h>
        int main(void) {
          struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(6123)};
          int s = socket(AF_INET, SOCK_STREAM, 0), found = 0, beyond = 0;
          if (bind(s, (void *)&a, sizeof a) || listen(s, 1)) return 1;
          char line[512];
          FILE *f = fopen("/proc/net/tcp", "r");
          while (fgets(line, sizeof line, f)) {
            char *at = strstr(line, ":17EB 00000000:0000 0A");
            if (at != NULL) ++found, beyond += memcmp(at - 2, "7F", 2) != 0;
          }
          printf("%d %d\\n", found > 0, beyond);
          return 0;
        }""", "-lc")
    assert run(program, options=("--hosts", "1")).ends_well().out[0] == "1 0\n"


def test_exit_without_cleaning_up(run, compiled):
    # _exit while queue pairs and memory are in use: the status is the program's, and nothing is left
    program = compiled("#include <unistd.h>\n" + PAIR + "int main(void) { setup(); write_to(1); _exit(3); }")
    r = run(program, options=("--hosts", "1"))
    assert r.returncode == 3 and r.status == {0: 3} and not processes(program)


def test_a_program_that_fails(run):
    r = run("false", options=("--hosts", "1"))
    assert r.returncode == 1 and "host 0 (false): status 1" in r.stderr


def test_a_crash_ends_the_run(run, compiled):
    crash = compiled("""
        #include <infiniband/verbs.h>
        #include <stdlib.h>
        int main(void) { int n; ibv_get_device_list(&n); abort(); }""")
    r = run(crash, "ibv_rc_pingpong -g 0 node0")
    assert r.returncode == 1 and "ended by signal 6" in r.report["failure"]
    assert not processes(crash)


def test_kill_of_the_conductor_leaves_nothing(tmp_path):
    run = subprocess.Popen([LOCO_SIM, "exec", "--output", str(tmp_path), "--", "ib_send_bw", "-n", "1000000"],
                           stdin=subprocess.DEVNULL)
    for _ in range(200):  # until both have begun
        children = processes(parent=run.pid)
        if len(children) == 2:
            break
        time.sleep(0.05)
    run.send_signal(signal.SIGKILL)
    run.wait()
    assert len(children) == 2
    for _ in range(100):
        if not processes() & children:
            break
        time.sleep(0.05)
    assert not processes() & children


def test_an_interrupt_ends_the_run_in_order():
    run = subprocess.Popen([LOCO_SIM, "exec", "--json", "--", "ib_write_bw", "--run_infinitely", "-s", "64"],
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    children = processes(parent=run.pid)
    run.send_signal(signal.SIGINT)
    out, _ = run.communicate(timeout=30)
    assert run.returncode == 130 and json.loads(out)["failure"].startswith("interrupted at ")
    assert not processes() & children


def test_nothing_is_left_to_happen(run):
    # a server without a client
    r = run("ib_send_lat", options=("--hosts", "1"))
    assert r.returncode == 1
    assert "nothing is left to happen" in r.report["failure"] and "host 0 (ib_send_lat) waits for a socket" in r.report["failure"]


def test_a_child_of_fork_has_turns_of_its_own(run, compiled):
    # It waits in simulated time, uses verbs with memory of its own at the addresses of its parent's, and is waited for.
    program = compiled(PAIR + """
        #include <sys/wait.h>
        #include <time.h>
        #include <unistd.h>
        static long ms(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000 + t.tv_nsec / 1000000; }
        static unsigned long one_write(void) {
          struct ibv_wc wc;
          setup();
          write_to(0);
          while (!ibv_poll_cq(cq[0], 1, &wc)) {}
          return wc.status == 0 ? buffer[8] : 99;
        }
        int main(void) {
          int status = 0;
          long before = ms();
          pid_t child = fork();
          if (child == 0) { usleep(5000); buffer[8] = 1; _exit((int)one_write() + (getppid() == 1000 ? 0 : 50)); }
          unsigned long mine = one_write();
          pid_t found = waitpid(child, &status, 0);
          printf("%d %lu %d %ld\\n", found == child, mine, WEXITSTATUS(status), ms() - before);
          return 0;
        }""")
    first, second = (run(program, options=("--hosts", "1")).ends_well() for _ in range(2))
    assert first.out[0] == "1 5 5 5\n" and first.printed() == second.printed()


def test_a_server_of_children(run, compiled):
    # A child for each connection, as daemons have it; the parent hears of their ends by a signal.
    program = compiled("""
        #include <netdb.h>
        #include <signal.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/socket.h>
        #include <sys/wait.h>
        #include <unistd.h>
        #include <netinet/in.h>
        #include <arpa/inet.h>
        static volatile int ended;
        static void gone(int none) { while (waitpid(-1, NULL, WNOHANG) > 0) ++ended; }
        int main(int argc, char **argv) {
          struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(7000)};
          int s = socket(AF_INET, SOCK_STREAM, 0);
          char text[32] = {0};
          if (argc > 1) {
            struct hostent *h = gethostbyname(argv[1]);
            memcpy(&a.sin_addr, h->h_addr, 4);
            for (int i = 0; i < 3; ++i) {
              s = socket(AF_INET, SOCK_STREAM, 0);
              if (connect(s, (void *)&a, sizeof a)) return 1;
              memset(text, 0, sizeof text);
              while (recv(s, text + strlen(text), 8, 0) > 0) {}
              printf("%s", text);
              close(s);
            }
            return 0;
          }
          signal(SIGCHLD, gone);
          bind(s, (void *)&a, sizeof a);
          listen(s, 4);
          for (int i = 0; i < 3; ++i) {
            int c = accept(s, NULL, NULL);
            if (fork() == 0) { dprintf(c, "child %d is %d\\n", i, getpid()); exit(0); }
            close(c);
          }
          while (ended < 3) pause();
          printf("%d ended\\n", ended);
          return 0;
        }""", "-lc")
    first, second = (run(program).ends_well() for _ in range(2))
    assert first.out[0] == "3 ended\n" and first.out[1] == "child 0 is 10010\nchild 1 is 10020\nchild 2 is 10030\n"
    assert first.printed() == second.printed()


def test_an_alarm_ends_a_loop_of_polls(run, compiled):
    program = compiled("#include <signal.h>\n#include <sys/time.h>\n#include <time.h>\n" + PAIR + """
        static volatile int over;
        static void ring(int none) { over = 1; }
        int main(void) {
          setup();
          signal(SIGALRM, ring);
          struct timespec a, b;
          struct itimerval t = {.it_value = {0, 2500}};
          struct ibv_wc wc;
          clock_gettime(CLOCK_MONOTONIC, &a);
          setitimer(ITIMER_REAL, &t, NULL);
          while (!over) ibv_poll_cq(cq[0], 1, &wc);
          clock_gettime(CLOCK_MONOTONIC, &b);
          printf("%ld us\\n", (b.tv_nsec - a.tv_nsec) / 1000);
          return 0;
        }""")
    assert run(program, options=("--hosts", "1")).ends_well().out[0] == "2500 us\n"


def test_a_program_becomes_another_one_and_has_children(run, compiled):
    program = compiled("""
        #define _GNU_SOURCE
        #include <stdio.h>
        #include <sys/wait.h>
        #include <unistd.h>
        int main(void) {
          int status = 1;
          for (int i = 0; i < 2; ++i) {
            pid_t child = i == 0 ? fork() : vfork();
            if (child == 0) { execlp("true", "true", NULL); _exit(9); }
            waitpid(child, &status, 0);
            printf("%d ", WEXITSTATUS(status));
          }
          fflush(stdout);
          execlp("ibv_devices", "ibv_devices", NULL);
          return 9;
        }""", "-lc")
    out = run(program, options=("--hosts", "1")).ends_well().out[0]
    assert out.startswith("0 0 ") and "loco0" in out


def test_sixty_four_programs(run):
    pairs = [pair for host in range(0, 64, 2)
             for pair in ("ibv_rc_pingpong -g 0 -n 10", f"ibv_rc_pingpong -g 0 -n 10 node{host}")]
    r = run(*pairs).ends_well()
    assert len(r.out) == 64 and all("10 iters" in out for out in r.out.values())


def test_time_is_simulated(run, compiled):
    program = compiled("""
        #include <stdio.h>
        #include <time.h>
        #include <unistd.h>
        int main(void) {
          struct timespec a, b;
          clock_gettime(CLOCK_MONOTONIC, &a);
          sleep(3600);
          clock_gettime(CLOCK_MONOTONIC, &b);
          printf("%ld %ld %ld\\n", (long)a.tv_sec, (long)(b.tv_sec - a.tv_sec), b.tv_nsec - a.tv_nsec);
          return 0;
        }""", "-lc")
    r = run(program, options=("--hosts", "1")).ends_well()
    assert r.out[0] == "1000 3600 0\n"
    assert r.report["wall_seconds"] < 5


def test_a_loop_that_polls_two_queues_sees_what_comes_to_either(run, compiled):
    # A write to the other queue pair completes on the second queue, while the first is polled again and again.
    program = compiled(PAIR + """
        int main(void) {
          setup();
          write_to(1);
          struct ibv_wc wc;
          int polls = 0;
          while (!ibv_poll_cq(cq[0], 1, &wc) && !ibv_poll_cq(cq[1], 1, &wc)) ++polls;
          printf("%d %d %lx\\n", wc.status, (int)wc.wr_id, buffer[8]);
          return wc.status;
        }""")
    assert run(program, options=("--hosts", "1")).ends_well().out[0] == "0 1 5\n"


def test_a_spin_on_memory_is_found_and_waits(run, compiled):
    program = compiled(PAIR + """
        int main(void) {
          setup();
          write_to(0);
          while (((volatile unsigned long *)buffer)[8] != 5) {}
          printf("seen\\n");
          return 0;
        }""")
    r = run(program, options=("--hosts", "1")).ends_well()
    assert r.out[0] == "seen\n"
    assert len(r.report["waits_on_memory"]) == 1 and not r.report["not_deterministic"]


def test_work_on_registered_memory_is_no_spin(run, compiled):
    program = compiled(PAIR + """
        #include <string.h>
        int main(void) {
          setup();
          size_t bytes = 256u << 20;
          char *big = malloc(bytes);
          struct ibv_mr *mr = ibv_reg_mr(pd, big, bytes, IBV_ACCESS_LOCAL_WRITE);
          for (int i = 0; i < 4; ++i) memset(big, i, bytes);
          printf("%d\\n", big[bytes - 1]);
          return mr == NULL;
        }""")
    r = run(program, options=("--hosts", "1"), timeout=60).ends_well()
    assert r.out[0] == "3\n" and not r.report["waits_on_memory"]


@pytest.mark.parametrize("loop", [
    "while (!flag) {}",
    "while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE)) __builtin_ia32_pause();",
    "for (unsigned one = 1; !__atomic_compare_exchange_n(&flag, &one, 2, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); one = 1) {}",
])
def test_a_spin_on_another_thread_s_store(run, compiled, loop):
    # it ends when the other thread has stored, 3 ms of simulated time later
    program = compiled("""
        #include <pthread.h>
        #include <stdio.h>
        #include <time.h>
        #include <unistd.h>
        static volatile unsigned flag;
        static void *other(void *none) { usleep(3000); flag = 1; usleep(1000); return none; }
        int main(void) {
          struct timespec a, b;
          pthread_t thread;
          pthread_create(&thread, NULL, other, NULL);
          clock_gettime(CLOCK_MONOTONIC, &a);
          %s
          clock_gettime(CLOCK_MONOTONIC, &b);
          printf("%%ld us\\n", ((b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec) / 1000);
          pthread_join(thread, NULL);
          return 0;
        }""" % loop, "-pthread")
    first, second = (run(program, options=("--hosts", "1")).ends_well() for _ in range(2))
    assert first.out[0] == "3000 us\n" and first.printed() == second.printed()
    assert "on another thread" in first.report["waits_on_memory"][0]


def test_a_compare_names_the_read_of_a_clock_that_is_not_simulated(run, tmp_path):
    record = str(tmp_path / "record")
    first = run("cat /proc/uptime", options=("--hosts", "1", "--record", record)).ends_well()
    assert any("/proc/uptime" in line for line in first.report["not_deterministic"])
    time.sleep(0.02)
    other = run("cat /proc/uptime", options=("--hosts", "1", "--compare", record))
    assert other.returncode == 1 and "reads /proc/uptime" in other.report["difference"]


def test_a_debugger_is_waited_for(compiled, tmp_path):
    if not shutil.which("gdb"):
        pytest.skip("no gdb")
    words = [LOCO_SIM, "exec", "--hosts", "1", "--debug", "0", "--output", str(tmp_path), "--", "ibv_devices"]
    run = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    process = re.search(r"gdb -p (\d+)", run.stderr.readline())[1]
    subprocess.run(["gdb", "-batch", "-p", process, "-ex", "continue"], capture_output=True, timeout=60)
    assert "a debugger" in run.communicate(timeout=60)[1] and run.returncode == 0
    assert "loco0" in (tmp_path / "out.0").read_text()


# Two queue pairs of one host, connected to each other.
PAIR = """
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
static unsigned long buffer[16] __attribute__((aligned(4096)));
static struct ibv_context *context; static struct ibv_pd *pd; static struct ibv_mr *mr;
static struct ibv_cq *cq[2]; static struct ibv_qp *qp[2];
static void must(int good) { if (!good) { perror("setup"); exit(3); } }
static void setup(void) {
  int n;
  must((context = ibv_open_device(ibv_get_device_list(&n)[0])) != NULL);
  must((pd = ibv_alloc_pd(context)) != NULL);
  must((mr = ibv_reg_mr(pd, buffer, sizeof buffer, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)) != NULL);
  for (int i = 0; i < 2; ++i) {
    must((cq[i] = ibv_create_cq(context, 16, NULL, NULL, 0)) != NULL);
    struct ibv_qp_init_attr a = {.send_cq = cq[i], .recv_cq = cq[i], .qp_type = IBV_QPT_RC,
                                 .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};
    must((qp[i] = ibv_create_qp(pd, &a)) != NULL);
  }
  for (int i = 0; i < 2; ++i) {
    struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
    must(ibv_modify_qp(qp[i], &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
    struct ibv_qp_attr b = {.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = qp[1 - i]->qp_num,
                            .max_dest_rd_atomic = 1, .min_rnr_timer = 12, .ah_attr = {.is_global = 1, .port_num = 1}};
    must(ibv_modify_qp(qp[i], &b, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0);
    struct ibv_qp_attr c = {.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1};
    must(ibv_modify_qp(qp[i], &c, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                                      IBV_QP_MAX_QP_RD_ATOMIC) == 0);
  }
}
static void write_to(int i) {
  buffer[0] = 5;
  struct ibv_sge s = {(unsigned long)&buffer[0], 8, mr->lkey};
  struct ibv_send_wr w = {.wr_id = i, .sg_list = &s, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
                          .send_flags = IBV_SEND_SIGNALED, .wr.rdma = {(unsigned long)&buffer[8], mr->rkey}}, *bad;
  must(ibv_post_send(qp[i], &w, &bad) == 0);
}
"""


@pytest.mark.parametrize("flags, found", [("0", "1 -1 1"), ("SA_RESTART", "1 0 1")])
def test_an_alarm_while_waiting_for_an_event(run, compiled, flags, found):
    # ibv_get_cq_event(3) reads from a descriptor: a signal ends that, unless its handler says otherwise (signal(7))
    pair = PAIR.replace("static void must", "static struct ibv_comp_channel *events;\nstatic void must").replace(
        "16, NULL, NULL, 0", "16, NULL, events ? events : (events = ibv_create_comp_channel(context)), 0")
    program = compiled(f"""
        #define _GNU_SOURCE
        #include <errno.h>
        #include <signal.h>
        #include <sys/time.h>
        {pair}
        static int alarms;
        static void on_alarm(int signal) {{
          ++alarms;
          if ({flags}) write_to(0);
        }}
        int main(void) {{
          setup();
          must(ibv_req_notify_cq(cq[0], 0) == 0);
          struct sigaction a = {{.sa_handler = on_alarm, .sa_flags = {flags}}};
          sigaction(SIGALRM, &a, NULL);
          struct itimerval t = {{.it_value = {{0, 1000}}}};
          setitimer(ITIMER_REAL, &t, NULL);
          struct ibv_cq *which;
          void *c;
          int got = ibv_get_cq_event(events, &which, &c);
          printf("%d %d %d", alarms, got, got == 0 ? which == cq[0] : errno == EINTR);
          return 0;
        }}""")
    assert run(program, options=("--hosts", "1")).ends_well().out[0] == found


def test_barriers_of_openmp(run, compiled):
    # its runtime waits by system calls of its own
    program = compiled("""
        #include <omp.h>
        #include <stdio.h>
        int main(void) {
          int sum = 0;
          for (int i = 0; i < 3; ++i) {
            #pragma omp parallel num_threads(4) reduction(+:sum)
            {
              sum += omp_get_thread_num();
              #pragma omp barrier
              sum += 1;
            }
          }
          printf("%d\\n", sum);
          return 0;
        }""", "-fopenmp")
    first, second = (run(program, options=("--hosts", "1")).ends_well() for _ in range(2))
    assert first.out[0] == f"{3 * (0 + 1 + 2 + 3 + 4)}\n" and first.printed() == second.printed()


def test_a_loop_that_only_looks_at_descriptors_sees_time_pass(run, compiled):
    # no verbs call, no memory that NICs write, no clock: 1 ms, and at most one of its last turns of 64 us
    program = compiled("""
        #include <poll.h>
        #include <stdio.h>
        #include <sys/timerfd.h>
        #include <time.h>
        int main(void) {
          int file = timerfd_create(CLOCK_MONOTONIC, 0);
          struct itimerspec one = {.it_value = {.tv_nsec = 1000000}};
          timerfd_settime(file, 0, &one, NULL);
          struct timespec before, after;
          clock_gettime(CLOCK_MONOTONIC, &before);
          for (struct pollfd look = {.fd = file, .events = POLLIN}; poll(&look, 1, 0) == 0;) continue;
          clock_gettime(CLOCK_MONOTONIC, &after);
          printf("%ld\\n", (after.tv_sec - before.tv_sec) * 1000000 + (after.tv_nsec - before.tv_nsec) / 1000);
          return 0;
        }""")
    first, second = (run(program, options=("--hosts", "1"), timeout=30).ends_well() for _ in range(2))
    assert 1000 <= int(first.out[0]) <= 1064 and first.printed() == second.printed()


def test_threads_that_have_ended_cost_nothing(compiled):
    program = compiled("""
        #include <pthread.h>
        #include <stdio.h>
        #include <stdlib.h>
        static long sum;
        static void *add(void *one) { sum += *(long *)one; return NULL; }
        int main(int argc, char **argv) {
          for (long i = 0; i < atol(argv[1]); ++i) {
            pthread_t t;
            if (pthread_create(&t, NULL, add, &i) != 0) return 1;
            pthread_join(t, NULL);
          }
          printf("%ld\\n", sum);
          return 0;
        }""", "-pthread")

    def most_memory(threads: int) -> int:
        """In KiB, of the process that conducts."""
        done = subprocess.Popen([LOCO_SIM, "exec", "--hosts", "1", "--", program, str(threads)], stdout=subprocess.PIPE, text=True)
        out = done.stdout.read()
        _, status, used = os.wait4(done.pid, 0)
        done.returncode = status
        assert status == 0 and out.split()[-1] == str(threads * (threads - 1) // 2)
        return used.ru_maxrss

    # a channel's first pages alone are some KiB a thread
    assert most_memory(3000) - most_memory(100) < 8 * 1024
