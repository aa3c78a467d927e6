# SPDX-License-Identifier: GPL-2.0-only
"""Runs the jobs of a study by an engine, and collects their tables.

A campaign is a folder:

    campaign.json        the plan: jobs with their keys, what to collect
    runs/KEY/            a complete run: run.json, log, stdout, the program's files (run-rounds.csv ...)
    runs/KEY.failed/     a run that failed; it is repeated when the campaign is started again
    runs/KEY.HOST.PID/   a run at work, or one that was killed

The key is a hash of the command and of the program's files. A run is complete when its folder has
been renamed to KEY, which happens once its result line was read: no engine's log is consulted, and
a job that outlives its driver can only do work that was wanted anyway. A job whose program has been
built anew since the plan was made refuses to work: its result would stand under a wrong key.
"""

import contextlib
import csv
import hashlib
import json
import math
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from . import Mistake, replace_file

PREFIX = "run"  # of the files that a program writes
ENGINE_LOG = "engine.log"  # what GNU parallel says
POLL_S = 0.2  # seconds between two looks at an engine
SHOWN_FAILURES = 3
REPORT_S = 10  # seconds between two lines of progress in a file
SQUEUE_TRIES = 60  # until a controller of Slurm that does not answer is given up
RESULT = re.compile(r"result(?: \S+=\S*)*")
# What the files of a campaign have, of what this tool reads.
PLAN = {"title": str, "folder": str, "fingerprint": str, "output": bool, "collect": list, "jobs": dict}
JOB = {"command": list, "values": dict}
RECORD = {"command": list, "exit_code": int, "host": str, "seconds": (int, float), "result": dict}


