#!/usr/bin/env -S python3 -S -E
# SPDX-License-Identifier: Apache-2.0
"""A scripted worker that computes nothing and fails on demand, for tests of the code around workers.

A test creates a link tench-worker-fake to this file. The job's option `behaviour` or the variable
TENCH_FAKE_BEHAVIOUR selects its behaviour; TENCH_FAKE_DESCRIBE selects that of --describe. Needs
only Python 3.

Other options: step_ms (duration of a step), pid_file (its pid and its children's pids are appended).
Other variables: TENCH_FAKE_LIBRARY (a shared library to load), TENCH_FAKE_PROGRAM (a program to
start, with the argument 3600).
"""
import json
import os
import signal
import sys
import time

ANSWERS = 3
DESCRIPTION = {
    "protocol": 1, "name": "fake", "version": "1.2.3", "ops": [], "devices": ["cpu"], "precisions": ["f32"],
    "options": [{"name": "behaviour", "help": "how to fail", "default": "ok", "choices": []}], "facts": {},
    "turns": os.environ.get("TENCH_FAKE_TURNS", "yes") == "yes",
}


def write_all(fd, data):
    while data:
        data = data[os.write(fd, data):]


def say(line_type, **fields):
    write_all(ANSWERS, json.dumps({"type": line_type, **fields}).encode() + b"\n")


def load_parts():
    """Loads a library and starts a program, as workers of real frameworks do."""
    if "TENCH_FAKE_LIBRARY" in os.environ:
        import ctypes
        ctypes.CDLL(os.environ["TENCH_FAKE_LIBRARY"])
    if "TENCH_FAKE_PROGRAM" in os.environ:
        os.posix_spawn(os.environ["TENCH_FAKE_PROGRAM"], [os.environ["TENCH_FAKE_PROGRAM"], "3600"], {})


def describe(how):
    if how == "slow":
        time.sleep(3600)
    if how == "garbage":
        print("this is no description")
        return 0
    if how == "crash":
        print("ImportError: no module named fake", file=sys.stderr)
        return 1
    if how == "chatter":
        print("Loading the framework {takes time} ...", flush=True)
        print("warning: old CPU", file=sys.stderr)
    print(json.dumps(DESCRIPTION))
    return 0


