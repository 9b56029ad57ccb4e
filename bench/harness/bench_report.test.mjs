import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markdownReport, picture, terminalReport } from './bench_report.mjs';
import { evaluate } from './results.mjs';

const rounds = [1, 2, 3].map((i) => ({
  direct: { request_p50: 100, chunk_p50: 200 },
  weir: { cpu_per_request: 20 + i, request_p50: 150, chunk_p50: 300 },
  nginx: { cpu_per_request: 40, request_p50: 160, chunk_p50: 320 },
  haproxy: { cpu_per_request: 30, request_p50: 170, chunk_p50: 300 },
}));
const measures = [{ id: 'cpu_per_request', title: 'CPU per request', unit: 'µs' }, { id: 'added_request_p50', title: 'added p50', unit: 'µs' }];
const result = {
  date: '2026-12-01', rounds: 3, window_seconds: 2, commit: 'abc', machine: { cpu: 'a <fast> one', cores: 2, memory_gib: 4, kernel: '6' },
  versions: { weir: '0.1', nginx: '1', haproxy: '2' }, measures: evaluate(rounds, measures),
  weir_cpu_per_request: { data: 12, writer: 9, other: 1 }, busy: { weir: 0.99 }, load_average_before: 0.1, voided: ['weir, paced: 1 requests failed'],
};
const budgets = [{ id: 'cpu_per_request', budget: 0.85, stretch: 0.5 }];

test('the tables hold values, ratios, the verdict and what was void', () => {
  for (const text of [terminalReport(result, budgets), markdownReport(result, budgets, 'x.svg')]) {
    assert.match(text, /CPU per request, µs.*22\.0 \(21\.0 … 23\.0\).*40\.0/);
    assert.match(text, /CPU per request.*0\.55 \(0\.54 … 0\.56\).*0\.73.*0\.85.*pass/);
    assert.match(text, /added p50, µs.*50\.0.*60\.0.*70\.0/);
    assert.match(text, /repeated: 1/);
    assert.match(text, /weir, paced: 1 requests failed/);
  }
});

test('the picture is well-formed and shows every ratio', () => {
  const svg = picture(result);
  assert.match(svg, /^<svg xmlns/);
  assert.equal(svg.match(/<circle /g).length, 4);
  assert.equal(svg.match(/<text /g).length, svg.match(/<\/text>/g).length);
  assert.doesNotMatch(svg, /NaN|undefined/);
});
