"""What the papers print of their experiments.

Table 2 (EPD; Full and ITCS add the row of depth 2), and what they say of Figures 1 and 2, whose
points are not printed: at depth 2 the error begins near 1, "diminishes quickly to under 0.002" at
widths up to 125, and more slowly the wider; deeper networks are not learned when they are wide.
"""

from __future__ import annotations

DEPTHS = (2, 3, 5, 9, 17)
WIDTHS = (5, 10, 20, 40)

TABLE_2: dict[tuple[int, int], float] = {
    (depth, width): error
    for depth, errors in {
        2: (0.0015, 0.0017, 0.0018, 0.0019),
        3: (0.0033, 0.0264, 0.1503, 0.2362),
        5: (0.0036, 0.0579, 0.2400, 0.4397),
        9: (0.0085, 0.1662, 0.4171, 0.6071),
        17: (0.0845, 0.3862, 0.4934, 0.5777),
    }.items()
    for width, error in zip(WIDTHS, errors, strict=True)
}

LEARNED = 0.002  # the error that depth 2 falls under
FIGURE_1_WIDTHS = (5, 10, 20, 40, 80, 125)  # at depth 2
FIGURE_1_PANELS = (20, 80)  # widths of EPD's panels of varying depth