class Worker:
    def __init__(self, job):
        self.options = job["options"]
        budget = job["budget"]
        self.behaviour = self.options.get("behaviour", os.environ.get("TENCH_FAKE_BEHAVIOUR", "ok"))
        self.warmup = budget["warmup_steps"]
        self.steps = budget["fixed_steps"] or 10
        self.step_s = float(self.options.get("step_ms", "0")) / 1000
        self.batch = job["batch"]
        self.turns = job.get("turns", False)
        self.made = 0
        self.note_pid(os.getpid())
        load_parts()

    def note_pid(self, pid):
        if "pid_file" in self.options:
            with open(self.options["pid_file"], "a") as file:
                file.write("%d\n" % pid)

    def hello(self):
        say("hello", worker=DESCRIPTION, libraries=["libfake.so.1"], flush_to_zero="off", rss_bytes=10 << 20)

    def build(self, **more):
        say("build", build_ns=1000000, peak_rss_bytes=20 << 20, planned_bytes=0, choices={"layout": "nchw"}, **more)

    def step(self, loss, warmup=False):
        time.sleep(self.step_s)
        say("steps", first=self.made, warmup=warmup, step_ns=[2000000 + 1000 * self.made], loss=[loss])
        self.made += 1

    def all_steps(self, loss=0.5):
        for _ in range(self.warmup):
            self.step(loss, warmup=True)
        if self.turns:
            return self.all_slices(loss)
        for _ in range(self.steps):
            self.step(loss)

    def next_turn(self):
        """Waits for a turn; None after the last."""
        say("ready")
        line = sys.stdin.readline()
        return json.loads(line) if line else None

    def one_slice(self, turn, loss=0.5):
        for _ in range(turn["warmup_steps"]):
            self.step(loss, warmup=True)
        for _ in range(turn["steps"]):
            self.step(loss)

    def all_slices(self, loss=0.5):
        while True:
            turn = self.next_turn()
            if turn is None:
                return
            self.one_slice(turn, loss)

    def first_slice(self):
        """Warms up and makes one slice of a job in turns, and gets the next turn."""
        self.begin()
        for _ in range(self.warmup):
            self.step(0.5, warmup=True)
        self.one_slice(self.next_turn())

    def result(self, converged=True, cpu_ns=900000, wall_ns=1000000):
        say("result", converged=converged, peak_rss_bytes=30 << 20, cpu_ns=cpu_ns, wall_ns=wall_ns)

    def begin(self):
        self.hello()
        self.build()

    def run(self):
        method = getattr(self, "be_" + self.behaviour, None)
        if method is None:
            say("error", kind="unsupported", message="no behaviour '%s'" % self.behaviour)
            return 0
        return method() or 0

    # The behaviours, in the order of a run.

    def be_ok(self):
        self.begin()
        self.all_steps()
        self.result()

    # Jobs in turns.

    def be_hang_in_slice(self):
        if not self.turns:
            return self.be_ok()
        self.first_slice()
        self.next_turn()
        time.sleep(3600)

    def be_die_between_slices(self):
        """Dies while it waits: a child of its own kills it, also while it is stopped."""
        if not self.turns:
            return self.be_ok()
        self.first_slice()
        parent = os.getpid()
        if os.fork() == 0:
            os.setsid()
            time.sleep(0.05)
            os.kill(parent, signal.SIGKILL)
            os._exit(0)
        self.next_turn()
        time.sleep(3600)

    def be_crash_in_slice(self):
        if not self.turns:
            return self.be_ok()
        self.first_slice()
        self.next_turn()
        os.kill(os.getpid(), signal.SIGSEGV)

    def be_ignore_go(self):
        """Makes its steps without waiting for a turn."""
        if not self.turns:
            return self.be_ok()
        self.begin()
        for _ in range(self.warmup):
            self.step(0.5, warmup=True)
        say("ready")
        for _ in range(self.steps):
            self.step(0.5)
        self.result()

    def be_short_slice(self):
        if not self.turns:
            return self.be_ok()
        self.begin()
        for _ in range(self.warmup):
            self.step(0.5, warmup=True)
        turn = self.next_turn()
        turn["steps"] -= 1
        self.one_slice(turn)
        self.next_turn()

    def be_materialize(self):
        self.hello()
        self.build(gradients_materialized=True)
        self.all_steps()
        self.result()

    def be_recompile(self):
        """Compiles in the first warm-up step, and once among the timed steps."""
        self.begin()
        say("steps", first=0, warmup=True, step_ns=[9000000], loss=[0.5], compilations=3)
        say("steps", first=1, step_ns=[2000000, 7000000, 2000000], loss=[0.5, 0.5, 0.5], compilations=1)
        self.result()

    def be_environment(self):
        """Answers with the variable FAKE_VARIABLE as its choice."""
        self.hello()
        say("build", build_ns=1000000, choices={"variable": os.environ.get("FAKE_VARIABLE", "unset")})
        self.all_steps()
        self.result()

    def be_isa(self):
        """Its library obeys ONEDNN_MAX_CPU_ISA, and logs what it executes if it is asked to."""
        self.log_primitive(os.environ.get("ONEDNN_MAX_CPU_ISA", "AVX512_CORE").lower())
        self.be_ok()

    def be_isa_ignored(self):
        self.log_primitive("avx512_core")
        self.be_ok()

    def log_primitive(self, isa):
        if os.environ.get("ONEDNN_VERBOSE") == "1":
            print("onednn_verbose,v1,primitive,exec,cpu,convolution,jit:" + isa + ",forward,0.1", flush=True)

    def be_chatter(self):
        print("{\"type\": \"result\"} on stdout is nobody's business", flush=True)
        self.be_ok()

    def be_hang_silent(self):
        time.sleep(3600)

    def be_hang(self):
        self.begin()
        time.sleep(3600)

    def be_slow(self):
        self.begin()
        for _ in range(self.warmup):
            self.step(0.5, warmup=True)
        while True:
            self.step(0.5)
            time.sleep(0.02)

    def be_ignore_sigterm(self):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self.be_slow()

    def be_segv(self):
        self.begin()
        print("about to die", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)

    def be_sigkill(self):
        self.begin()
        os.kill(os.getpid(), signal.SIGKILL)

    def be_exit0_no_result(self):
        self.begin()
        self.all_steps()

    def be_exit3(self):
        self.begin()
        print("RuntimeError: cannot go on", file=sys.stderr, flush=True)
        return 3

    def be_exit137(self):
        self.begin()
        return 137

    def be_half_line(self):
        self.begin()
        write_all(ANSWERS, b'{"type": "steps", "first"')

    def be_garbage(self):
        self.begin()
        write_all(ANSWERS, b"\x00\xff<html>\n")
        time.sleep(3600)

    def be_huge_line(self):
        self.begin()
        write_all(ANSWERS, b"x" * (9 << 20))
        time.sleep(3600)

    def be_wrong_order(self):
        self.hello()
        self.step(0.5)
        time.sleep(3600)

    def be_after_result(self):
        self.be_ok()
        self.step(0.5)

    def be_too_few_steps(self):
        self.steps -= 1
        self.be_ok()

    def be_close_channel(self):
        self.begin()
        os.close(ANSWERS)
        time.sleep(3600)

    def be_flood(self):
        self.begin()
        line = b"the framework has a lot to say about nothing at all ............\n" * 1024
        for _ in range(100 * (1 << 20) // len(line)):
            write_all(2, line)
        write_all(2, b"the last line\n")
        self.all_steps()
        self.result()

    def be_nan_loss(self):
        self.begin()
        self.step(0.5)
        self.step("nan")
        time.sleep(3600)

    def be_inf_loss(self):
        self.begin()
        self.all_steps("inf")
        self.result()

    def be_negative_loss(self):
        self.begin()
        self.all_steps(-0.25)
        self.result()

    def be_unconverged(self):
        self.begin()
        self.all_steps()
        self.result(converged=False)

    def be_many_threads(self):
        self.begin()
        self.all_steps()
        self.result(cpu_ns=64000000)

    def be_memory_hog(self):
        self.begin()
        held = []
        for _ in range(64):
            held.append(b"x" * (16 << 20))
            time.sleep(0.01)
        time.sleep(3600)

    def be_memory_by_batch(self):
        if self.batch >= 64:
            say("error", kind="out_of_memory", message="cannot allocate for batch %d" % self.batch)
        else:
            self.be_ok()

    def be_unsupported(self):
        self.hello()
        say("error", kind="unsupported", message="layer 'norm1': no lrn in this version")

    def be_out_of_memory(self):
        self.begin()
        say("error", kind="out_of_memory", message="cannot allocate 80 GiB")

    def be_failed(self):
        self.begin()
        say("error", kind="failed", message="kernel launch failed\nat line 7")

    def be_linger(self):
        self.be_ok()
        time.sleep(3600)

    def be_crash_after_result(self):
        self.be_ok()
        os.kill(os.getpid(), signal.SIGABRT)

    def be_forks(self, leave=True):
        self.begin()
        for own_session in (False, True):
            child = os.fork()
            if child == 0:
                if own_session:
                    os.setsid()
                self.note_pid(os.getpid())
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                time.sleep(3600)
        while "pid_file" in self.options and open(self.options["pid_file"]).read().count("\n") < 3:
            time.sleep(0.001)
        if not leave:
            time.sleep(3600)
        self.all_steps()
        self.result()

    def be_forks_hang(self):
        self.be_forks(leave=False)


def main(arguments):
    if arguments == ["--describe"]:
        return describe(os.environ.get("TENCH_FAKE_DESCRIBE", "ok"))
    if len(arguments) == 2 and arguments[0] == "--job":
        with open(arguments[1]) as file:
            return Worker(json.load(file)).run()
    print("usage: tench-worker-fake --describe | --job FILE", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
