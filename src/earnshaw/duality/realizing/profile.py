"""From the spectrum of a potential to the profile of its activation: h = F^-1(sqrt(F(Phi))).

The root falls as slowly as k^(-(d+1)/2) where Phi has a cusp, so Matern functions with the same
tail are subtracted, whose inverse is known (`numerics.matern`), and only the rest is integrated.
What is left then oscillates, if Phi has kinks, and is integrated up to the cutoff of the spectrum.

Any real root will do, G^2 = F. Where F touches 0 the sign of G is changed, which keeps G smooth
and h short: the overlap of two balls gives back the indicator of a ball, not an endless wave.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special
from scipy.interpolate import CubicSpline

from earnshaw.duality.realizing._spectrum import Spectrum
from earnshaw.numerics.hankel import ORDER, PHASE, inverse_transform
from earnshaw.numerics.log_table import LogTable, fit_log_table
from earnshaw.numerics.matern import Matern, Shell, matern_tail
from earnshaw.numerics.quadrature import graded, panel_rule, subdivide

_NODES = 4096
_BELOW = 1e-7
"""The table starts at this fraction of the smallest length."""
_SMOOTH = 2000.0
"""Off the kinks h is smooth, and frequencies beyond _SMOOTH / r no longer matter."""
_GOLDEN = (math.sqrt(5) - 1) / 2
_THIN = 8
"""Where h minus its singular part is smooth, one in so many nodes is computed."""


def build_profile(spectrum: Spectrum) -> LogTable:
    """The table of h(r)."""
    zeros = _touching_zeros(spectrum)
    subtracted = _subtracted(spectrum, zeros)
    reach = max(spectrum.kinks, default=0.0)
    finest = min(spectrum.scale, *spectrum.kinks) if spectrum.kinks else spectrum.scale
    # sqrt(F) ~ k^(-power/2) makes h ~ r^(power/2 - d), or log r, or bounded.
    excess = spectrum.dim - spectrum.power / 2 if subtracted else -1.0

    # A node sits where h has its strongest kink: at the first kink of Phi, or at half of it if
    # h is an indicator function.
    endless = _endless(spectrum, zeros)
    kink = finest if not spectrum.kinks else spectrum.kinks[0] * (0.5 if endless else 1.0)
    step = math.log(spectrum.extent / (_BELOW * finest)) / _NODES
    first = math.ceil(math.log(_BELOW * finest / kink) / step)
    index = np.arange(first, first + _NODES + 1)
    radii = kink * np.exp(step * index)

    dense = (radii > 0.02 * finest) & (radii < max(4 * reach, 4 * finest))
    chosen = (dense | (index % _THIN == 0)) & (radii < spectrum.far_from)
    chosen[0] = True
    r = radii[chosen]
    rest = _rest(spectrum, subtracted, zeros, r)
    values = CubicSpline(np.log(r), rest)(np.log(radii))
    values += sum((part.value(radii) for part in subtracted), start=np.zeros_like(radii))
    if spectrum.far is not None:
        values = _with_far(spectrum, radii, values)
    return fit_log_table(
        radii,
        values,
        exponent=max(excess, 0.0),
        decay=spectrum.decay,
        logarithmic=excess == 0,
        splits=(-first,) if spectrum.kinks else (),
        jumps=endless,
    )


def _rest(
    spectrum: Spectrum, subtracted: tuple[Matern | Shell, ...], zeros: np.ndarray, r: np.ndarray
) -> np.ndarray:
    """The inverse transform of sqrt(F) minus what is subtracted, at radii `r`, octave by octave."""
    out = np.empty_like(r)
    endless = _endless(spectrum, zeros)
    centre, width = (0.5, 0.13) if endless else (0.75, 0.05)
    reach = max(spectrum.kinks, default=0.0)
    octave = np.ceil(np.log2(np.maximum(r, 0.02 * spectrum.scale)))
    for level in np.unique(octave):
        chosen = octave == level
        top = 2.0**level
        cut, taper = spectrum.cutoff, bool(spectrum.kinks)
        if endless:  # beyond the last zero seen the sign is not known
            cut = zeros[-1]
        elif top > 4 * reach and _SMOOTH / top < cut:
            cut, taper = _SMOOTH / top, True
        edges = graded(min(spectrum.samples[0], 0.05 / spectrum.extent), cut)
        k, w = panel_rule(subdivide(edges, PHASE / (top + 3 * reach)), ORDER)
        root = np.sqrt(np.maximum(spectrum.value(k), 0.0))
        root *= 1 - 2 * (np.searchsorted(zeros, k) % 2)
        root -= sum((part.transform(k) for part in subtracted), start=np.zeros_like(k))
        if taper:  # a smooth end leaves no ringing
            root *= special.erfc((k / cut - centre) / width) / 2
        out[chosen] = inverse_transform(spectrum.dim, r[chosen], k, w, root)
    return out


def _subtracted(spectrum: Spectrum, zeros: np.ndarray) -> tuple[Matern | Shell, ...]:
    """Matern functions with the tail of sqrt(F); none if F touches 0 again and again."""
    if not spectrum.tail or spectrum.tail[0] <= 0:
        return ()
    if _endless(spectrum, zeros):
        return ()
    lead = math.sqrt(spectrum.tail[0]) * (-1.0) ** len(zeros)
    relative = [*(c / spectrum.tail[0] for c in spectrum.tail[1:]), 0.0, 0.0]
    # sqrt(1 + b x + c x^2) = 1 + b x/2 + (c/2 - b^2/8) x^2, x = 1/k^2
    series = (1.0, relative[0] / 2, relative[1] / 2 - relative[0] ** 2 / 8)[: len(spectrum.tail)]
    finest = min(spectrum.scale, *spectrum.kinks) if spectrum.kinks else spectrum.scale
    rate = 3 / finest
    parts = matern_tail(spectrum.dim, rate, spectrum.power / 2, tuple(lead * c for c in series))
    if spectrum.root_kink == 0:
        return parts
    return (*parts, Shell(spectrum.dim, spectrum.kinks[0], rate, spectrum.root_kink))


def _endless(spectrum: Spectrum, zeros: np.ndarray) -> bool:
    """Whether F touches 0 again and again, as the square of an oscillating function does."""
    return len(zeros) >= 8 and bool(spectrum.kinks)


def _touching_zeros(spectrum: Spectrum) -> np.ndarray:
    """Frequencies at which F falls to 0 and rises again, as far as its error lets us see."""
    k = spectrum.samples[spectrum.samples <= spectrum.cutoff]
    f = np.maximum(spectrum.value(k), 0.0)
    low = np.nonzero((f[1:-1] < f[:-2]) & (f[1:-1] <= f[2:]))[0] + 1
    if len(low) == 0:
        return np.zeros(0)
    # The largest F between neighbouring minima, and the smaller of those on both sides of each.
    humps = np.maximum.reduceat(f, np.concatenate([[0], low]))
    around = np.minimum(humps[:-1], humps[1:])
    promising = (f[low] < 0.4 * around) & (around > 1e4 * spectrum.error)
    low, around = low[promising], around[promising]
    left, right = k[low - 1], k[low + 1]
    for _ in range(60):  # golden sections, all at once
        inner, outer = right - _GOLDEN * (right - left), left + _GOLDEN * (right - left)
        down = spectrum.value(inner) < spectrum.value(outer)
        left, right = np.where(down, left, inner), np.where(down, outer, right)
    found = (left + right) / 2
    found = found[spectrum.value(found) < 1e-6 * around + 100 * spectrum.error]
    # Where one was overlooked all signs beyond would be wrong: stop at the first gap.
    gaps = np.diff(found)
    wide = np.nonzero(gaps[1:] > 1.5 * gaps[:-1])[0]
    return found[: wide[0] + 2] if len(wide) else found


def _with_far(spectrum: Spectrum, radii: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Replace the values beyond `far_from` by the accurate ones."""
    assert spectrum.far is not None
    beyond = np.nonzero(radii >= spectrum.far_from)[0]
    chosen = np.unique(np.append(beyond[::_THIN], beyond[-1]))
    # Decay and slow power taken out, what is interpolated is nearly constant.
    smooth = spectrum.far(radii[chosen]) * np.exp(spectrum.decay * radii[chosen])
    spline = CubicSpline(np.log(radii[chosen]), np.log(smooth))
    out = values.copy()
    out[beyond] = np.exp(spline(np.log(radii[beyond])) - spectrum.decay * radii[beyond])
    return out
