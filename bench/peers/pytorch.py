# SPDX-License-Identifier: Apache-2.0
"""PyTorch's scaled_dot_product_attention and ours, on the same tensors, in turns.

    pytorch.py --library libattn_peer.so [--threads N] [--backend NAME] [--json] [SHAPE...]

SHAPE: HEADSxLENGTHxWIDTH, with a c at its end for causal (forward and backward), or
decode:QUERYHEADSxKVHEADSxKEYSxWIDTH. bench/peers/README.md says how a figure comes about.
Exit code: 0; 1 when results differ or PyTorch runs without AVX; 2 for bad usage.
"""
import argparse
import ctypes
import json
import math
import os
import re
import sys
import time

# PyTorch calls BLAS from threads of its own.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
try:
    import torch
    import torch.nn.functional as F
    from torch.nn.attention import SDPBackend, sdpa_kernel
except ImportError as missing:
    print(f"pytorch.py: error: this Python has no PyTorch ({missing}); PEER_PYTHON of run.sh names "
          "one that has it", file=sys.stderr)
    sys.exit(2)

LENGTHS = ("8x512x64", "8x1024x64", "8x1024x128", "4x4096x128",
           "8x17x64", "8x100x64", "8x200x64", "8x200x40", "8x200x80", "8x200x96")
SHAPES = [shape + mask for shape in LENGTHS for mask in ("", "c")]
SHAPES += ["decode:32x8x4096x128", "decode:32x8x32768x128"]

LEAST_SAMPLES = 7
SAMPLE_S = 0.005  # a sample is as many calls as last this long
# libgomp's threads spin for some milliseconds when their work is done: not while ours is timed.
PAUSE_S = 0.02


def parse_shape(text):
    """(heads, kv_heads, n, d, causal); kv_heads is None for forward and backward."""
    if match := re.fullmatch(r"decode:(\d+)x(\d+)x(\d+)x(\d+)", text):
        shape = *map(int, match.groups()), False
        if shape[0] % max(shape[1], 1):
            raise argparse.ArgumentTypeError(f'"{text}": query heads in groups of kv heads')
    elif match := re.fullmatch(r"(\d+)x(\d+)x(\d+)(c?)", text):
        heads, n, d = map(int, match.groups()[:3])
        shape = heads, None, n, d, bool(match[4])
    else:
        raise argparse.ArgumentTypeError(f'"{text}" is not like 8x1024x64c or decode:32x8x4096x128')
    if 0 in (extent for extent in shape if extent is not False):
        raise argparse.ArgumentTypeError(f'"{text}": an extent is 0')
    return text, shape


def at_least(least, kind):
    def parse(text):
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        if not least <= value < math.inf:
            raise argparse.ArgumentTypeError(f'"{text}" is not a number from {least} up')
        return value
    return parse


class Ours:
    """libattn_peer.so: a function a call, its arguments ready, so that little Python is timed."""

    def __init__(self, path, backend, threads):
        self.library = ctypes.CDLL(path)
        pointer, size = ctypes.c_void_p, ctypes.c_int64
        sizes = [size, size, size, ctypes.c_bool]
        for name, arguments in (("open", [ctypes.c_char_p, size]), ("backend", []),
                                ("forward", sizes + [pointer] * 5),
                                ("backward", sizes + [pointer] * 9),
                                ("decode", [size] * 4 + [pointer] * 4)):
            function = getattr(self.library, f"attn_peer_{name}")
            function.argtypes, function.restype = arguments, ctypes.c_char_p
        error = self.library.attn_peer_open(backend.encode() if backend else None, threads)
        if error:
            raise ValueError(error.decode())

    def backend(self):
        return self.library.attn_peer_backend().decode()

    def call(self, name, sizes, *tensors):
        for tensor in tensors:
            assert tensor.is_contiguous() and tensor.data_ptr() % 64 == 0
        function = getattr(self.library, f"attn_peer_{name}")
        arguments = [*sizes, *(tensor.data_ptr() for tensor in tensors)]

        def run():
            if error := function(*arguments):
                raise ValueError(error.decode())
        return run


def sample(run, calls):
    start = time.perf_counter()
    for _ in range(calls):
        run()
    return (time.perf_counter() - start) / calls


def in_turns(seconds, *runs):
    """Times a call, one list for each run; they take turns, sample by sample."""
    calls = [max(1, math.ceil(SAMPLE_S / min(sample(run, 1) for _ in range(3)))) for run in runs]
    times = [[] for _ in runs]
    start = time.perf_counter()
    while len(times[0]) < LEAST_SAMPLES or time.perf_counter() - start < seconds:
        for at, run in enumerate(runs):
            if torch.get_num_threads() > 1:
                time.sleep(PAUSE_S)
            run()  # what the other left in the caches, and the clock after a pause
            times[at].append(sample(run, calls[at]))
    return times