def fingerprint(program):
    """A hash of what a command executes: the program and its shared libraries that are not the
    system's. It changes with every new build whose code differs."""
    digest = hashlib.sha256()
    listing = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    libraries = re.findall(r"=> (\S+) \(", listing)
    for path in [program, *(name for name in libraries if not re.match(r"/(usr|lib)", name))]:
        with open(path, "rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


def find_program(name):
    """The absolute path of a study's program."""
    path = shutil.which(name) if "/" not in name else name
    if not path or not os.path.isfile(path):
        raise Mistake(f"The program {name} does not exist; 'make build' makes the examples.")
    if not os.access(path, os.X_OK):
        raise Mistake(f"The program {name} cannot be executed.")
    return os.path.abspath(path)


def _has(content, members):
    """Whether a part of a file has the members that this tool writes."""
    return isinstance(content, dict) and all(
        isinstance(content.get(name), kind) for name, kind in members.items())


def read_json(path, members):
    """The content of a file that this tool wrote."""
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except OSError as error:
        raise Mistake(f"Cannot read {path}: {error.strerror}.") from None
    except (ValueError, RecursionError):
        content = None
    if not _has(content, members):
        raise Mistake(f"{path} is broken: no campaign wrote it, or it was changed.")
    return content


def write_text(path, text):
    """Write a file, complete or not at all."""
    with replace_file(path) as file:
        file.write(text)


def write_json(path, content):
    """Write a file, complete or not at all."""
    write_text(path, json.dumps(content, indent=1) + "\n")


class Campaign:
    """A folder with the runs of a study."""

    def __init__(self, folder):
        if not str(folder):
            raise Mistake("The name of the folder of the campaign is empty.")
        self.folder = Path(folder).absolute()
        self.runs = self.folder / "runs"
        self.plan_path = self.folder / "campaign.json"
        self._plan = None

    @property
    def plan(self):
        """The plan, as it was written."""
        if self._plan is None:
            if not self.plan_path.exists():
                raise Mistake(f"{self.folder} is not a campaign: it has no campaign.json.")
            plan = read_json(self.plan_path, PLAN)
            if not all(_has(job, JOB) and "RngRun" in job["values"] for job in plan["jobs"].values()):
                raise Mistake(f"{self.plan_path} is broken: it has jobs without a command or values.")
            self._plan = plan
        return self._plan

    def make_plan(self, study):
        """The plan of a study, by key; nothing is written."""
        program = find_program(study.program)
        version = fingerprint(program)
        jobs = {}
        for job in study.jobs:
            command = [program, *job.words[1:]]
            text = json.dumps([version, command])
            key = hashlib.sha256(text.encode()).hexdigest()[:12]
            jobs[key] = {"command": command, "values": dict(job.values)}
        self._plan = {
            "study": str(study.path),
            "title": study.title,
            "folder": os.getcwd(),
            "fingerprint": version,
            "output": study.has_output,
            "collect": study.collect,
            "jobs": jobs,
        }
        return self._plan

    def save_plan(self):
        """Write the plan, and remove what killed runs on this host left."""
        try:
            self.runs.mkdir(parents=True, exist_ok=True)
            write_json(self.plan_path, self.plan)
        except OSError as error:
            raise Mistake(f"Cannot write into {self.folder}: {error.strerror}.") from None
        for path in self.runs.iterdir():
            if self._is_dead(path):
                shutil.rmtree(path, ignore_errors=True)

    def _is_dead(self, path):
        """Whether a folder belongs to a run on this host that is not at work any more."""
        match = re.fullmatch(r"([0-9a-f]{12})\.(.+)\.(\d+)", path.name)
        if not match or match[2] != socket.gethostname():
            return False
        try:
            words = Path(f"/proc/{match[3]}/cmdline").read_bytes().split(b"\0")
        except OSError:
            return True
        return match[1].encode() not in words

    def is_complete(self, key):
        """Whether a run is complete."""
        return (self.runs / key).is_dir()

    def has_failed(self, key):
        """Whether the last try of a run failed."""
        return not self.is_complete(key) and (self.runs / f"{key}.failed").is_dir()

    def command(self, key, prefix):
        """The whole command of a run."""
        words = list(self.plan["jobs"][key]["command"])
        return [*words, f"--output={prefix}"] if self.plan["output"] else words

    def open_keys(self):
        """The keys of the runs that are not complete."""
        return [key for key in self.plan["jobs"] if not self.is_complete(key)]

    def option_names(self):
        """The columns of the plan: every option and name of the grid, RngRun last."""
        names = dict.fromkeys(n for job in self.plan["jobs"].values() for n in job["values"])
        return [*(name for name in names if name != "RngRun"), "RngRun"]

    def run_record(self, key):
        """What is known of a complete run."""
        return read_json(self.runs / key / "run.json", RECORD)

    def other_runs(self):
        """How many complete runs are not in the plan: of its commands by other builds of the program, and
        of other commands."""
        commands = {tuple(job["command"]) for job in self.plan["jobs"].values()}
        builds, others = 0, 0
        for path in self.runs.iterdir():
            if re.fullmatch(r"[0-9a-f]{12}", path.name) and path.name not in self.plan["jobs"]:
                words = read_json(path / "run.json", RECORD)["command"]
                words = words[:-1] if words[-1].startswith("--output=") else words
                builds += tuple(words) in commands
                others += tuple(words) not in commands
        return builds, others

    def run(self, key):
        """Make one run; an engine calls it. Returns whether it is complete."""
        if key not in self.plan["jobs"]:
            raise Mistake(f"There is no run {key} in {self.folder}.")
        if self.is_complete(key):
            return True
        host = socket.gethostname()
        scratch = self.runs / f"{key}.{host}.{os.getpid()}"
        scratch.mkdir(parents=True)
        command = self.command(key, scratch / PREFIX)
        start = time.time()
        if fingerprint(command[0]) == self.plan["fingerprint"]:
            code, result = _execute(command, self.plan["folder"], scratch)
        else:
            code, result = 127, {}
            (scratch / "log").write_text("The program has changed since the campaign was started.\n")
        record = {
            "command": command,
            "version": result.get("version", ""),
            "fingerprint": self.plan["fingerprint"],
            "seed": self.plan["jobs"][key]["values"]["RngRun"],
            "host": host,
            "start": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(start)),
            "seconds": round(time.time() - start, 3),
            "exit_code": code,
            "result": result,
        }
        write_json(scratch / "run.json", record)
        if code != 0 or not result:
            failed = self.runs / f"{key}.failed"
            shutil.rmtree(failed, ignore_errors=True)
            os.rename(scratch, failed)
            return False
        try:
            os.rename(scratch, self.runs / key)
        except OSError:  # another job has completed the same run meanwhile
            shutil.rmtree(scratch, ignore_errors=True)
        shutil.rmtree(self.runs / f"{key}.failed", ignore_errors=True)
        return True


