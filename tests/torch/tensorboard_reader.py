"""Prints what TensorBoard itself reads in a folder of event files; exits 77 without TensorBoard."""

import sys

try:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
except ImportError:
    sys.exit(77)

board = EventAccumulator(sys.argv[1])
board.Reload()
for tag in sorted(board.Tags()["scalars"]):
    print(tag, [(event.step, round(event.value, 6)) for event in board.Scalars(tag)])
for tag in sorted(board.Tags()["tensors"]):
    for event in board.Tensors(tag):
        print(tag, event.step, event.tensor_proto.string_val[0].decode())
