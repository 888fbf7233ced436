"""What all tests share: a compiler that does not spend minutes on making tiny sizes fast."""

import os

# Most of the time is compilation. These passes change the speed of the code, not its result.
os.environ["XLA_FLAGS"] = (
    os.environ.get("XLA_FLAGS", "")
    + " --xla_llvm_disable_expensive_passes=true --xla_cpu_use_fusion_emitters=false"
)
