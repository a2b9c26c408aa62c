"""How long does a round trip take, and what would one microsecond more of cable do to it?"""

import loco_sim as ls

ROUNDS = 200


def pinger(ctx):
    for i in range(1, ROUNDS + 1):
        start = yield ctx.now()
        yield ctx.put("ping", node=1, value=i)
        yield ctx.wait_until("pong", "==", i)
        ctx.sample("round trip", start, (yield ctx.now()))


def ponger(ctx):
    for i in range(1, ROUNDS + 1):
        yield ctx.wait_until("ping", "==", i)
        yield ctx.put("pong", node=0, value=i)


program = ls.Program(nodes={0: pinger, 1: ponger})
for delay in ("50ns", "1us"):
    result = program.run("cx5-roce-25g", overrides={"fabric.link.delay": delay})
    print(f"links of {delay}: median {result.latency.median / 1e6:.2f} us, p99 {result.latency.p99 / 1e6:.2f} us, "
          f"consistent: {result.consistent}")
