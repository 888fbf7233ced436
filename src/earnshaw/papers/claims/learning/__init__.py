"""Claims on what descent learns.

`descent_lemmas`, `one_node_learned`, `network_learned`, `samples` (with `sampled_networks`),
`gd_avoids_saddles`, `noisy_sgd`, and `experiments` (Table 2 and Figures 1 and 2). The other files
are what they test with: `surfaces` and `surface_runs`, functions with known bounds of their
derivatives, and `screened_charges`, the papers' loss once more in NumPy.
"""
