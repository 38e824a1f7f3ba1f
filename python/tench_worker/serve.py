# SPDX-License-Identifier: Apache-2.0
"""The main program of every worker on the kit: docs/protocol.md (C++: worker/serve, job_run).

    python -m tench_worker FILE --describe [--fd N]
    python -m tench_worker FILE --job JOB [--fd N]

FILE defines `class Worker(Adapter)`. No exception of a framework passes this module: the answer is
an `error` line with the last line of the traceback, and the whole traceback goes to the log.
"""
import errno
import fcntl
import json
import math
import os
import signal
import sys
import traceback

from . import environment, errors, process_facts
from .adapter import BuildFacts
from .errors import Failed
from .job import PROTOCOL, check_job, fixed_steps, parse_job

ANSWER_FD = 3
BAD_COMMAND_LINE, BROKEN, STOPPED = 2, 1, 143
FLAGS = ("--describe", "--job", "--fd", "--help", "--version")
# Set before the framework and numpy are loaded: most runtimes read them only once.
THREAD_COUNTS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
                 "NUMEXPR_NUM_THREADS")


class BadCommandLine(Exception):
    pass


class ReaderGone(Exception):
    """tench has closed the pipe: nobody reads the answers."""


class Lines(object):
    """Writes messages as lines of JSON to a descriptor."""

    def __init__(self, fd):
        try:
            if fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
                raise BadCommandLine("descriptor %d is not open for writing" % fd)
        except (IOError, OSError):
            raise BadCommandLine("descriptor %d is not open" % fd)
        # A copy, so that a framework that prints to standard output cannot write between lines.
        self.fd = os.dup(fd)

    def write(self, message):
        data = (json.dumps(message, allow_nan=False) + "\n").encode("utf-8")
        try:
            while data:
                data = data[os.write(self.fd, data):]
        except (IOError, OSError) as error:
            if error.errno == errno.EPIPE:
                raise ReaderGone()
            raise


def real(value):
    """JSON has no NaN and no infinity."""
    if math.isnan(value):
        return "nan"
    return value if not math.isinf(value) else "inf" if value > 0 else "-inf"


def find_version(package):
    """The version of an installed package by its metadata, without importing it; None = absent."""
    wanted = package.lower().replace("-", "_")
    for folder in sys.path:
        try:
            names = os.listdir(folder)
        except (IOError, OSError):
            continue
        for name in names:
            parts = name.split("-")
            if name.endswith((".dist-info", ".egg-info")) and len(parts) >= 2 and \
                    parts[0].lower().replace(".", "_") == wanted:
                return name[len(parts[0]) + 1:].rsplit(".", 1)[0].split("-")[0]
    return None


def packages_of(adapter):
    return adapter.package if isinstance(adapter.package, tuple) else (adapter.package,)


def describe(adapter):
    packages = packages_of(adapter)
    found = [version for version in map(find_version, packages) if version]
    facts = dict(adapter.facts())
    facts["python"] = "%d.%d.%d" % sys.version_info[:3]
    ready, absent = (os.environ.get("TENCH_WORKER_" + key, "").split()
                     for key in ("READY", "ABSENT"))
    if len(ready) + len(absent) > 1:
        facts["versions"] = ", ".join(ready) + \
            ("; not set up: " + ", ".join(absent) if absent else "")
    if not found and packages != ("",):
        facts.setdefault("missing", "the package %s is not installed for %s" %
                         (" or ".join(packages), sys.executable))
    version = getattr(adapter, "version", "") or (found[0] if found else "unknown")
    facts, version = environment.describe(facts, version, packages, adapter.serves)
    return {"protocol": PROTOCOL, "name": adapter.name, "version": version,
            "role": adapter.role, "ops": list(adapter.ops), "updates": list(adapter.updates),
            "devices": ["cpu"],
            "precisions": list(adapter.precisions),
            "options": [{"name": option.name, "help": option.help, "default": option.default,
                         "choices": list(option.choices)} for option in adapter.options],
            "tuning": [{"options": each.options, "environment": each.environment,
                        "phases": list(each.phases), "ops": list(each.ops)}
                       for each in adapter.tuning],
            "turns": True, "facts": facts}


