"""A token goes round a ring of hosts: a write with immediate data brings it, the receive's completion tells of it.

As examples/verbs_ring.cpp, in Python: python3 examples/verbs_ring.py
"""

import loco_sim as ls

HOSTS, LAPS = 4, 100

machine = ls.verbs.Machine(nodes=HOSTS, hardware="cx5-roce-25g")
memory = [machine.register(n, 64) for n in range(HOSTS)]
sends = [machine.create_cq(n) for n in range(HOSTS)]
receives = [machine.create_cq(n) for n in range(HOSTS)]
left = [machine.create_qp(n, sends[n], receives[n]) for n in range(HOSTS)]
right = [machine.create_qp(n, sends[n], receives[n]) for n in range(HOSTS)]
for n in range(HOSTS):
    machine.connect(right[n], left[(n + 1) % HOSTS])
for queue in left:
    machine.post_recv(queue)  # a write with immediate data leaves the receive's buffer alone


def host(thread, n):
    here, there = memory[n], memory[(n + 1) % HOSTS]
    sent = False

    def wait_until_sent():  # until its completion the NIC may read what is sent: it is not changed before
        if sent:
            assert (yield thread.wait_cq(sends[n])).ok

    def send(lap):
        nonlocal sent
        yield from wait_until_sent()
        sent = True
        yield thread.store(here, lap)
        yield thread.post_send(right[n], "rdma_write", local=here[:8], remote=there[8:16], imm=lap)

    start = yield thread.now()
    if n == 0:
        yield from send(0)
    for lap in range(LAPS):
        token = yield thread.wait_cq(receives[n])
        assert token.ok, token.status
        yield thread.post_recv(left[n])
        if n != 0 or lap + 1 < LAPS:
            yield from send(token.imm + (n == 0))
    yield from wait_until_sent()
    return (yield thread.now()) - start


threads = [machine.spawn(n, host, n) for n in range(HOSTS)]
machine.run()
print(f"{LAPS * HOSTS} hops of {threads[0].returned / 1e6 / (LAPS * HOSTS):.3f} us")
