"""The Gaussian potential: almost subharmonic (`_gaussian_saddles.py`), and learned node by node
(`_gaussian_learning.py`).
"""

from __future__ import annotations

from earnshaw.papers.claims.claim import Claim, Sources
from earnshaw.papers.claims.minima._gaussian_learning import LEARNING
from earnshaw.papers.claims.minima._gaussian_saddles import SADDLES

GAUSSIAN = Claim(
    id="gaussian",
    title="The Gaussian potential is almost subharmonic, and learned node by node",
    sources=Sources(epd="Theorem 4.2, Corollary 4.3", full="Theorem F.4"),
    hypotheses=(
        "Phi = exp(-c r^2/2), all weights 1 (Assumption 1)",
        "strict points: 2 d < |theta_i - w_j|^2 < 6 d for all pairs, c = 1",
        "Theorem F.4: all positions within a ball, c = 2 d/eps",
        "learning: protons farther apart than (sqrt(9) + sqrt(1.1)) sqrt(d), which is what the "
        "proof's triangle step needs, and about as far from 0 as each other",
    ),
    statements=(*SADDLES, *LEARNING),
    remarks=(
        "Theorem 4.2's condition k c^2 exp(-c) <= exp(-2 d) forces c > 2 d; with exp(-c d), as its "
        "proof has it, c may be constant. The proof also loses the half of exp(-r^2/2): the pull "
        "of the others is k sqrt(c d) exp(-c d/2).",
        "Its triangle step needs c > 21.8, not c > 2.",
        "Algorithm 2 itself takes exp(O(d)) steps; the units here go uphill on log C, which has "
        "the same critical points.",
        "Theorem F.4 needs bounded theta and c > d/eps (2 d/eps here).",
    ),
)
