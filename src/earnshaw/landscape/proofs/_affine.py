"""Units with biases, under Gaussian inputs of any mean and covariance or a mixture of them.

Phi(x, y) = sum_m p_m M(mu1, mu2, q1, q2, c) with mu1 = x.m, q1 = x.S x, c = x.S y
(`duality/affine_dual.py`), where m and S are those of the inputs, as floats, with the constant 1
that biases are the weights of. With the normal distribution function N and that of two variables,
N2(h, k; rho) (mathematics.md, "Units with biases"),

    step:        N2,  h = mu1/s1,  rho = c/(s1 s2),  s1 = sqrt(q1)
    sign:        4 N2 - 2 N(h) - 2 N(k) + 1
    normal-cdf:  as step, with q + 1 in place of q
    erf:         as sign, with q + 1/2 in place of q
    relu:        (mu1 mu2 + c) N2 + mu1 s2 n(k) N(b) + mu2 s1 n(h) N(a) + s1 s2 t^2 D,

a = (k - rho h)/t, b = (h - rho k)/t, t^2 = 1 - rho^2, n the normal density and D that of two
variables. All derivatives of N2 are elementary; its value is an integral over the correlation,
enclosed at the middle of the box, and bounded by the derivatives over the box. Units of step, sign
and relu that may be parallel give NaN: D is not bounded there. (Two of relu meet smoothly all the
same; those of step and sign at a cusp, whose slope depends on the direction.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from flint import acb, arb, arb_mat

from earnshaw.inputs.gaussian import Component
from earnshaw.landscape.proofs._balls import dot, outer
from earnshaw.landscape.proofs._taylor import Taylor
from earnshaw.landscape.proofs.kernel import Kernel, PairJet, SelfJet

Moment = Callable[[Taylor, Taylor, Taylor, Taylor, Taylor], Taylor]
Power = Callable[[Taylor, Taylor], Taylor]


class AffineKernel(Kernel):
    """E[s(x.X) s(y.X)] for inputs that are a mixture of `components`, in R^d."""

    def __init__(self, name: str, components: Sequence[Component]) -> None:
        self.moment, self.power = MOMENTS[name]
        self.clouds = [
            (
                arb(float(part.probability)),
                arb_mat(len(part.mean), 1, [arb(float(x)) for x in part.mean]),
                arb_mat(part.covariance.tolist()),
            )
            for part in components
        ]

    def value(self, x: arb_mat, y: arb_mat) -> arb:
        """The first line of the module's docstring."""
        return self._pair(x, y).value

    def jet(self, x: arb_mat, y: arb_mat) -> PairJet:
        """From the derivatives in all coordinates of x and y."""
        found, d = self._pair(x, y), x.nrows()
        block = lambda a, b: _block(found.second, a, b, d)  # noqa: E731
        first = found.first
        return PairJet(
            found.value,
            arb_mat(d, 1, [first[i, 0] for i in range(d)]),
            arb_mat(d, 1, [first[d + i, 0] for i in range(d)]),
            block(0, 0),
            block(0, d),
            block(d, d),
        )

    def alone(self, x: arb_mat) -> SelfJet:
        """P(mu, q) = E[s(u)^2]."""
        d = x.nrows()
        total = _nothing(d)
        for p, mean, cov in self.clouds:
            mu = Taylor(dot(mean, x), mean, arb_mat(d, d))
            turned = cov * x
            q = Taylor(dot(x, turned), turned * 2, cov * 2)
            total = total + self.power(mu, q) * p
        return SelfJet(total.value, total.first, total.second)

    def _pair(self, x: arb_mat, y: arb_mat) -> Taylor:
        d = x.nrows()
        total, none, flat = _nothing(2 * d), arb_mat(d, 1), arb_mat(d, d)
        for p, mean, cov in self.clouds:
            at_x, at_y = cov * x, cov * y
            total = (
                total
                + self.moment(
                    Taylor(dot(mean, x), _stacked(mean, none), arb_mat(2 * d, 2 * d)),
                    Taylor(dot(mean, y), _stacked(none, mean), arb_mat(2 * d, 2 * d)),
                    Taylor(dot(x, at_x), _stacked(at_x * 2, none), _blocks(cov * 2, flat, flat)),
                    Taylor(dot(y, at_y), _stacked(none, at_y * 2), _blocks(flat, flat, cov * 2)),
                    Taylor(dot(x, at_y), _stacked(at_y, at_x), _blocks(flat, cov, flat)),
                )
                * p
            )
        return total


# -- the activations --------------------------------------------------------------------------


def _jump(noise: arb, both_signs: bool) -> tuple[Moment, Power]:
    """Of step, or of sign, with independent noise of that variance added to what a unit sees."""

    def moment(mu1: Taylor, mu2: Taylor, q1: Taylor, q2: Taylor, c: Taylor) -> Taylor:
        one, two = (_inverse_root(q + noise) for q in (q1, q2))
        h, k = mu1 * one, mu2 * two
        both = _bivariate(h, k, c * one * two)
        return both * 4 + (_normal(h) + _normal(k)) * -2 + 1 if both_signs else both

    def power(mu: Taylor, q: Taylor) -> Taylor:
        if noise > 0:
            return moment(mu, mu, q, q, q)
        return mu * 0 + 1 if both_signs else _normal(mu * _inverse_root(q))

    return moment, power


