"""Claims on activations and potentials.

`correspondence` (dynamics, dual), `table1` (table-1), `realizable` (fourier-realizable,
hermite-realizable), `semidefinite` (psd-necessary, mixtures), `almost_harmonic` and `yukawa`. The
other files are what they test against: `expectations` and `pair_forces` (potentials and forces from
their definitions), `core_references` and `core_lemmas` (the almost lambda-harmonic cores).
"""
