"""Claims on sign units, and EPD's two conjectures.

`sign_circle` (with `circle`, exact arithmetic), `sign_uniqueness` and `conjectures`
(conjecture-sign, conjecture-distance). Both conjectures are about potentials that are cones near
coincidence: `cones` has their theory, `cone_lemmas` tests it, `cone_search` looks for bad minima,
`endings` says where a descent has ended, `cone_proofs` and `strict_minimum` prove two of them in
balls, `constant_steps` is EPD's Algorithm 1.
"""
