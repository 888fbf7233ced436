"""Networks as charges: positions and weights, and what all units of a network have in common.

`species.py` holds what the units share (activation and potential), `network.py` the teacher and the
student, `random.py` the papers' random teachers, `storage.py` their files, `matching.py` the
comparison of a student with its teacher.
"""
