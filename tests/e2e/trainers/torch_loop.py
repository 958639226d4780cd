"""A small network trained by hypertune.torch, which dies in several ways.

Arguments: when the first attempt kills itself ("never", "before report 3", "at
the end"), and how many epochs there are. Notes every epoch it begins in the
file "epochs" of its working folder. With RANK it is one of WORLD_SIZE processes
that train together, and notes its last epoch in "ended"."""

import os
import signal
import sys

import hypertune
import hypertune.torch
import torch

when, count = sys.argv[1], int(sys.argv[2])
rank = int(os.environ.get("RANK", 0))
if "RANK" in os.environ:
    torch.distributed.init_process_group(
        "gloo", "file://%s/together" % os.environ["HYPERTUNE_TRIAL_DIR"],
        rank=rank, world_size=int(os.environ["WORLD_SIZE"]))


def die(now):
    if when == now and os.environ.get("HYPERTUNE_RESUME") != "1":
        os.kill(os.getpid(), signal.SIGKILL)


def dying_report(trial, step, metrics, report=hypertune.torch.callback.report):
    die("before report %d" % step)
    report(trial, step, metrics)


hypertune.torch.callback.report = dying_report
torch.set_num_threads(1)
torch.manual_seed(1)
x = torch.rand(64, 3)
y = x.sum(1, keepdim=True)
model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Dropout(0.2),
                            torch.nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), 0.01)
loss = 0
for epoch in hypertune.torch.epochs(count, model=model, optimizer=optimizer):
    with open("epochs", "a", encoding="ascii") as file:
        file.write("%s,%d,%d\n" % (when, rank, epoch))
    for part in torch.randperm(64)[rank:].split(16):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x[part]), y[part])
        loss.backward()
        optimizer.step()
    epoch.report({"val/first": model[0].bias[0]}, loss=loss)
die("at the end")
if "RANK" in os.environ:
    with open("ended", "a", encoding="ascii") as file:
        file.write("%d,%d\n" % (rank, epoch))
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()
