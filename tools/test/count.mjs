// SPDX-License-Identifier: Apache-2.0
// Reads from a runner's output how many cases passed, failed and were skipped; null where the
// output does not say, which the caller takes for a failure.

const last = (text, pattern) => [...text.matchAll(pattern)].at(-1);

// "[doctest] test cases:  12 |  12 passed | 0 failed | 0 skipped"
export function doctest(output) {
  const found = last(
    output,
    /test cases:\s*\d+\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed\s*\|\s*(\d+) skipped/g,
  );
  return found && { passed: +found[1], failed: +found[2], skipped: +found[3] };
}

// "12 passed, 0 failed[, 1 skipped]"
export function plain(output) {
  const found = last(output, /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/gm);
  return found && { passed: +found[1], failed: +found[2], skipped: +(found[3] ?? 0) };
}

// The closing lines of `node --test --test-reporter=tap`.
export function tap(output) {
  const read = (word) => +(last(output, new RegExp(`^# ${word} (\\d+)$`, 'gm'))?.[1] ?? NaN);
  const counts = {
    passed: read('pass'),
    failed: read('fail') + read('cancelled'),
    skipped: read('skipped') + read('todo'),
  };
  return Object.values(counts).some(Number.isNaN) ? null : counts;
}

// The lines that name what failed and its reason, in any of these runners' words; the last lines where none does.
export function failedLines(output) {
  const lines = output.trimEnd().split('\n');
  const names = (line) => /^\s*(FAIL|FAILED|not ok)\b|\bERROR: /.test(line);
  const depth = (line) => line.search(/\S/);
  const kept = [];
  for (let i = 0; i < lines.length && kept.length < 60; ++i) {
    if (!names(lines[i])) continue;
    kept.push(lines[i]);
    // Its reason: the first lines that are further in.
    for (let why = i + 1; why <= i + 4 && depth(lines[why] ?? '') > depth(lines[i]); ++why) {
      if (names(lines[why])) break;
      kept.push(lines[why]);
    }
  }
  return kept.length > 0 ? kept : lines.slice(-10);
}
