"""Names itself and greets every replica of its cluster, itself too.

Each replica listens on its own address and answers with its name; each
asks all of them and expects the right names. The master also asks each whether
it is done, so that none is stopped before, and reports how many there are: on
its output, and where the job has a metric also as Google's reporter does. The
others wait to be stopped."""

import json
import os
import socket
import sys
import threading
import time

VARIABLES = ("CLUSTER_SPEC", "TF_CONFIG")
DEADLINE = time.monotonic() + 180


def ask(address, question):
    host, port = address.rsplit(":", 1)
    while True:
        try:
            with socket.create_connection((host, int(port)), 10) as stream:
                stream.sendall(question)
                return stream.makefile().readline().strip()
        except OSError:  # not up yet, or not even its name is known
            if time.monotonic() > DEADLINE:
                sys.exit("no answer at " + address)
            time.sleep(0.02)


def answer(stream, name, done):
    with stream:
        if stream.recv(1) == b"d":
            done.wait()
        stream.sendall(name.encode() + b"\n")


def serve(listener, name, done):
    while True:
        stream, _ = listener.accept()
        threading.Thread(target=answer, args=(stream, name, done),
                         daemon=True).start()


def report(count):
    print("score=%d" % count)
    tag = os.environ.get("CLOUD_ML_HP_METRIC_TAG")
    if tag:
        with open(os.environ["CLOUD_ML_HP_METRIC_FILE"], "w",
                  encoding="ascii") as file:
            file.write(json.dumps({
                "timestamp": time.time(), "global_step": "1",
                "trial": os.environ["CLOUD_ML_TRIAL_ID"], tag: str(count),
                "checkpoint_path": ""}) + "\n")


def main():
    said = {name: json.loads(os.environ[name]) for name in VARIABLES}
    said["HYPERTUNE_REPLICA"] = os.environ["HYPERTUNE_REPLICA"]
    print(json.dumps(said))
    cluster = said["CLUSTER_SPEC"]["cluster"]
    task = said["CLUSTER_SPEC"]["task"]
    name = "%s-%d" % (task["type"], task["index"])
    host, port = cluster[task["type"]][task["index"]].rsplit(":", 1)
    done = threading.Event()
    with socket.socket() as listener:
        listener.bind((host, int(port)))
        listener.listen(64)
        threading.Thread(target=serve, args=(listener, name, done),
                         daemon=True).start()
        others = [("%s-%d" % (kind, index), address)
                  for kind, addresses in cluster.items()
                  for index, address in enumerate(addresses)]
        for other, address in others:
            heard = ask(address, b"n")
            if heard != other:
                sys.exit("%s says it is %s" % (other, heard))
        done.set()
        if said["HYPERTUNE_REPLICA"] != "master-0":
            threading.Event().wait()
        for _, address in others:
            ask(address, b"d")
        report(len(others))


main()
