"""Three classes of potentials without local minima: harmonic, lambda-harmonic, subharmonic.

Each has its own file; this one is where the catalogue looks for them.
"""

from __future__ import annotations

from earnshaw.claims.no_minima_harmonic import EARNSHAW
from earnshaw.claims.no_minima_screened import LAMBDA_HARMONIC
from earnshaw.claims.no_minima_subharmonic import SUBHARMONIC

CLAIMS = (EARNSHAW, LAMBDA_HARMONIC, SUBHARMONIC)
