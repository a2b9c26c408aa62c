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
    gigabits, _ = measured(pair(run, "rstream", "-S 65536 -I 50 -C 10").out[1])
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


def test_datagrams_are_not_there_and_named(run, compiled):
    program = compiled("""
        #include <errno.h>
        #include <rdma/rsocket.h>
        #include <stdio.h>
        int main(void) { int s = rsocket(AF_INET, SOCK_DGRAM, 0); printf("%d %d\\n", s, errno == EOPNOTSUPP); return 0; }""",
                       "-lrdmacm", "-libverbs")
    done = run(program).ends_well()
    assert done.out[0] == "-1 1\n" and "host 0: rsocket of datagrams" in done.report["not_supported"]
