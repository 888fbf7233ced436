"""The command line: one file a command, and what commands share.

`earnshaw/__main__.py` begins the `earnshaw` command, `main.py` is it. Options that are settings
follow from their dataclass (`options.py`, which has those of a teacher too), others stand with
their command. What commands share: `terminal.py` (all that is printed), `sweep_progress.py` (how a
sweep stands), `run_sweep.py` (where sweeps are kept and computed), `interrupts.py` (Ctrl-C).
Nothing here is a Python interface: people type it.
"""
