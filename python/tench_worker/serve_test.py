# SPDX-License-Identifier: Apache-2.0
"""The kit as a process: real worker files, real descriptors, real faults."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
except ImportError:
    numpy = None

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
WORKER = """
import sys
import numpy as np
from tench_worker import Adapter, BuildFacts, Unsupported

class Worker(Adapter):
    '''loss = the sum of w; a step moves w by -rate.'''
    name, ops = "sums", ("input", "fc", "softmax_cross_entropy")
    version = "1.0"
    def load(self, job):
        {load}
    def build(self, graph, job):
        self.graph, self.rate, self.w = graph, job.solver.lr, {{}}
        return BuildFacts(gradients_materialized=True)
    def set_parameters(self, source):
        self.w = {{p.name: source(p.name) for p in self.graph.trained}}
    def parameters(self, sink):
        for name, values in self.w.items():
            sink(name, values)
    def set_state(self, source):
        pass
    def state(self, sink):
        pass
    def set_batch(self, inputs):
        self.batch = inputs
    def set_learning_rate(self, rate):
        self.rate = rate
    def step(self, phase):
        {step}
        loss = float(sum(values.sum() for values in self.w.values()))
        for values in self.w.values():
            values -= np.float32(self.rate)
        return loss
    def gradients(self, sink):
        for name, values in self.w.items():
            sink(name, np.ones_like(values))
    def outputs(self, layers, sink):
        raise Unsupported("no outputs")
"""
NETWORK = {"name": "n", "layers": [
    {"name": "data", "op": "input", "shape": [4]},
    {"name": "label", "op": "input", "role": "label",
     "fill": {"kind": "integer", "low": 0, "high": 2}},
    {"name": "fc", "op": "fc", "inputs": ["data"], "out_features": 2,
     "weight": {"fill": {"kind": "constant", "value": 1}}},
    {"name": "loss", "op": "softmax_cross_entropy", "inputs": ["fc", "label"]}]}


class Answer(object):
    def __init__(self, code, lines, log):
        self.code, self.lines, self.log = code, lines, log

    @property
    def types(self):
        return [line["type"] for line in self.lines]


def job(**changes):
    result = {"protocol": 1, "network": NETWORK, "batch": 2, "phase": "train",
              "budget": {"warmup_steps": 1, "fixed_steps": 3}}
    result.update(changes)
    return result


# Stands for tench-batches: every value of step i is i, and step 3 ends it as {last} says.
BATCHES = """#!{python}
import struct, sys
job = sys.stdin.readline()
sys.stdout.write("{{}}\\n")
sys.stdout.flush()
for line in iter(sys.stdin.readline, ""):
    step = int(line)
    if step == 3:
        {last}
    sys.stdout.write("{{}}\\n")
    sys.stdout.flush()
    sys.stdout.buffer.write(struct.pack("<8f2i", *[step] * 10))
    sys.stdout.flush()
