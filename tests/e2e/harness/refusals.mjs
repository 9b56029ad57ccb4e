// What every refusal has in common: the reply, the metric and the record say the same.
import assert from 'node:assert/strict';
import { checkHeaders, checkRefusal } from './contract.mjs';

// Runs `act` (which returns the refused response) and checks reply, metric and record.
// `recorded`: whether the caller had got past authentication; before it nothing may be written.
export async function expectRefusal(gateway, expected, act) {
  const { reason, recorded = true, outcome = 'refused', recordedStatus } = expected;
  const before = await gateway.metrics();
  const recordsBefore = gateway.records().length;
  const response = await act();
  checkRefusal(response, expected);
  checkHeaders(response);
  const after = await gateway.metrics();
  assert.equal(after.sum('weir_rejections_total', { reason }) - before.sum('weir_rejections_total', { reason }), 1, `weir_rejections_total{reason="${reason}"}`);
  if (!recorded) {
    await new Promise((resolve) => { setTimeout(resolve, 150); });
    assert.equal(gateway.records().length, recordsBefore, 'nothing is recorded before authentication');
    return { response };
  }
  const record = await gateway.recordOf(response.header('x-request-id'));
  assert.deepEqual([record.status, record.outcome, record.reason], [recordedStatus ?? response.status, outcome, reason]);
  return { response, record };
}
