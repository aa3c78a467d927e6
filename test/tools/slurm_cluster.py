#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A Slurm cluster of one node on loopback, with daemons of its own: to try a campaign on Slurm, and for the
tests. Needs root and Debian's packages slurm-wlm and munge.

    test/tools/slurm_cluster.py tools/campaign STUDY.toml --engine=slurm --wait --output=DIR

starts munged, slurmctld and slurmd, runs the command, and stops them.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SETTINGS = """ClusterName=trial
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_min_interval=100000,batch_sched_delay=0
MaxArraySize={array}
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=trial Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def find_lack():
    """Why there can be no cluster, as a sentence; empty if nothing is missing."""
    if os.geteuid() != 0:
        return "A trial of Slurm needs root."
    missing = [name for name in ("munged", "slurmctld", "slurmd", "sbatch", "setpriv")
               if not shutil.which(name)]
    return f"A trial of Slurm needs {', '.join(missing)} (slurm-wlm, munge)." if missing else ""


def _free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def _wait_for(is_ready, what, seconds=60):
    limit = time.monotonic() + seconds
    while not is_ready():
        if time.monotonic() > limit:
            raise RuntimeError(f"{what} is not ready after {seconds} s")
        time.sleep(0.1)


@contextlib.contextmanager
def run_cluster(array=1001, cpus=2):
    """Start the daemons and stop them in the end; gives the path of slurm.conf."""
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))
    folder.chmod(0o755)  # the user munge comes through
    host = socket.gethostname().split(".")[0]
    settings = folder / "slurm.conf"
    settings.write_text(SETTINGS.format(
        host=host, folder=folder, ports=_free_ports(2), array=array, cpus=cpus))
    for name in ("state", "spool", "munge"):
        (folder / name).mkdir()
    (folder / "munge" / "key").write_bytes(os.urandom(128))
    (folder / "munge" / "key").chmod(0o600)
    for path in (folder / "munge", folder / "munge" / "key"):
        shutil.chown(path, "munge", "munge")
    environment = {**os.environ, "SLURM_CONF": str(settings)}
    daemons = []

    def start(name, *command):
        with open(folder / f"{name}.log", "wb") as log:
            daemons.append(subprocess.Popen(command, stdout=log, stderr=log, env=environment))

    def answers(*command):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        return done.stdout if done.returncode == 0 else ""

    try:
        files = [f"--{name}-file={folder}/munge/{name}" for name in ("key", "log", "pid", "seed")]
        start("munged", "setpriv", "--reuid=munge", "--regid=munge", "--clear-groups", "munged",
              "--foreground", "--num-threads=2", f"--socket={folder}/munge/socket", *files)
        _wait_for((folder / "munge" / "socket").exists, "munged")
        start("slurmctld", "slurmctld", "-D", "-f", settings)
        start("slurmd", "slurmd", "-D", "-f", settings, "-N", host)
        _wait_for(lambda: "idle" in answers("sinfo", "--noheader", "--format=%T"), "Slurm")
        yield settings
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
        for daemon in reversed(daemons):
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(folder, ignore_errors=True)


def main(words):
    lack = find_lack()
    if lack:
        print(f"slurm_cluster: {lack}", file=sys.stderr)
        return 77
    with run_cluster() as settings:
        return subprocess.run(words, env={**os.environ, "SLURM_CONF": str(settings)}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
