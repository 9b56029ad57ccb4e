import assert from 'node:assert/strict';
import { test } from 'node:test';
import { median, quantile, rotated, summary } from './statistics.mjs';

test('quantiles interpolate between ranks', () => {
  for (const [values, share, expected] of [
    [[7], 0.5, 7], [[1, 2], 0.5, 1.5], [[3, 1, 2], 0.5, 2], [[1, 2, 3, 4], 0.25, 1.75], [[4, 3, 2, 1], 0.75, 3.25],
    [[10, 2, 9], 0.5, 9], [[1, 5], 0, 1], [[1, 5], 1, 5],
  ]) assert.equal(quantile(values, share), expected, `${share} of ${values}`);
  assert.equal(median([]), undefined);
});

test('a summary keeps the values as they are', () => {
  const values = [3, 1, 2, 100, 4];
  assert.deepEqual(summary(values), { count: 5, median: 3, min: 1, quartile_1: 2, quartile_3: 4, max: 100 });
  assert.deepEqual(values, [3, 1, 2, 100, 4]);
  assert.deepEqual(summary([]), { count: 0 });
});

test('over the rounds everybody has every place and both neighbours', () => {
  const names = ['a', 'b', 'c'];
  const rounds = [0, 1, 2, 3, 4, 5].map((round) => rotated(names, round).join(''));
  assert.deepEqual(rounds, ['abc', 'bca', 'cab', 'cba', 'acb', 'bac']);
  assert.equal(rotated(names, 6).join(''), 'abc');
});