def median(values):
    return sorted(values)[len(values) // 2]


def difference(pairs):
    """The largest |ours - theirs| of any pair, relative to that pair's largest value."""
    worst = 0.0
    for ours, theirs in pairs:
        largest = theirs.abs().max().item() or 1.0  # one key: dQ and dK are 0
        error = (ours - theirs).abs().max().item() / largest
        worst = error if math.isnan(error) else max(worst, error)
        if math.isnan(worst):
            break
    return worst


def forward_cases(ours, shape, seed):
    """(op, work of a call, allowed difference, our call, theirs, pairs to compare)."""
    heads, _, n, d, causal = shape
    torch.manual_seed(seed)
    q, k, v, g = (torch.randn(1, heads, n, d) for _ in range(4))
    for tensor in (q, k, v):
        tensor.requires_grad_()
    o, dq, dk, dv = (torch.full((1, heads, n, d), math.nan) for _ in range(4))
    lse = torch.full((1, heads, n), math.nan)
    work = 4 * (n * (n + 1) // 2 if causal else n * n) * d * heads
    allowed = torch.finfo(torch.float32).eps * (32 + math.sqrt(n))
    sizes = (heads, n, d, causal)
    results = {}

    def theirs():
        with torch.no_grad():
            results["o"] = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    yield ("forward", work, allowed, ours.call("forward", sizes, q, k, v, o, lse), theirs,
           lambda: [(o, results["o"])])

    output = F.scaled_dot_product_attention(q, k, v, is_causal=causal)

    def their_backward():
        q.grad = k.grad = v.grad = None
        output.backward(g, retain_graph=True)
    yield ("backward", 2.5 * work, 4 * allowed,
           ours.call("backward", sizes, q, k, v, o, lse, g, dq, dk, dv), their_backward,
           lambda: [(dq, q.grad), (dk, k.grad), (dv, v.grad)])


def decode_cases(ours, shape, seed):
    """Likewise; the work is the bytes of K and V."""
    heads, kv_heads, n, d, _ = shape
    torch.manual_seed(seed)
    q, k, v = torch.randn(1, heads, 1, d), *(torch.randn(1, kv_heads, n, d) for _ in range(2))
    o = torch.full_like(q, math.nan)
    results = {}

    def theirs():
        with torch.no_grad():
            results["o"] = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    yield ("decode", 2 * kv_heads * n * d * 4, torch.finfo(torch.float32).eps * (32 + math.sqrt(n)),
           ours.call("decode", (heads, kv_heads, n, d), q, k, v, o), theirs,
           lambda: [(o, results["o"])])


def measure(ours, text, shape, options):
    """A row for each operation of a shape."""
    cases = decode_cases if shape[1] else forward_cases
    for op, work, allowed, run, theirs, pairs in cases(ours, shape, options.seed):
        run(), theirs()  # backward takes what forward wrote
        if options.op not in (None, op):
            continue
        before = difference(pairs())
        times = in_turns(options.seconds, run, theirs)
        mine, other = map(median, times)
        worst = max(before, difference(pairs()), key=lambda x: (math.isnan(x), x))
        yield {"name": f"{text}/{op}", "shape": text, "op": op, "threads": options.threads,
               "unit": "GB/s" if op == "decode" else "GFLOP/s",
               "ours": work / mine / 1e9, "torch": work / other / 1e9,
               # Of neighbours in time, so that drift cancels.
               "ratio": median([b / a for a, b in zip(*times)]),
               "ours_ms": mine * 1e3, "torch_ms": other * 1e3, "samples": len(times[0]),
               "difference": worst, "allowed": allowed, "ok": worst <= allowed}


def print_row(row):
    print(f"{row['shape']:24} {row['op']:9} {row['ours']:8.1f} {row['torch']:8.1f} "
          f"{row['unit']:8} {row['ratio']:6.2f} {row['difference']:10.1e} {row['allowed']:8.1e}"
          f"{'' if row['ok'] else '  FAILED'}", flush=True)


def arguments():
    parser = argparse.ArgumentParser(
        description="PyTorch's attention and ours, in turns; see bench/peers/README.md")
    parser.add_argument("shapes", nargs="*", metavar="SHAPE", type=parse_shape,
                        help="8x1024x64, 8x1024x64c (causal), decode:32x8x4096x128; "
                        f"default: {' '.join(SHAPES)}")
    parser.add_argument("--library", required=True, help="libattn_peer.so")
    parser.add_argument("--threads", type=at_least(1, int), default=1, help="of both (1)")
    parser.add_argument("--backend", help="ours, as `attn backends` lists them (the default one)")
    parser.add_argument("--op", choices=("forward", "backward", "decode"), help="only this one")
    parser.add_argument("--seconds", type=at_least(0, float), default=2.0,
                        help=f"of a row, and {LEAST_SAMPLES} samples at least (2)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def main():
    options = arguments()
    try:
        ours = Ours(options.library, options.backend, options.threads)
    except (OSError, ValueError) as error:
        print(f"pytorch.py: error: {error}", file=sys.stderr)
        return 2
    torch.set_num_threads(options.threads)
    isa = torch.backends.cpu.get_cpu_capability()
    context = {"torch": torch.__version__, "torch_isa": isa, "backend": ours.backend(),
               "threads": options.threads}
    if not options.json:
        print(f"PyTorch {torch.__version__} ({isa}), ours {ours.backend()}, "
              f"threads {options.threads}", flush=True)
    if isa not in ("AVX512", "AVX2"):
        print(f"pytorch.py: error: PyTorch runs {isa} code, without AVX: figures would be void "
              "(no /proc?)", file=sys.stderr)
        return 1
    if not options.json:
        print(f"{'shape':24} {'op':9} {'ours':>8} {'PyTorch':>8} {'unit':8} {'ratio':>6} "
              f"{'difference':>10} {'allowed':>8}", flush=True)

    rows = []
    for text, shape in options.shapes or map(parse_shape, SHAPES):
        try:
            # PyTorch's fast kernel, or an error.
            with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
                for row in measure(ours, text, shape, options):
                    rows.append(row)
                    if not options.json:
                        print_row(row)
        except (ValueError, RuntimeError) as error:
            print(f"pytorch.py: error: {text}: {error}", file=sys.stderr)
            return 1
    if options.json:
        print(json.dumps({"context": context, "benchmarks": rows}, indent=1))
    return 0 if all(row["ok"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
