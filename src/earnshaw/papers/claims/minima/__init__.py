"""Claims on where losses have local minima, and where not.

`earnshaw`, `lambda_harmonic`, `subharmonic`, `gaussian` (with `gaussian_saddles` and
`gaussian_learning`), `polynomial` (polynomial-orthonormal) and `sphere_synthetic`. The other files
are what they share: `random_points`, `finite_differences` in 60 digits, `descents`, and
`epd_algorithm3`, EPD's node-wise descent written a second time.
"""
