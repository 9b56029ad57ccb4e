import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { exitCode, judge } from './verdict.mjs';

test('the budget itself is within it', () => {
  const measure = { budget: 10, stretch: 5 };
  for (const [value, verdict] of [
    [4, 'stretch'], [5, 'stretch'], [5.1, 'pass'], [10, 'pass'], [10.01, 'OVER'], [undefined, 'not measured'], [NaN, 'not measured'],
  ]) assert.equal(judge(measure, value), verdict, `${value}`);
  assert.equal(judge({}, 10), 'no budget');
});

test('what was not measured never passes', () => {
  for (const [verdicts, code] of [
    [['pass', 'stretch', 'no budget'], 0], [['pass', 'OVER'], 1], [['pass', 'not measured'], 3], [['not measured', 'OVER'], 1], [[], 0],
  ]) assert.equal(exitCode(verdicts), code, verdicts.join(' '));
});

test('every measure of the budget has an id, a title and a reason, and a stretch goal below its budget', () => {
  const { measures } = JSON.parse(readFileSync(new URL('../budget.json', import.meta.url), 'utf8'));
  assert.equal(new Set(measures.map((measure) => measure.id)).size, measures.length);
  for (const measure of measures) {
    assert.ok(measure.id && measure.title && measure.why, JSON.stringify(measure));
    if (measure.budget !== undefined) assert.ok(measure.stretch < measure.budget, measure.id);
  }
});
