// The demo's table: what the clients measured and what the gateway and the engines count, for each pool.
// On a terminal it is redrawn in place; elsewhere it is written again every few seconds.

export function renderTable(view) {
  const header = ['pool', 'requests', 'TTFT p50', 'p95', 'TPOT p50', 'p95', 'accepted length', 'tokens'];
  const rows = view.pools.map((pool) => [
    pool.name,
    String(pool.requests),
    milliseconds(quantile(pool.ttft, 0.5)),
    milliseconds(quantile(pool.ttft, 0.95)),
    milliseconds(quantile(pool.tpot, 0.5)),
    milliseconds(quantile(pool.tpot, 0.95)),
    pool.acceptedLength === undefined ? '-' : pool.acceptedLength.toFixed(2),
    String(pool.tokens),
  ]);
  const widths = header.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i].length)));
  const line = (cells) => cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  ').trimEnd();
  return [
    `weir demo, ${view.seconds.toFixed(0)} s, all engines simulated${view.until === undefined ? '; Ctrl-C ends it' : ` (ends after ${view.until} s)`}`,
    line(header),
    ...rows.map(line),
    `tenants: ${list(view.tenants)}`,
    `refused: ${list(view.refusals)}`,
  ];
}

function list(map) {
  return map.size === 0 ? 'none yet' : [...map].sort().map(([name, number]) => `${name} ${number}`).join(', ');
}

export function quantile(values, q) {
  if (values.length === 0) return undefined;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1)];
}

export function milliseconds(value) {
  return value === undefined ? '-' : `${value < 100 ? value.toFixed(1) : value.toFixed(0)} ms`;
}

export class Screen {
  constructor(out) {
    this.out = out;
    this.inPlace = Boolean(out.isTTY) && process.env.TERM !== 'dumb';
    this.drawn = 0;
    this.periodMs = this.inPlace ? 1000 : 5000;
  }

  draw(lines) {
    if (!this.inPlace) {
      this.out.write(`${lines.join('\n')}\n\n`);
      return;
    }
    const width = this.out.columns || 100;
    const up = this.drawn > 0 ? `\x1b[${this.drawn}A` : '';
    this.out.write(`${up}${lines.map((line) => `\x1b[2K${line.slice(0, width - 1)}\n`).join('')}`);
    this.drawn = lines.length;
  }
}
