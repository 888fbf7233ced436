"""What no library offers in JAX. Importing this package switches JAX to float64.

Every module of earnshaw that computes imports from here first, so nothing in the core can run in
single precision by accident.
"""

import jax

jax.config.update("jax_enable_x64", True)