def _relu(mu1: Taylor, mu2: Taylor, q1: Taylor, q2: Taylor, c: Taylor) -> Taylor:
    one, two = (_inverse_root(q) for q in (q1, q2))
    s1, s2 = q1 * one, q2 * two
    h, k, rho = mu1 * one, mu2 * two, c * one * two
    square = rho * rho * -1 + 1
    inverse = _inverse_root(square)
    a, b = (k + rho * h * -1) * inverse, (h + rho * k * -1) * inverse
    total = (mu1 * mu2 + c) * _bivariate(h, k, rho)
    total = total + mu1 * s2 * _density(k) * _normal(b) + mu2 * s1 * _density(h) * _normal(a)
    # n(h) n(a) = t D.
    return total + s1 * s2 * square * inverse * _density(h) * _density(a)


def _relu_power(mu: Taylor, q: Taylor) -> Taylor:
    """(mu^2 + q) N(h) + mu s n(h)."""
    inverse = _inverse_root(q)
    h = mu * inverse
    return (mu * mu + q) * _normal(h) + mu * q * inverse * _density(h)


MOMENTS: dict[str, tuple[Moment, Power]] = {
    "erf": _jump(arb(0.5), both_signs=True),
    "normal-cdf": _jump(arb(1), both_signs=False),
    "relu": (_relu, _relu_power),
    "sign": _jump(arb(0), both_signs=True),
    "step": _jump(arb(0), both_signs=False),
}


# -- functions of one, and of three -----------------------------------------------------------


def _inverse_root(square: Taylor) -> Taylor:
    value = square.value.rsqrt()
    slope = -value / (2 * square.value)
    return square.through(value, slope, -3 * slope / (2 * square.value))


def _density(x: Taylor) -> Taylor:
    n = _bell(x.value)
    return x.through(n, -x.value * n, (x.value**2 - 1) * n)


def _normal(x: Taylor) -> Taylor:
    n = _bell(x.value)
    return x.through(_cdf(x.value), n, -x.value * n)


def _bivariate(h: Taylor, k: Taylor, rho: Taylor) -> Taylor:
    """N2, with its derivatives: dN2/dh = n(h) N(a), dN2/drho = D, dD/dh = -D (h - rho k)/t^2."""
    x, y, r = h.value, k.value, rho.value
    square = 1 - r * r
    if not square > 0:
        return h * arb("nan")
    t = square.sqrt()
    a, b = (y - r * x) / t, (x - r * y) / t
    by_h, by_k = _bell(x) * _cdf(a), _bell(y) * _cdf(b)
    density = _bell(x) * _bell(a) / t
    slope = (r + x * y - (x * x - 2 * r * x * y + y * y) * r / square) / square
    hessian = [
        [-x * by_h - r * density, density, -density * (x - r * y) / square],
        [density, -y * by_k - r * density, -density * (y - r * x) / square],
        [-density * (x - r * y) / square, -density * (y - r * x) / square, density * slope],
    ]
    middle = _bivariate_value(x.mid(), y.mid(), r.mid())
    value = middle + by_h * (x - x.mid()) + by_k * (y - y.mid()) + density * (r - r.mid())
    return _composed((h, k, rho), value, (by_h, by_k, density), hessian)


def _bivariate_value(h: arb, k: arb, rho: arb) -> arb:
    """N(h) N(k) + the integral of the density over the correlation, from 0 to rho = sin(angle)."""
    even, product = h * h + k * k, h * k

    def integrand(z: acb, _: bool) -> acb:
        sine = z.sin()
        return ((2 * product * sine - even) / (2 * (1 - sine * sine))).exp()

    found = acb.integral(integrand, acb(0), acb(rho.asin())).real
    return _cdf(h) * _cdf(k) + found / (2 * arb.pi())


def _composed(
    inner: tuple[Taylor, ...], value: arb, slopes: tuple[arb, ...], bends: list[list[arb]]
) -> Taylor:
    """A function of several numbers with derivatives, given its own."""
    size = inner[0].first.nrows()
    first, second = arb_mat(size, 1), arb_mat(size, size)
    for i, one in enumerate(inner):
        first, second = first + one.first * slopes[i], second + one.second * slopes[i]
        for j, other in enumerate(inner):
            second = second + outer(one.first, other.first) * bends[i][j]
    return Taylor(value, first, second)


def _bell(x: arb) -> arb:
    return (-x * x / 2).exp() / (2 * arb.pi()).sqrt()


def _cdf(x: arb) -> arb:
    return (-x / arb(2).sqrt()).erfc() / 2


# -- blocks -----------------------------------------------------------------------------------


def _nothing(size: int) -> Taylor:
    return Taylor(arb(0), arb_mat(size, 1), arb_mat(size, size))


def _stacked(above: arb_mat, below: arb_mat) -> arb_mat:
    entries = [*above.entries(), *below.entries()]
    return arb_mat(len(entries), 1, entries)


def _blocks(xx: arb_mat, xy: arb_mat, yy: arb_mat) -> arb_mat:
    d = xx.nrows()
    found = arb_mat(2 * d, 2 * d)
    for i in range(d):
        for j in range(d):
            found[i, j], found[d + i, d + j] = xx[i, j], yy[i, j]
            found[i, d + j], found[d + i, j] = xy[i, j], xy[j, i]
    return found


def _block(matrix: arb_mat, row: int, column: int, size: int) -> arb_mat:
    entries = [matrix[row + i, column + j] for i in range(size) for j in range(size)]
    return arb_mat(size, size, entries)
