"""Training in continuous time: electrons that move among fixed protons.

`simulate.py` runs the flow and returns a `Path` (`path.py`). Between two encounters the flow is an
ordinary differential equation, `flow.py`; `cusps.py` says where it is not, and `clusters.py` which
units have met there and move as one.
"""
