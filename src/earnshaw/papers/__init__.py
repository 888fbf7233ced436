"""The three papers made executable; the library does not know this room.

- `claims`: every theorem and table as something that runs (`earnshaw verify`, docs/claims.md);
- `reproductions`: Tables 1 and 2, Figures 1 and 2 (`earnshaw reproduce`, docs/experiments.md);
- `bounds`: the generalisation bounds as functions (`earnshaw.bounds` for short);
- `plots`: the pictures of the reproductions;
- `_printed_activations.py`: what claims and reproductions share of Table 1.

Everything here may import anything of the library. The papers are named EPD, Full and ITCS as in
docs/mathematics.md, which also numbers what is wrong in them.
"""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__,
    {
        "ClaimResult": "claims.verdict",
        "Reproduction": "reproductions.reproduction",
        "Verdict": "claims.verdict",
        "reproduce": "reproductions.reproduce",
        "verify": "claims.verify",
    },
)
