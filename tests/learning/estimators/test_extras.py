"""Without an extra, one line says which; and the core does not need any."""

import subprocess
import sys

import pytest

BLOCKED = """
import sys


class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name in ("sklearn", "torch", "pandas", "pyarrow", "distributed"):
            raise ImportError(name)


sys.meta_path.insert(0, Blocked())
import earnshaw
assert set(earnshaw.__all__) <= set(dir(earnshaw))
for name in earnshaw.__all__:
    getattr(earnshaw, name)
try:
    import earnshaw.{module}
except ImportError as error:
    assert isinstance(error, ValueError)
    print(error)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("module", "library"), [("sklearn", "scikit-learn"), ("torch", "PyTorch")])
def test_missing_libraries(module, library):
    run = subprocess.run(
        [sys.executable, "-c", BLOCKED.format(module=module)],
        capture_output=True,
        text=True,
        check=True,
    )
    expected = f"earnshaw.{module} needs {library}; install it with: pip install"
    assert run.stdout == f"{expected} 'earnshaw[{module}]'\n"