def _execute(command, folder, scratch):
    """Run a program with its output in files: its exit code, and its result line as a dictionary."""
    with open(scratch / "stdout", "wb") as out, open(scratch / "log", "wb") as log:
        try:
            code = subprocess.run(
                command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=log, check=False
            ).returncode
        except OSError as error:
            log.write(f"Cannot start {command[0]}: {error.strerror}.\n".encode())
            code = 127
    lines = (scratch / "stdout").read_text(encoding="utf-8", errors="replace").splitlines()
    last = lines[-1] if lines else ""
    if not RESULT.fullmatch(last):
        return code, {}
    return code, dict(word.split("=", 1) for word in last.split()[1:])


# Engines


def _own_command(campaign, *words):
    """tools/campaign, called again: the words of a command."""
    tool = Path(__file__).resolve().parents[1] / "campaign"
    return [str(tool), "run", str(campaign.folder), *words]


def start_parallel(campaign, keys, jobs, sshloginfile):
    """GNU parallel on the keys: its process. It leads a process group of its own."""
    if not shutil.which("parallel"):
        raise Mistake("GNU parallel is not installed ('apt-get install parallel').")
    command = ["parallel", "--will-cite", "--jobs", str(jobs) if jobs else "100%"]
    if sshloginfile:
        command += ["--sshloginfile", sshloginfile, "--workdir", os.getcwd()]
    command += [" ".join(map(shlex.quote, _own_command(campaign))) + " {}"]
    # Words are quoted for sh; the user's own shell may be another one, or unknown as in a cron job.
    environment = {**os.environ, "PARALLEL_SHELL": "/bin/sh"}
    with open(campaign.folder / ENGINE_LOG, "wb") as log:
        engine = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=environment, start_new_session=True
        )
    with contextlib.suppress(BrokenPipeError):  # it ended early, and its log says why
        engine.stdin.write("".join(f"{key}\n" for key in keys).encode())
        engine.stdin.close()
    return engine


def stop_parallel(engine):
    """End GNU parallel, which ends its jobs, by force if need be: none is at work after this."""
    with contextlib.suppress(ProcessLookupError):  # it has just ended
        os.killpg(engine.pid, signal.SIGTERM)
    engine.wait()


def submit_slurm(campaign, keys, options):
    """Submit the keys as job arrays below MaxArraySize, without those that earlier arrays of this
    campaign still have: the numbers of all these arrays, and how many runs are new."""
    if not shutil.which("sbatch"):
        raise Mistake("Slurm's sbatch is not installed ('apt-get install slurm-client').")
    queue = slurm_queue()
    if queue is None:
        raise Mistake("Slurm's controller does not answer ('squeue' says why).")
    (campaign.folder / "slurm").mkdir(exist_ok=True)
    waiting = [path for path in (campaign.folder / "slurm").glob("*.job") if path.stem in queue]
    taken = {key for path in waiting for key in path.read_text().split()}
    keys = [key for key in keys if key not in taken]
    settings = subprocess.run(
        ["scontrol", "show", "config"], capture_output=True, text=True, check=False
    ).stdout
    match = re.search(r"MaxArraySize\s*=\s*(\d+)", settings)
    chunk = max(int(match[1]) - 1, 1) if match else 1000
    numbers = [path.stem for path in waiting]
    for begin in range(0, len(keys), chunk):
        part = keys[begin : begin + chunk]
        name = campaign.folder / "slurm" / f"{int(time.time())}-{os.getpid()}-{begin}"
        name.with_suffix(".keys").write_text("".join(f"{key}\n" for key in part))
        key = f'"$(sed -n "${{SLURM_ARRAY_TASK_ID}}p" {shlex.quote(str(name))}.keys)"'
        own = " ".join(map(shlex.quote, _own_command(campaign)))
        name.with_suffix(".sh").write_text(f"#!/bin/sh\nexec {own} {key}\n")
        answer = subprocess.run(
            ["sbatch", "--parsable", f"--array=1-{len(part)}", "--job-name=campaign"]
            + ["--output=/dev/null", *options, str(name.with_suffix(".sh"))],
            capture_output=True,
            text=True,
            check=False,
        )
        if answer.returncode != 0:
            reason = answer.stderr.strip().split("error: ")[-1]
            raise Mistake(f"sbatch refused the jobs: {reason}.")
        numbers.append(answer.stdout.strip().split(";")[0])
        shutil.copy(name.with_suffix(".keys"), campaign.folder / "slurm" / f"{numbers[-1]}.job")
    return numbers, len(keys)