"""


def environment(batches=None):
    return dict(os.environ, PYTHONPATH=ROOT, PYTHONDONTWRITEBYTECODE="1",
                TENCH_BATCHES=batches or "/nowhere/tench-batches")


class ServeTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    def write(self, text, name="worker.py"):
        path = os.path.join(self.folder.name, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def worker(self, load="pass", step="pass", text=None):
        return self.write(text or WORKER.format(load=load, step=step))

    def call(self, arguments, text=None, load="pass", step="pass", stdin="", batches=None):
        command = [sys.executable, "-m", "tench_worker", self.worker(load, step, text)] + arguments
        reader, writer = os.pipe()
        with open(os.path.join(self.folder.name, "log"), "w+") as log:
            # The shell puts the pipe on descriptor 3, as tench does.
            process = subprocess.Popen(["/bin/sh", "-c", 'exec "$@" 3>&%d' % writer, "sh"] +
                                       command, stdin=subprocess.PIPE, stdout=log, stderr=log,
                                       env=environment(batches), pass_fds=(writer,))
            os.close(writer)
            process.stdin.write(stdin.encode())
            process.stdin.close()
            with os.fdopen(reader) as answers:
                lines = [json.loads(line) for line in answers]
            code = process.wait()
            log.seek(0)
            return Answer(code, lines, log.read())

    def run_job(self, values, **worker):
        text = values if isinstance(values, str) else json.dumps(values)
        return self.call(["--job", self.write(text, "job.json")], **worker)

    @unittest.skipIf(numpy is None, "numpy is not installed for this interpreter")
    def test_describes_itself(self):
        answer = self.call(["--describe", "--fd", "3"])
        self.assertEqual(answer.code, 0)
        description, = answer.lines
        self.assertEqual(description["name"], "sums")
        self.assertEqual(description["version"], "1.0")

    def test_a_bad_command_line_ends_with_code_2(self):
        for arguments in ([], ["--jbo"], ["--job"], ["--describe", "--job", "x"],
                          ["--fd", "zero", "--describe"]):
            self.assertEqual(self.call(arguments).code, 2, arguments)

    def test_answers_nonsense_with_an_error_line(self):
        for text in ("garbage", "", "[]", json.dumps(job(protocol=2)), json.dumps(job(novelty=1)),
                     json.dumps(job(batch=0)), json.dumps(job(phase="sleep"))):
            answer = self.run_job(text)
            self.assertEqual(answer.code, 0)
            self.assertEqual(answer.lines[-1]["type"], "error", text)
            self.assertEqual(answer.lines[-1]["kind"], "failed", text)

    def test_a_syntax_error_in_the_worker_is_an_error_line_with_the_log(self):
        answer = self.run_job(job(), text="class Worker(:\n")
        self.assertEqual(answer.types, ["error"])
        self.assertIn("SyntaxError", answer.lines[-1]["message"])
        self.assertIn("worker.py", answer.log)

    @unittest.skipIf(numpy is None, "numpy is not installed for this interpreter")
    def test_runs_a_job(self):
        answer = self.run_job(job())
        self.assertEqual(answer.code, 0)
        self.assertEqual(answer.types, ["hello", "build", "steps", "steps", "result"])
        warmup, timed = answer.lines[2:4]
        self.assertEqual((warmup["first"], warmup["warmup"], len(warmup["step_ns"])), (0, True, 1))
        self.assertEqual((timed["first"], timed["warmup"], len(timed["step_ns"])), (1, False, 3))
        self.assertEqual(warmup["loss"], [8.0])
        self.assertAlmostEqual(timed["loss"][0], 8.0 - 10 * 0.01, places=5)
        result = answer.lines[-1]
        self.assertTrue(result["converged"])
        self.assertGreater(result["peak_rss_bytes"], 0)
        self.assertGreater(result["wall_ns"], 0)

    @unittest.skipIf(numpy is None, "numpy is not installed for this interpreter")
    def test_cycled_input_is_timed_for_every_step(self):
        answer = self.run_job(job(cycled=True, images=8))
        self.assertEqual(len(answer.lines[3]["input_ns"]), 3)

    @unittest.skipIf(numpy is None, "numpy is not installed for this interpreter")
    def test_follows_a_schedule_and_writes_tensors(self):
        out = os.path.join(self.folder.name, "out")
        answer = self.run_job(job(
            lr_schedule=[0.5, 0.0], phase="gradient",
            tensors={"folder": out, "parameters": True, "gradients": True}))
        self.assertEqual(answer.types[-1], "result")
        self.assertEqual(answer.lines[3]["loss"], [3.0, 3.0, 3.0])
        size = os.path.getsize(os.path.join(out, "parameters", "fc.weight.bin"))
        self.assertEqual(size, 32)
        self.assertTrue(os.path.exists(os.path.join(out, "gradients", "fc.bias.bin")))

    @unittest.skipIf(numpy is None, "numpy is not installed for this interpreter")
    def test_refuses_ops_devices_and_options_that_it_lacks(self):
        relu = json.loads(json.dumps(NETWORK))
        relu["layers"].insert(3, {"name": "r", "op": "relu", "inputs": ["fc"]})
        for changes, words in (({"network": relu}, "layer 'r': sums has no relu"),
                               ({"device": "cuda:7"}, "gpu:7"),
                               ({"options": {"layout": "x"}}, "layout"),
                               ({"precision": "bf16"}, "bf16"),
                               ({"data": "mnist:/x"}, "real data"),
                               ({"solver": {"type": "adam"}}, "adam")):
            answer = self.run_job(job(**changes))
            self.assertEqual(answer.lines[-1]["kind"], "unsupported", changes)
            self.assertIn(words, answer.lines[-1]["message"])

    @unittest.skipIf(numpy is None, "numpy is not installed for this interpreter")
    def test_a_framework_of_one_network_per_process_has_no_evaluation(self):
        text = WORKER.format(load="pass", step="pass") + '    lone = "one workspace"\n'
        answer = self.run_job(job(evaluation={"data": "csv:/x", "every": 1}), text=text)
        self.assertEqual(answer.lines[-1], {"type": "error", "kind": "unsupported",
                                            "message": "sums has no evaluation: one workspace"})

    def run_on_batches(self, last):
        batches = self.write(BATCHES.format(python=sys.executable, last=last), "batches")
        os.chmod(batches, 0o700)
        step = "return float(self.batch['data'].sum() + self.batch['label'].sum())"
        return self.run_job(job(data="csv:/x", cycled=True, images=4), step=step, batches=batches)

    @unittest.skipIf(numpy is None, "numpy is not installed for this interpreter")
    def test_real_data_comes_from_the_reader(self):
        answer = self.run_on_batches("pass")
        self.assertEqual(answer.types[-1], "result", answer.lines[-1])
        self.assertEqual(answer.lines[2]["loss"] + answer.lines[3]["loss"], [0.0, 10.0, 20.0, 30.0])

    @unittest.skipIf(numpy is None, "numpy is not installed for this interpreter")
    def test_an_error_and_the_death_of_the_reader_end_the_run(self):
        said = "sys.exit(print('{\"error\": \"a.png: broken\"}'))"
        for last, message in ((said, "a.png: broken"),
                              ("sys.exit(5)", "tench-batches ended with code 5")):
            answer = self.run_on_batches(last)
            self.assertEqual(answer.lines[-1],
                             {"type": "error", "kind": "failed", "message": message})

    @unittest.skipIf(numpy is None, "numpy is not installed for this interpreter")
    def test_a_missing_module_is_the_last_line_of_the_traceback(self):
        answer = self.run_job(job(), load="import no_such_framework")
        self.assertEqual(answer.lines[-1]["kind"], "failed")
        self.assertEqual(answer.lines[-1]["message"],
                         "ModuleNotFoundError: No module named 'no_such_framework'")
        self.assertIn("Traceback", answer.log)

    @unittest.skipIf(numpy is None, "numpy is not installed for this interpreter")
    def test_a_framework_of_a_users_environment_that_does_not_load_ends_before_hello(self):
        os.environ["TENCH_WORKER_ENVIRONMENT"] = "mine"
        try:
            text = WORKER.format(load="import no_such_library", step="pass").replace(
                'version = "1.0"', 'version, package = "1.0", "numpy"')
            answer = self.run_job(job(), text=text)
        finally:
            del os.environ["TENCH_WORKER_ENVIRONMENT"]
        self.assertEqual(answer.types, ["error"])
        self.assertEqual(answer.lines[-1]["message"],
                         "ModuleNotFoundError: No module named 'no_such_library'; to install it "
                         "again: %s -m pip install --force-reinstall numpy" % sys.executable)
        self.assertIn("Traceback", answer.log)

    @unittest.skipIf(numpy is None, "numpy is not installed for this interpreter")
    def test_an_exception_in_a_step_ends_the_run_with_its_message(self):
        answer = self.run_job(job(), step="raise RuntimeError('bad\\nmore')")
        self.assertEqual(answer.code, 0)
        self.assertEqual(answer.types, ["hello", "build", "error"])
        self.assertEqual(answer.lines[-1]["message"], "RuntimeError: bad")

    @unittest.skipIf(numpy is None, "numpy is not installed for this interpreter")
    def test_a_failed_allocation_is_out_of_memory(self):
        for step in ("raise MemoryError()", "raise RuntimeError('bad_alloc: out of memory')"):
            answer = self.run_job(job(), step=step)
            self.assertEqual(answer.lines[-1]["kind"], "out_of_memory")

    @unittest.skipIf(numpy is None, "numpy is not installed for this interpreter")
    def test_a_framework_that_exits_still_gives_an_answer(self):
        answer = self.run_job(job(), load="sys.exit(3)")
        self.assertEqual(answer.lines[-1]["type"], "error")

    @unittest.skipIf(numpy is None, "numpy is not installed for this interpreter")
    def test_a_framework_that_prints_cannot_disturb_the_lines(self):
        answer = self.run_job(job(), step="print('chatter', flush=True)")
        self.assertEqual(answer.types[-1], "result")
        self.assertIn("chatter", answer.log)

    @unittest.skipIf(numpy is None, "numpy is not installed for this interpreter")
    def test_a_loss_that_is_not_finite_is_a_string(self):
        answer = self.run_job(job(), step="return float('nan')")
        self.assertEqual(answer.lines[3]["loss"], ["nan"] * 3)

    @unittest.skipIf(numpy is None, "numpy is not installed for this interpreter")
    def test_counts_compilations_in_the_line_of_their_steps(self):
        text = WORKER.format(load="self.compiled = 5", step="self.compiled += 2") + """
    def compilations(self):
        return self.compiled
