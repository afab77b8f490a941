# SPDX-License-Identifier: Apache-2.0
"""Coefficients of lib/kernels/exp-inl.h: e^r = 1 + r (c1 + r (c2 + ...)) on |r| <= ln(2)/2.

Remez's exchange for c0 + c1 r + ... with the least relative error; then all are divided by c0, so that
e^0 is exact, which doubles the error. (Remez with c0 fixed is no minimax: all its functions vanish
at 0, they are no Haar system there, and what it converges to at degree 5 is three times worse.)
Needs mpmath. Usage: exp_coefficients.py DEGREE     (5 for f32, 11 for f64)
"""
import sys

from mpmath import cos, exp, fabs, log, lu_solve, matrix, mp, mpf, nstr, pi

mp.dps = 50
degree = int(sys.argv[1])
half = log(2) / 2 + mpf("1e-6")  # the reduced argument may overshoot by a rounding
unknowns = degree + 2  # coefficients and the levelled error
points = sorted(half * cos(pi * (2 * k + 1) / (2 * unknowns)) for k in range(unknowns))
grid = [-half + 2 * half * i / 4000 for i in range(4001)]


def errors(c):
    return [sum(c[k] * r**k for k in range(degree + 1)) / exp(r) - 1 for r in grid]


for _ in range(40):
    system, right = matrix(unknowns, unknowns), matrix(unknowns, 1)
    for i, r in enumerate(points):
        for k in range(degree + 1):
            system[i, k] = r**k / exp(r)
        system[i, degree + 1] = (-1) ** i
        right[i] = 1
    c = list(lu_solve(system, right))
    error = errors(c)
    peaks, start = [], 0  # the largest error of each run of one sign
    for i in range(1, len(grid) + 1):
        if i == len(grid) or error[i] * error[start] < 0:
            peaks.append(max(range(start, i), key=lambda j: fabs(error[j])))
            start = i
    while len(peaks) > unknowns:
        peaks.pop(0 if fabs(error[peaks[0]]) < fabs(error[peaks[-1]]) else -1)
    if len(peaks) < unknowns:
        sys.exit(f"degree {degree}: only {len(peaks)} alternations")
    moved = max(fabs(grid[i] - r) for i, r in zip(peaks, points))
    points = [grid[i] for i in peaks]
    if moved < mpf("1e-10"):
        break

print("largest relative error", nstr(max(map(fabs, error)), 4))
c = [x / c[0] for x in c]
print("with c0 = 1", nstr(max(map(fabs, errors(c))), 4))
for k in range(1, degree + 1):
    print(f"c{k}", nstr(c[k], 20))
