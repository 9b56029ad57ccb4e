import assert from 'node:assert/strict';
import { test } from 'node:test';
import { figure, markdownTable, terminalTable } from './table.mjs';

test('figures show what is significant', () => {
  for (const [value, text] of [
    [0, '0.00'], [0.723, '0.72'], [9.999, '10.00'], [12.34, '12.3'], [123.4, '123'], [1234567.8, '1,234,568'], [-4321, '-4,321'], [undefined, '-'], [NaN, '-'],
  ]) assert.equal(figure(value), text);
});

test('tables', () => {
  const rows = [['what', 'n'], ['a', '10'], ['longer', '5']];
  assert.equal(terminalTable(rows), 'what     n\na       10\nlonger   5');
  assert.equal(markdownTable(rows), '| what | n |\n| --- | ---: |\n| a | 10 |\n| longer | 5 |');
});
