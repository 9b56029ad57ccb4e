// What every refusal has in common: the reply, the metric and the record say the same.
import assert from 'node:assert/strict';
import { checkHeaders, checkRefusal, checkServerTiming } from './contract.mjs';
import { eventually, sleep } from './wait.mjs';

// Counters when no request is on its way to its record: the reply leaves a moment before it is counted. One scrape is
// no snapshot (a request may settle between two of its lines), so the counters are read once more behind the zero.
async function settled(gateway) {
  await eventually('requests to be settled', async () => (await gateway.metrics()).sum('weir_inflight_requests') === 0);
  return gateway.metrics();
}

// Runs `act` (which returns the refused response) and checks reply, metric and record.
// `recorded`: whether the caller had got past authentication; before it nothing may be written.
export async function expectRefusal(gateway, expected, act) {
  const { reason, recorded = true, outcome = 'refused' } = expected;
  const before = await settled(gateway);
  const response = await act();
  checkRefusal(response, expected);
  checkHeaders(response);
  if (recorded) checkServerTiming(response);
  const after = await settled(gateway);
  const grown = (family, labels) => after.sum(family, labels) - before.sum(family, labels);
  assert.equal(grown('weir_rejections_total', { reason }), 1, `weir_rejections_total{reason="${reason}"}`);
  assert.equal(grown('weir_rejections_total'), 1, 'and no other reason');
  assert.equal(grown('weir_requests_total'), recorded ? 1 : 0, 'weir_requests_total counts what got past authentication');
  const id = response.header('x-request-id');
  if (!recorded) {
    await sleep(120);
    assert.ok(!gateway.records().some((record) => record.request_id === id), 'nothing is recorded before authentication');
    return { response };
  }
  const record = await gateway.recordOf(id);
  assert.deepEqual([record.status, record.outcome, record.reason], [response.status, outcome, reason]);
  return { response, record };
}