"""
        answer = self.run_job(job(), text=text)
        steps = [line for line in answer.lines if line["type"] == "steps"]
        self.assertEqual([line["compilations"] for line in steps], [2, 6])
        answer = self.run_job(job())
        self.assertNotIn("compilations", answer.lines[2])

    def test_describes_its_candidates(self):
        text = """
from tench_worker import SHORT_SPIN, Adapter, candidate
class Worker(Adapter):
    name = "a"
    tuning = (candidate({"layout": "nchw"}, ops=("conv",)), SHORT_SPIN)
"""
        tuning = self.call(["--describe", "--fd", "3"], text).lines[0]["tuning"]
        self.assertEqual(tuning[0], {"options": {"layout": "nchw"}, "environment": {},
                                     "phases": [], "ops": ["conv"]})
        self.assertEqual(tuning[1]["environment"], {"GOMP_SPINCOUNT": "30000"})

    @unittest.skipIf(numpy is None, "numpy is not installed for this interpreter")
    def test_a_job_in_turns_makes_slices_on_request(self):
        values = job(turns=True, budget={"warmup_steps": 1, "fixed_steps": 5})
        turns = "".join('{"type":"go","warmup_steps":1,"steps":%d}\n' % steps for steps in (3, 2))
        answer = self.run_job(values, stdin=turns)
        self.assertEqual(answer.types, ["hello", "build", "steps", "ready", "steps", "steps",
                                        "ready", "steps", "steps", "ready", "result"])
        made = [(line["first"], line["warmup"], len(line["step_ns"]))
                for line in answer.lines if line["type"] == "steps"]
        self.assertEqual(made, [(0, True, 1), (1, True, 1), (2, False, 3), (5, True, 1),
                                (6, False, 2)])
        self.assertTrue(answer.lines[-1]["converged"])
        self.assertTrue(answer.lines[0]["worker"]["turns"])

    @unittest.skipIf(numpy is None, "numpy is not installed for this interpreter")
    def test_a_turn_that_is_none_is_an_error(self):
        values = job(turns=True)
        for text in ("go\n", '{"type":"go","warmup_steps":1,"steps":0}\n', '{"type":'):
            answer = self.run_job(values, stdin=text)
            self.assertEqual(answer.types[-1], "error")
            self.assertIn("standard input", answer.lines[-1]["message"])
        answer = self.run_job(job(turns=True, budget={"min_steps": 3}))
        self.assertIn("fixed number of steps", answer.lines[-1]["message"])

    @unittest.skipIf(numpy is None, "numpy is not installed for this interpreter")
    def test_sigterm_ends_a_worker_that_waits_for_its_turn(self):
        path = self.write(json.dumps(job(turns=True)), "job.json")
        process = subprocess.Popen([sys.executable, "-m", "tench_worker", self.worker(), "--job",
                                    path, "--fd", "1"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, env=environment())
        for line in process.stdout:
            if json.loads(line.decode())["type"] == "ready":
                break
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(), 143)
        process.stdin.close()
        process.stdout.close()

    @unittest.skipIf(numpy is None, "numpy is not installed for this interpreter")
    def test_sigterm_ends_after_the_current_step(self):
        path = self.write(json.dumps(job(budget={"warmup_steps": 0, "fixed_steps": 10 ** 6})),
                          "job.json")
        worker = self.worker(step="import time; time.sleep(0.01)")
        process = subprocess.Popen([sys.executable, "-m", "tench_worker", worker, "--job", path,
                                    "--fd", "1"], stdout=subprocess.PIPE, env=environment())
        for line in process.stdout:
            if json.loads(line.decode())["type"] == "steps":
                break
        process.send_signal(signal.SIGTERM)
        rest = [json.loads(line.decode()) for line in process.stdout]
        process.stdout.close()
        self.assertEqual(process.wait(), 143)
        self.assertNotIn("result", [line["type"] for line in rest])

    @unittest.skipIf(numpy is None, "numpy is not installed for this interpreter")
    def test_a_segfault_at_exit_comes_after_the_result(self):
        crash = "import atexit, os, signal; " \
                "atexit.register(lambda: os.kill(os.getpid(), signal.SIGSEGV))"
        answer = self.run_job(job(), load=crash)
        self.assertEqual(answer.types[-1], "result")
        self.assertEqual(answer.code, -signal.SIGSEGV)


if __name__ == "__main__":
    unittest.main()
