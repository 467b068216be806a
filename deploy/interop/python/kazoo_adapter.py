# kazoo's Lock behind the line protocol of drivers/exec/README.md.
#
# kazoo can be told that Curator's nodes (..-lock-<number>) are contenders too. Curator cannot be
# told that kazoo's are (..__lock__<number>): it sorts them behind all of its own, and so takes a
# lock that kazoo holds. The names of nodes are therefore Curator's, unless the option "nodes" says
# otherwise.
import json
import os
import queue
import sys
import threading
import time

import kazoo
from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import LockTimeout, NoNodeError
from kazoo.recipe.lock import Lock

now, writing = time.monotonic_ns, threading.Lock()
hello = json.loads(sys.stdin.readline())
server = hello["server"]
names = [hello["prefix"] + key for key in hello["keys"]]
within = max(1.0, hello["within_ms"] / 1000)


class CuratorsLock(Lock):
    """kazoo's lock under a name that Curator counts as a contender: "<uuid>-lock-<number>"."""

    _NODE_NAME = "-lock-"


def say(**message):
    with writing:
        print(json.dumps(message), flush=True)


class Client:
    def __init__(self, zookeeper, identity):
        self.zookeeper, self.identity = zookeeper, identity
        self.locks = {}

    def lock(self, key):
        if key not in self.locks:
            kind = Lock if hello["options"].get("nodes") == "kazoo" else CuratorsLock
            self.locks[key] = kind(
                self.zookeeper, names[key], self.identity, extra_lock_patterns=["-lock-"])
        return self.locks[key]

    def acquire(self, call):
        lock = self.lock(call["key"])
        if lock.is_acquired:  # kazoo itself would say that it has it
            return dict(outcome="refused", why="busy")
        try:
            got = lock.acquire(timeout=max(call["wait_ms"], 1) / 1000)
        except LockTimeout:
            return dict(outcome="refused", why="deadline")
        return dict(outcome="granted") if got else dict(outcome="refused", why="busy")

    def release(self, call):
        lock = self.lock(call["key"])
        if not lock.is_acquired:
            return dict(outcome="refused", why="not_owner")
        done = lock.release()
        return dict(outcome="granted") if done else dict(outcome="refused", why="not_owner")

    def wipe(self, call):
        try:
            self.zookeeper.delete(hello["prefix"].rstrip("/"), recursive=True)
        except NoNodeError:
            pass
        return dict(outcome="granted")

    def serve(self, calls):
        while True:
            call, received = calls.get()
            began = now()
            try:
                ending = getattr(self, call["op"])(call)
            except Exception as e:
                print("%s: %r" % (call["op"], e), file=sys.stderr)
                ending = dict(outcome="doubt", why="lost")
            ended = now()
            say(id=call["id"], received=received, began=began, ended=ended, sent=now(), **ending)


def connect():
    login = [("digest", "%s:%s" % (server["user"], server["password"]))]
    zookeeper = KazooClient(
        hosts=",".join(server["hosts"]) + server["path"],
        timeout=max(1.0, hello["session_ms"] / 1000) if hello["session_ms"] else 10.0,
        auth_data=login if server["password"] else None)
    zookeeper.add_listener(lambda state: say(alive=state == KazooState.CONNECTED))
    zookeeper.start(timeout=within)
    return zookeeper


def main():
    try:
        zookeeper = connect()
    except Exception as e:
        say(failed="no session: %r" % e)
        os._exit(0)
    say(ready=True, version="kazoo " + kazoo.__version__)
    clients = []
    for n in range(hello["clients"] or 1):
        clients.append(queue.Queue())
        client = Client(zookeeper, "%s:%d" % (hello["instance"], n))
        threading.Thread(target=client.serve, args=(clients[n],), daemon=True).start()
    for line in sys.stdin:
        received, call = now(), json.loads(line)
        if call["op"] == "close":
            break
        clients[call["client"]].put((call, received))
    zookeeper.stop()
    os._exit(0)


main()
