# SPDX-License-Identifier: Apache-2.0
import unittest

from .profile import ProfileRows
from .xla_profile import END, OP, RESUMED, Event, Module, add_rows, op_times

# As XLA prints it: a fusion, a copy without a name, an update, and a loop.
TEXT = """HloModule jit__train, is_scheduled=true, entry_computation_layout={(f32[2]{0})->f32[2]{0}}

%region_0.1 (a.1: f32[], b.1: f32[]) -> f32[] {
  ROOT %sum.1 = f32[] add(%a.1, %b.1), metadata={op_name="reduce_sum"}
}

%fused_computation (param_0: f32[2]) -> f32[2] {
  %zero.1 = f32[] constant(0)
  %max.1 = f32[2]{0} maximum(%param_0, %zero.1), metadata={op_name="jit(_train)/jvp(l2)/max"}
  ROOT %copy.9 = f32[2]{0} copy(%max.1)
}

ENTRY %main.3 (w.1: f32[2], x.1: f32[2]) -> (f32[2], f32[2]) {
  %w.1 = f32[2]{0} parameter(0), metadata={op_name="w"}
  %conv.2 = f32[2]{0} convolution(%w.1, %x.1), metadata={op_name="jit(_train)/jvp(l1)/conv" stack_frame_id=4}
  %max_fusion = f32[2]{0} fusion(%conv.2), kind=kLoop, calls=%fused_computation
  %wrapped_iota.1 = f32[2]{0} fusion(), kind=kLoop, calls=%none
  %bitcast.1 = f32[2]{0} bitcast(%wrapped_iota.1)
  %grad.1 = f32[2]{0} fusion(%max_fusion, %bitcast.1), calls=%none, metadata={op_name="jit(_train)/transpose(jvp(l12))/mul"}
  %while.1 = (f32[2], s32[]) while(%grad.1), metadata={op_name="jit(_train)/jvp(l3)/while"}
  %copy.1 = f32[2]{0} copy(%grad.1)
  %new.1 = f32[2]{0} subtract(%w.1, %copy.1), metadata={op_name="jit(_train)/sub"}
  ROOT %tuple = (f32[2]{0}) tuple(%new.1)
}
"""


def event(name, start, duration, thread="a", pair=None, module="jit__train"):
    return Event(OP, thread, name, module, start, duration, pair or name)


def end(pair, start, thread="a"):
    return Event(END, thread, "", "", start, 1, pair)


class ModuleTest(unittest.TestCase):
    def place(self, op):
        return Module(TEXT).place(op, True)

    def test_an_op_belongs_to_the_scope_of_its_layer(self):
        self.assertEqual(Module(TEXT).name, "jit__train")
        self.assertEqual(self.place("conv.2"), (1, "forward"))
        self.assertEqual(self.place("grad.1"), (12, "backward"))

    def test_a_fusion_belongs_to_its_last_op(self):
        self.assertEqual(self.place("max_fusion"), (2, "forward"))

    def test_an_op_without_a_name_belongs_to_its_next_reader_with_a_layer(self):
        self.assertEqual(self.place("wrapped_iota.1"), (12, "backward"))

    def test_or_to_what_it_reads(self):
        self.assertEqual(self.place("copy.1"), (12, "backward"))

    def test_anything_else_is_the_update(self):
        self.assertEqual(self.place("new.1"), (None, "update"))
        self.assertEqual(Module(TEXT).place("new.1", False), (None, "forward"))


class OpTimesTest(unittest.TestCase):
    def times(self, events):
        return {op: time_ns for op, _, time_ns in op_times(events)}

    def test_an_op_that_its_thread_completes_lasts_as_long_as_its_event(self):
        self.assertEqual(self.times([event("max_fusion", 10, 20), end("max_fusion", 29)]),
                         {"max_fusion": 20})

    def test_an_asynchronous_op_lasts_until_a_thread_resumes_the_module(self):
        resumed = Event(RESUMED, "b", "", "", 50, 30, None)
        before = Event(RESUMED, "b", "", "", 5, 2, None)
        events = [before, event("conv.2", 10, 3), resumed, event("max_fusion", 51, 20, "b"),
                  end("max_fusion", 70, "b"), end("conv.2", 80, "b")]
        self.assertEqual(self.times(events), {"conv.2": 40, "max_fusion": 20})

    def test_or_until_its_end_if_nothing_followed(self):
        self.assertEqual(self.times([event("conv.2", 10, 3), end("conv.2", 25, "b")]),
                         {"conv.2": 15})

    def test_an_op_without_an_end_keeps_its_event(self):
        self.assertEqual(self.times([event("conv.2", 10, 3)]), {"conv.2": 3})


class RowsTest(unittest.TestCase):
    def test_sums_the_ops_of_the_module_alone(self):
        rows, layers = ProfileRows(), ["layer%d" % i for i in range(13)]
        events = [event("conv.2", 0, 5), event("conv.2", 10, 7, pair="again"),
                  event("new.1", 20, 2), event("conv.2", 30, 100, module="jit_other"),
                  event("while.1", 40, 50), event("unknown.1", 40, 50)]
        add_rows(rows, events, TEXT, layers, True)
        self.assertEqual([(row["layer"], row["direction"], row["kernel"], row["calls"],
                           row["time_ns"]) for row in rows.rows()],
                         [("layer1", "forward", "conv", 2, 12), ("", "update", "new", 1, 2)])


if __name__ == "__main__":
    unittest.main()
