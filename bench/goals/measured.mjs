// SPDX-License-Identifier: Apache-2.0
// What a goal came to, from the rows of its part, and the table of all.

// `rows`: of one part, by name; a name that is not there is an error of the list, not of the
// machine: it would hide a goal. `names` maps W and X to this machine's widest backends.
export class Rows {
  constructor(benchmarks, names = {}) {
    this.rows = new Map(benchmarks.map((row) => [row.name, row]));
    this.names = names;
  }
  get(name) {
    const own = name.replace(/(?<=\/)[WX](?=$|\/)/, (key) => this.names[key] ?? key);
    const row = this.rows.get(own);
    if (row === undefined) throw new Error(`no row "${own}" was measured`);
    if (row.error_occurred || row.ok === false) throw new Error(`"${own}" is void`);
    return row;
  }
}

// { least, where, of } or { error }
export function valueOf(goal, rows) {
  try {
    const values = goal.cases.map(([where, value]) => ({ where, value: value(rows) }));
    const least = values.reduce((a, b) => (b.value < a.value ? b : a));
    // A NaN is less than nothing: it would pass unseen.
    const bad = values.find(({ value }) => !Number.isFinite(value));
    if (bad) return { error: `${bad.where}: ${bad.value}` };
    return { least: least.value, where: least.where, of: values.length };
  } catch (error) {
    return { error: error.message };
  }
}

export function verdict(goal, least) {
  if (goal.aim !== null && least >= goal.aim) return 'aim';
  if (least >= goal.must) return 'holds';
  const digits = goal.unit === 'x' ? 2 : 1;
  return `short by ${(goal.must - least).toFixed(digits)}`;
}

// parts: name -> { rows } or { missing: why }
export function outcomes(goals, parts) {
  return goals
    .filter((goal) => parts.has(goal.part))
    .map((goal) => {
      const { rows, missing } = parts.get(goal.part);
      const row = { goal: goal.what, unit: goal.unit, must: goal.must, aim: goal.aim };
      if (missing !== undefined) return { ...row, missing };
      const value = valueOf(goal, rows);
      return value.error === undefined
        ? { ...row, ...value, verdict: verdict(goal, value.least) }
        : { ...row, ...value };
    });
}

const number = (unit, x) =>
  x === null ? '' : unit === 'x' ? `${+x.toFixed(2)} x` : `${x.toFixed(0)} %`;

// Markdown, its columns aligned.
export function table(rows) {
  const lines = [['goal', 'must', 'aim', 'measured', 'least of', '']];
  for (const row of rows) {
    const { goal, unit, must, aim } = row;
    const digits = unit === 'x' ? 2 : 1;
    const name = unit === 'x' ? goal : `${goal}, ${unit}`;
    const measured =
      row.least === undefined ? '-' : `${row.least.toFixed(digits)} ${unit === 'x' ? 'x' : '%'}`;
    const where = row.of === undefined ? '' : row.of === 1 ? row.where : `${row.of}: ${row.where}`;
    const end = row.verdict ?? (row.error ? `void: ${row.error}` : `not measured: ${row.missing}`);
    lines.push([name, number(unit, must), number(unit, aim), measured, where, end]);
  }
  const widths = lines[0].map((_, i) => Math.max(...lines.map((line) => line[i].length)));
  const text = (line) => `| ${line.map((cell, i) => cell.padEnd(widths[i])).join(' | ')} |`;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [text(lines[0]), rule, ...lines.slice(1).map(text)].join('\n');
}