def import_worker(path):
    """The class Worker of a file."""
    import importlib.util
    spec = importlib.util.spec_from_file_location("tench_framework", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["tench_framework"] = module
    spec.loader.exec_module(module)
    return module.Worker


class StopSignal(object):
    def __init__(self):
        self.requested = False
        signal.signal(signal.SIGTERM, self._on_signal)

    def _on_signal(self, _number, _frame):
        self.requested = True

    def __call__(self):
        return self.requested


def set_thread_counts(threads):
    for name in THREAD_COUNTS:
        os.environ[name] = str(threads)
    os.environ["OMP_DYNAMIC"] = os.environ["MKL_DYNAMIC"] = "FALSE"


def load(adapter, job):
    """A framework that does not load ends the run before `hello`: tench then tells a broken
    environment from a job that fails."""
    try:
        adapter.load(job)
    except errors.WorkerError:
        raise
    except Exception as error:
        found = [package for package in packages_of(adapter) if find_version(package)]
        remedy = environment.repair(error, (found + [""])[0])
        if not remedy or errors.kind_of(error) == "out_of_memory":
            raise
        traceback.print_exc()
        sys.stderr.flush()
        raise errors.NotLoaded(errors.last_line(error) + remedy)


def run_job(job, adapter, lines, stop):
    """Returns the exit code."""
    # Imported here: they import numpy, after the thread counts are set.
    from .evaluator import Evaluator
    from .job_input import JobInput
    from .network import read_graph
    from .tensor_files import resolve_outputs, write_snapshot, write_tensors
    from .timed_loop import TimedLoop
    from .turns import TurnSource, take_standard_input

    description = describe(adapter)
    graph = read_graph(job.network, job.batch, job.phase)
    refused = None
    try:
        check_job(job, graph, description)
        if job.evaluation.data and adapter.lone:
            raise errors.Unsupported("%s has no evaluation: %s" % (adapter.name, adapter.lone))
        load(adapter, job)
    except errors.NotLoaded:
        raise
    except errors.WorkerError as error:
        refused = error
    if not process_facts.reset_peak_resident():
        description["facts"]["peak_rss"] = \
            "of the whole process: /proc/self/clear_refs cannot be written here"
    description["facts"].update(environment.loaded_facts())
    lines.write({"type": "hello", "worker": description,
                 "libraries": process_facts.loaded_libraries(),
                 "flush_to_zero": process_facts.flush_to_zero(),
                 "rss_bytes": process_facts.resident_bytes()})
    if refused is not None:
        raise refused
    resolve_outputs(graph, job.tensors.outputs)
    steps = fixed_steps(job)
    source = JobInput(job, graph)

    begin = process_facts.now_ns()
    facts = adapter.build(graph, job) or BuildFacts()
    build_ns = process_facts.now_ns() - begin
    adapter.set_parameters(source.fill)
    adapter.set_state(source.fill)
    lines.write({"type": "build", "build_ns": build_ns,
                 "peak_rss_bytes": process_facts.peak_resident_bytes(),
                 "planned_bytes": facts.planned_bytes,
                 "choices": {name: str(value) for name, value in facts.choices.items()},
                 "gradients_materialized":
                     job.phase == "gradient" and facts.gradients_materialized})
    process_facts.reset_peak_resident()
    if not job.cycled:
        adapter.set_batch(source.make_batch(0))

    def emit(line):
        line["loss"] = [real(loss) for loss in line["loss"]]
        lines.write(line)

    def after_step(done):
        if done in job.snapshots.after:
            write_snapshot(adapter, graph, job.snapshots.folder, done)

    next_turn = None
    if job.turns:
        turns = TurnSource(take_standard_input(), stop)

        def next_turn():
            lines.write({"type": "ready"})
            return turns.next()

    evaluate, every = None, 1
    if job.evaluation.data:
        evaluator = Evaluator(job, type(adapter)(), source.reader)
        every = evaluator.every

        def evaluate(done):
            line = evaluator.run(adapter, done)
            lines.write(line)
            return evaluator.target.reached_by(line)

    loop = TimedLoop(adapter, job, steps, emit, next_turn=next_turn, evaluate=evaluate,
                     evaluate_every=every,
                     batch_of=source.make_batch if job.cycled else None,
                     after_step=after_step if job.keeps_snapshots else None, stopped=stop)
    result = loop.run()
    if result.stopped:
        if job.keeps_snapshots and result.steps not in job.snapshots.after:
            write_snapshot(adapter, graph, job.snapshots.folder, result.steps)
        return STOPPED
    # Read before tensors are collected, which is not part of a step.
    peak_rss_bytes = process_facts.peak_resident_bytes()
    write_tensors(adapter, graph, job.tensors)
    done = {"type": "result", "converged": result.converged, "peak_rss_bytes": peak_rss_bytes,
            "cpu_ns": result.cpu_ns, "wall_ns": result.wall_ns}
    if job.profile:
        done["profile"] = adapter.profile()
    lines.write(done)
    return 0


def serve_job(make, path, lines):
    stop = StopSignal()
    try:
        try:
            with (sys.stdin if path == "-" else open(path, encoding="utf-8")) as file:
                job = parse_job(file.read())
        except (IOError, OSError, UnicodeDecodeError) as error:
            raise Failed("%s: %s" % (path, getattr(error, "strerror", None) or error))
        set_thread_counts(job.threads)
        return run_job(job, make(), lines, stop)
    except ReaderGone:
        return BROKEN
    except KeyboardInterrupt:
        return STOPPED
    # SystemExit too: a framework that calls sys.exit must not end without an answer.
    except BaseException as error:
        if not isinstance(error, errors.WorkerError):
            traceback.print_exc()
            sys.stderr.flush()
        try:
            lines.write({"type": "error", "kind": errors.kind_of(error),
                         "message": errors.message_of(error)})
        except ReaderGone:
            return BROKEN
        return 0


def parse_command_line(arguments):
    """(mode, job file, descriptor or None)"""
    modes, job, fd, at = [], None, None, 0
    while at < len(arguments):
        flag = arguments[at]
        if flag in ("--job", "--fd"):
            at += 1
            if at == len(arguments):
                raise BadCommandLine("%s needs a value" % flag)
        if flag == "--fd":
            if not arguments[at].isdigit() or int(arguments[at]) < 1:
                raise BadCommandLine("--fd: %s is no descriptor to write to" % arguments[at])
            fd = int(arguments[at])
        elif flag in ("--describe", "--version", "--help", "-h"):
            modes.append("--help" if flag == "-h" else flag)
        elif flag == "--job":
            modes.append(flag)
            job = arguments[at]
        else:
            raise BadCommandLine("unknown argument '%s'" % flag)
        at += 1
    if len(modes) > 1:
        raise BadCommandLine("--describe, --job, --help and --version exclude each other")
    if not modes:
        raise BadCommandLine("use one of --describe, --job FILE, --help and --version")
    return modes[0], job, fd


def default_fd(mode):
    if mode != "--job":
        return 1
    try:
        flags = fcntl.fcntl(ANSWER_FD, fcntl.F_GETFL)
        return ANSWER_FD if flags & os.O_ACCMODE != os.O_RDONLY else 1
    except (IOError, OSError):
        return 1


HELP = """usage: {0} --describe [--fd N]   print the worker's description as one line of JSON
       {0} --job FILE [--fd N]   execute a job (FILE '-' = standard input), answer in JSON lines
       {0} --help | --version
Answers go to descriptor N. Without --fd, a description goes to standard output, and a job's
answers to descriptor 3 if it is open for writing, otherwise to standard output.
docs/protocol.md specifies the lines."""


def serve(make, arguments, program="tench-worker"):
    """`make()` returns the adapter; it is called once. Returns the exit code."""
    try:
        mode, path, fd = parse_command_line(arguments)
        if mode == "--help":
            print(HELP.format(program))
            return 0
        lines = Lines(fd or default_fd(mode))
    except BadCommandLine as error:
        sys.stderr.write("%s: %s\n" % (program, error))
        return BAD_COMMAND_LINE
    if mode == "--job":
        return serve_job(make, path, lines)
    try:
        adapter = make()
        description = describe(adapter)
    except Exception as error:
        traceback.print_exc()
        sys.stderr.write("%s: %s\n" % (program, errors.last_line(error)))
        return BROKEN
    if mode == "--version":
        print("%s %s (protocol %d)" % (program, description["version"], PROTOCOL))
        return 0
    lines.write(description)
    return 0


def main(arguments):
    if not arguments or arguments[0].startswith("-"):
        sys.stderr.write("usage: python -m tench_worker FILE.py --describe | --job FILE\n")
        return BAD_COMMAND_LINE
    program = os.environ.get("TENCH_WORKER_PROGRAM") or os.path.basename(arguments[0])
    return serve(lambda: import_worker(arguments[0])(), arguments[1:], program)
