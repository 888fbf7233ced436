"""From the spectrum of a potential to the profile of its activation: h = F^-1(sqrt(F(Phi))).

The root falls as slowly as k^(-(d+1)/2) where Phi has a cusp, so Matern functions with the same tail
are subtracted, whose inverse is known (`numerics.matern`), and only the rest is integrated. What is
left then oscillates, if Phi has kinks, and is integrated up to the cutoff of the spectrum.

Any real root will do, G^2 = F. Where F touches 0 the sign of G is changed, which keeps G smooth and h
short: the overlap of two balls gives back the indicator of a ball, not an endless wave.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize_scalar

from earnshaw.duality.spectrum import Spectrum
from earnshaw.numerics.hankel import PHASE, graded, inverse_transform, panels, subdivide
from earnshaw.numerics.log_table import LogTable, fit_log_table
from earnshaw.numerics.matern import Matern, Shell, matern_tail

_NODES = 4096
_BELOW = 1e-7
"""The table starts at this fraction of the smallest length."""
_SMOOTH = 2000.0
"""Off the kinks h is smooth, and frequencies beyond _SMOOTH / r no longer matter."""
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
    kink = finest if not spectrum.kinks else spectrum.kinks[0] * (0.5 if len(zeros) else 1.0)
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
    )


def _rest(
    spectrum: Spectrum, subtracted: tuple[Matern | Shell, ...], zeros: np.ndarray, r: np.ndarray
) -> np.ndarray:
    """The inverse transform of sqrt(F) minus what is subtracted, at radii `r`, octave by octave."""
    out = np.empty_like(r)
    reach = max(spectrum.kinks, default=0.0)
    octave = np.ceil(np.log2(np.maximum(r, 0.02 * spectrum.scale)))
    for level in np.unique(octave):
        chosen = octave == level
        top = 2.0**level
        cut, taper = spectrum.cutoff, bool(spectrum.kinks)
        if top > 4 * reach and _SMOOTH / top < cut:
            cut, taper = _SMOOTH / top, True
        edges = graded(min(spectrum.samples[0], 0.05 / spectrum.extent), cut)
        k, w = (a.ravel() for a in panels(subdivide(edges, PHASE / (top + 3 * reach))))
        root = np.sqrt(np.maximum(spectrum.value(k), 0.0))
        root *= 1 - 2 * (np.searchsorted(zeros, k) % 2)
        root -= sum((part.transform(k) for part in subtracted), start=np.zeros_like(k))
        if taper:  # a smooth end leaves no ringing
            root *= special.erfc((k / cut - 0.75) / 0.05) / 2
        out[chosen] = inverse_transform(spectrum.dim, r[chosen], k, w, root)
    return out


def _subtracted(spectrum: Spectrum, zeros: np.ndarray) -> tuple[Matern | Shell, ...]:
    """Matern functions with the tail of sqrt(F); none if F touches 0 again and again."""
    if not spectrum.tail or spectrum.tail[0] <= 0:
        return ()
    if len(zeros) and zeros[-1] > 0.5 * spectrum.cutoff:
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


def _touching_zeros(spectrum: Spectrum) -> np.ndarray:
    """Frequencies at which F falls to 0 and rises again, as far as its error lets us see."""
    k = spectrum.samples[spectrum.samples <= spectrum.cutoff]
    f = np.maximum(spectrum.value(k), 0.0)
    low = np.nonzero((f[1:-1] < f[:-2]) & (f[1:-1] <= f[2:]))[0] + 1
    found = []
    for i, (left, right) in zip(low, _neighbours(low, len(k)), strict=True):
        around = min(np.max(f[left : i + 1]), np.max(f[i:right]))
        if f[i] > 0.05 * around or around < 1e3 * spectrum.error:
            continue
        best = minimize_scalar(
            lambda t: float(spectrum.value(np.array([t]))[0]),
            bounds=(k[i - 1], k[i + 1]),
            method="bounded",
            options={"xatol": 1e-10 * k[i]},
        )
        if best.fun < 1e-8 * around + 10 * spectrum.error:
            found.append(float(best.x))
    return np.array(found)


def _neighbours(low: np.ndarray, count: int) -> list[tuple[int, int]]:
    """For each minimum, the range of indices from the previous minimum to the next."""
    bounds = [0, *low.tolist(), count]
    return [(bounds[i], bounds[i + 2]) for i in range(len(low))]


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
