"""A local worker that knows the toy kind."""

import experiments.sweeps.toy  # noqa: F401
from earnshaw.experiments.worker import main

main()
