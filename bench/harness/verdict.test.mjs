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

test('a debt may be held, but not grow', () => {
  const measure = { budget: 10, stretch: 5, reached: 20 };
  for (const [value, verdict] of [
    [4, 'stretch'], [10, 'pass'], [10.01, 'over, not worse'], [20.6, 'over, not worse'], [20.61, 'OVER'], [undefined, 'not measured'],
  ]) assert.equal(judge(measure, value, true), verdict, `${value}`);
  assert.equal(judge(measure, 20), 'OVER');
  assert.equal(judge({ budget: 10, stretch: 5 }, 11, true), 'OVER', 'without a debt there is none to hold');
  assert.equal(exitCode(['pass', 'over, not worse']), 0);
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
    if (measure.reached !== undefined) assert.ok(measure.reached > measure.budget, `${measure.id}: a debt that is paid goes`);
  }
});