def slurm_queue():
    """The numbers of this user's job arrays; None where the controller does not answer."""
    command = ["squeue", "--noheader", "--me", "--format=%F"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    return set(answer.stdout.split()) if answer.returncode == 0 else None


def slurm_watch(numbers):
    """A function that says whether Slurm still has one of the jobs."""
    silent = 0

    def is_busy():
        nonlocal silent
        queue = slurm_queue()
        silent = silent + 1 if queue is None else 0
        if silent > SQUEUE_TRIES:
            raise Mistake("Slurm's controller does not answer any more; its jobs go on, and the same "
                          "command continues.")
        return queue is None or not queue.isdisjoint(numbers)

    return is_busy


class Progress:
    """One line on standard error: done, running, failed, time left."""

    def __init__(self, campaign):
        self._campaign = campaign
        self._keys = list(campaign.plan["jobs"])
        self._start = time.monotonic()
        self._first = None
        self._said = -math.inf

    def show(self, last=False):
        """Count and print, if something changed."""
        names = {path.name for path in self._campaign.runs.iterdir()}
        done = sum(key in names for key in self._keys)
        failed = sum(f"{key}.failed" in names and key not in names for key in self._keys)
        at_work = {name[:12] for name in names if re.fullmatch(r"[0-9a-f]{12}\..+\.\d+", name)}
        running = sum(key in at_work and key not in names for key in self._keys)
        self._first = done if self._first is None else self._first
        text = f"{done}/{len(self._keys)} done, {running} running, {failed} failed"
        made = done - self._first
        if made > 0 and not last:
            left = (len(self._keys) - done - failed) * (time.monotonic() - self._start) / made
            text += f", about {_duration(left)} left"
        if sys.stderr.isatty():
            print(f"\r\x1b[K{text}", end="\n" if last else "", file=sys.stderr, flush=True)
        elif last or time.monotonic() > self._said + REPORT_S:
            print(text, file=sys.stderr, flush=True)
            self._said = time.monotonic()


def _duration(seconds):
    minutes = math.ceil(seconds / 60)
    return f"{seconds:.0f} s" if seconds < 90 else f"{minutes // 60} h {minutes % 60} min"


def drive(campaign, is_busy, stop):
    """Show progress until an engine is finished. Ctrl-C stops it and leaves what is complete."""
    progress = Progress(campaign)

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        while is_busy():
            progress.show()
            time.sleep(POLL_S)
    except KeyboardInterrupt:
        stop()
        progress.show(last=True)
        raise Mistake("Interrupted; the same command continues with the missing runs.") from None
    finally:
        signal.signal(signal.SIGTERM, before)
    progress.show(last=True)


def make_runs(campaign, engine="parallel", jobs=0, sshloginfile=None, sbatch=(), wait=True):
    """Make the runs of the plan that are missing. Returns whether all are complete; what is not was
    reported, or was submitted without waiting for it."""
    campaign.save_plan()
    total = len(campaign.plan["jobs"])
    keys = campaign.open_keys()
    builds, others = campaign.other_runs()
    if builds:
        print(f"{builds} runs were made by another build of the program; they are kept, and made "
              "again by this one.", file=sys.stderr)
    if others:
        print(f"{others} complete runs have other commands than this study; they are kept, and not "
              "collected.", file=sys.stderr)
    print(f"{campaign.plan['title']}: {total} runs, {total - len(keys)} complete, "
          f"{len(keys)} to make", file=sys.stderr)
    hint = ""
    if keys and engine == "parallel":
        process = start_parallel(campaign, keys, jobs, sshloginfile)
        drive(campaign, lambda: process.poll() is None, lambda: stop_parallel(process))
        lines = (campaign.folder / ENGINE_LOG).read_text(errors="replace").splitlines()
        hint = f" GNU parallel says: {lines[-1]}" if lines else ""
    elif keys:
        numbers, count = submit_slurm(campaign, keys, list(sbatch))
        print(f"{count} runs submitted to Slurm, {len(keys) - count} were there already: "
              f"{' '.join(numbers)}", file=sys.stderr)
        if not wait:
            return False
        drive(campaign, slurm_watch(numbers), lambda: None)
    failed = report_failures(campaign)
    missing = len(campaign.open_keys()) - failed
    if missing > 0:
        print(f"{missing} runs were not made; the same command makes them.{hint}", file=sys.stderr)
    return not failed and missing <= 0


def report_failures(campaign):
    """Print the first failed runs with the end of their logs: how many failed."""
    failed = [key for key in campaign.plan["jobs"] if campaign.has_failed(key)]
    for key in failed[:SHOWN_FAILURES]:
        folder = campaign.runs / f"{key}.failed"
        record = read_json(folder / "run.json", RECORD)
        lines = (folder / "log").read_text(encoding="utf-8", errors="replace").splitlines()
        reason = lines[-1] if lines else "it printed no result line"
        print(f"run {key} failed with exit code {record['exit_code']}: {reason}", file=sys.stderr)
        print(f"    {shlex.join(record['command'])}", file=sys.stderr)
        print(f"    log: {folder / 'log'}", file=sys.stderr)
        print(f"    again: {shlex.join([*_own_command(campaign), key])}", file=sys.stderr)
    if len(failed) > SHOWN_FAILURES:
        print(f"and {len(failed) - SHOWN_FAILURES} more: {campaign.runs}/*.failed/log", file=sys.stderr)
    return len(failed)


# Collecting


def _read_table(path):
    try:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.reader(file)
            return next(reader, []), list(reader)
    except (UnicodeDecodeError, csv.Error) as error:
        raise Mistake(f"{path} is not a table: {error}.") from None


def _write_table(path, columns, rows):
    with replace_file(path, newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([row.get(column, "") for column in columns] for row in rows)


def _same(option, result):
    """Whether an option and a key of the result line say the same."""
    try:
        return float(option) == float(result)
    except ValueError:
        return str(option) == result


def collect(campaign):
    """Write runs.csv, and a table for each name of `collect`. Returns the paths and row counts."""
    complete = [key for key in campaign.plan["jobs"] if campaign.is_complete(key)]
    records = {key: campaign.run_record(key) for key in complete}
    jobs = campaign.plan["jobs"]
    # A key of the result line that says something else than the option of its name gets a prefix.
    clashes = {
        name
        for key in complete
        for name, value in records[key]["result"].items()
        if name in jobs[key]["values"] and not _same(jobs[key]["values"][name], value)
    }
    rows = []
    for key in complete:
        row = dict(jobs[key]["values"])
        own = {"host": records[key]["host"], "seconds": records[key]["seconds"], "run": key}
        for name, value in records[key]["result"].items():
            row[f"result_{name}" if name in clashes else name] = value
        # What the study or the program calls so stays: it is what is studied.
        rows.append(row | {name: value for name, value in own.items() if name not in row})
    columns = list(dict.fromkeys(name for row in rows for name in row))
    paths = [(campaign.folder / "runs.csv", len(rows))]
    _write_table(paths[0][0], columns, rows)
    for table in campaign.plan["collect"]:
        path = campaign.folder / f"{table}.csv"
        paths.append((path, _collect_table(campaign, complete, table, path)))
    return paths


def _collect_table(campaign, keys, table, path):
    name = f"{PREFIX}.csv" if table == "table" else f"{PREFIX}-{table}.csv"
    rows = []
    columns = {}
    for key in keys:
        source = campaign.runs / key / name
        if not source.exists():
            raise Mistake(
                f"The run {key} wrote no {name}; name what it writes in the key 'collect'."
            )
        header, lines = _read_table(source)
        values = campaign.plan["jobs"][key]["values"]
        values = {f"option_{n}" if n in header else n: value for n, value in values.items()}
        columns |= dict.fromkeys([*values, *header, "run"])
        rows += [{"run": key, **values, **dict(zip(header, line))} for line in lines]
    _write_table(path, list(columns), rows)
    return len(rows)
