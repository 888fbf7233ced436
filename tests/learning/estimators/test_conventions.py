"""scikit-learn's own checks, all of them: none excused, none skipped."""

import json
import os
import subprocess
import sys

import pytest

# In a process of its own: one of the checks runs only if this is set before SciPy is loaded.
CHECKS = """
import json, sys, warnings
warnings.simplefilter("ignore")
import earnshaw.sklearn
from sklearn.utils.estimator_checks import check_estimator
found = check_estimator(getattr(earnshaw.sklearn, sys.argv[1])(), on_fail=None, on_skip=None)
print(json.dumps([[one["check_name"], one["status"], repr(one["exception"])] for one in found]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["NodewiseRegressor", "NodewiseClassifier"])
def test_check_estimator(name):
    run = subprocess.run(
        [sys.executable, "-c", CHECKS, name],
        env=os.environ | {"SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(run.stdout.splitlines()[-1])
    assert len(found) > 50
    assert [one for one in found if one[1] != "passed"] == []
