"""Workers on three nodes take jobs off a shared counter with fetch-and-add; a barrier ends each batch."""

import loco_sim as ls

JOBS, BATCHES, WORKERS = 60, 3, 3


def worker(ctx):
    done = 0
    for batch in range(1, BATCHES + 1):
        while True:
            job = yield ctx.fetch_add(f"next{batch}", node=0, add=1)
            if job >= JOBS:
                break
            yield ctx.compute("500ns")
            done += 1
        yield ctx.barrier()
    return done


result = ls.Program({n: worker for n in range(WORKERS)}, barriers=["barrier"]).run("cx5-roce-25g")
assert sum(result.returned.values()) == JOBS * BATCHES
print("jobs done by each worker:", result.returned)
print(f"{result.simulated_ps / 1e6:.1f} us; {result.verdict}")
