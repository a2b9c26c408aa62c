"""rsockets: byte streams over verbs, as rdmacm-utils' programs use them, and sockets' programs by librspreload."""

import re
from pathlib import Path

import pytest

from .conftest import needs_shim
from .test_programs import last_row

pytestmark = needs_shim
PRELOAD = "/usr/lib/x86_64-linux-gnu/rsocket/librspreload.so"


def measured(out: str) -> tuple[float, float]:
    """Gb/s and microseconds a transfer."""
    found = re.search(r"^custom .* ([\d.]+) +([\d.]+)$", out, re.MULTILINE)
    return float(found[1]), float(found[2])


def pair(run, program: str, options: str):
    return run(f"{program} {options}", f"{program} -s node0 {options}").ends_well()


@pytest.mark.parametrize("program", ["rstream", "riostream"])
@pytest.mark.parametrize("way", ["", "-T a", "-T b", "-T n"])
def test_a_small_transfer_takes_what_a_message_takes(run, program, way):
    # a WRITE with immediate, or a WRITE that the other side sees in its memory, from inline data
    message = last_row(run("ib_send_lat -s 64 -I 64 -n 100").ends_well().out[1])[4]
    _, us = measured(pair(run, program, f"-S 64 -I 100 -C 1 {way}").out[1])
    assert message - 0.05 < us < 1.15 * message


def test_a_stream_fills_the_link(run):
    # perftest's 11036 MB/s are 92.6 Gb/s; at most two rings of 128 KiB are under way, and one is copied meanwhile
    gigabits, _ = measured(pair(run, "rstream", "-S 65536 -I 50 -C 2").out[1])
    assert 70 < gigabits < 92.7


def test_one_sided_writes_of_whole_pages_end(run):
    done = pair(run, "riostream", "-S 4096 -I 100 -C 2")
    assert not done.report["not_deterministic"] and measured(done.out[0])[0] > 0


ECHO = """
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
static char sent[1 << 16], got[1 << 16];
static int refused(const char *what) { perror(what); return 1; }
int main(int argc, char **argv) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(7777)};
  int s = socket(AF_INET, SOCK_STREAM, 0);
  if (argc == 1) {
    if (bind(s, (void *)&a, sizeof a) || listen(s, 1)) return refused("listen");
    int c = accept(s, NULL, NULL);
    long all = 0, part;
    while ((part = recv(c, got, sizeof got, 0)) > 0) {
      all += part;
      for (long done = 0, w; done < part; done += w)
        if ((w = send(c, got + done, part - done, 0)) <= 0) return refused("send");
    }
    printf("%ld\\n", all);
    return close(c) + close(s);
  }
  memcpy(&a.sin_addr, gethostbyname(argv[1])->h_addr, 4);
  if (connect(s, (void *)&a, sizeof a)) return refused("connect");
  for (int i = 0; i < (int)sizeof sent; ++i) sent[i] = i * 7;
  for (int round = 0; round < 20; ++round) {
    long bytes = 1 + round * 3000;
    if (send(s, sent, bytes, 0) != bytes) return refused("send");
    if (recv(s, got, bytes, MSG_WAITALL) != bytes) return refused("recv");
    if (memcmp(sent, got, bytes)) return refused("other bytes");
  }
  puts("the same");
  return close(s);
}"""


@pytest.mark.skipif(not Path(PRELOAD).exists(), reason="no librspreload.so of librdmacm1")
def test_a_program_of_sockets_by_the_preloaded_library(run, compiled):
    program = compiled(ECHO)
    done = run(program, f"{program} node0", environment={"LD_PRELOAD": PRELOAD}).ends_well()
    sent = sum(1 + round * 3000 for round in range(20))
    assert done.out == {0: f"{sent}\n", 1: "the same\n"}
    assert done.report["counters"]["wire_bytes_sent"] > 2 * sent


DATAGRAMS = """
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <rdma/rsocket.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static char buffer[4096];
/* The first host answers six datagrams of two others, and prints where they come from. */
static int server(void) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(7000)};
  int s = rsocket(AF_INET, SOCK_DGRAM, 0), sum = 0, hosts = 0;
  if (s < 0 || rbind(s, (void *)&a, sizeof a) || rlisten(s, 1) == 0) return 1;
  for (int i = 0; i < 6; ++i) {
    socklen_t bytes = sizeof a;
    long got = rrecvfrom(s, buffer, sizeof buffer, 0, (void *)&a, &bytes);
    sum += got;
    hosts |= 1 << (ntohl(a.sin_addr.s_addr) & 255);
    if (buffer[0] != (char)got || rsendto(s, buffer, got - 1, 0, (void *)&a, bytes) != got - 1) return 2;
  }
  struct pollfd f = {s, POLLIN, 0};
  printf("%d %x %d\\n", sum, hosts, rpoll(&f, 1, 5));
  return rclose(s);
}
int main(int argc, char **argv) {
  if (argc == 1) return server();
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(7000)};
  memcpy(&to.sin_addr, gethostbyname(argv[1])->h_addr, 4);
  int s = rsocket(AF_INET, SOCK_DGRAM, 0);
  int none = rsend(s, buffer, 1, 0);
  printf("%d %d ", none, errno == EDESTADDRREQ);
  to.sin_port = htons(7001); /* where nobody is */
  printf("%d ", (int)rsendto(s, buffer, 5, 0, (void *)&to, sizeof to));
  to.sin_port = htons(7000);
  if (rconnect(s, (void *)&to, sizeof to)) return 3;
  none = rsend(s, buffer, 1025, 0);
  printf("%d %d ", none, errno == EMSGSIZE);
  none = rrecv(s, buffer, 1, MSG_DONTWAIT);
  printf("%d %d\\n", none, errno == EAGAIN);
  int sizes[] = {100, 1024, 2};
  for (int i = 0; i < 3; ++i) {
    buffer[0] = sizes[i];
    struct iovec two[] = {{buffer, 1}, {buffer + 1, sizes[i] - 1}};
    if (rwritev(s, two, 2) != sizes[i]) return 4;
    if (rrecv(s, buffer, 50, MSG_PEEK) != (sizes[i] > 50 ? 50 : 1)) return 5;
    if (rrecv(s, buffer, sizeof buffer, 0) != sizes[i] - 1) return 6;
  }
  return rclose(s);
}"""


def test_datagrams(run, compiled):
    # each keeps its bounds and says where it comes from: 127.1.0.2 and .3; of more than the path MTU none is sent
    program = compiled(DATAGRAMS, "-lrdmacm", "-libverbs")
    first, second = (run(program, f"{program} node0", f"{program} node0").ends_well() for _ in range(2))
    assert first.out[0] == f"{2 * (100 + 1024 + 2)} {1 << 2 | 1 << 3:x} 0\n"
    assert first.out[1] == first.out[2] == "-1 1 5 -1 1 -1 1\n"
    assert first.printed() == second.printed() and not first.report["not_deterministic"]


@pytest.mark.long
def test_udpong(run):
    # its server never ends; an echo is a message there and one back, each as long as perftest's
    message = last_row(run("ib_send_lat -c UD -s 64 -n 100").ends_well().out[1])[4]
    done = run("udpong -S 64 -C 100 -T e", "udpong -s node0 -S 64 -C 100 -T e")
    assert done.status[1] == 0 and "nothing is left to happen" in done.report["failure"]
    assert message - 0.05 < float(re.search(r"^custom .* ([\d.]+)$", done.out[1], re.MULTILINE)[1]) < 1.15 * message
