// Fail-over: an attempt that fails before anything has left is repeated at another replica, within the attempt budget;
// once output has left, never. Source: contract.md "Refusals", architecture.md "Commit"; pitfalls P010, P048, P063-P065.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { alias, chat, oneAlias } from './harness/config.mjs';
import { checkRefusal, editedStream } from './harness/contract.mjs';
import { Gateway } from './harness/gateway.mjs';
import { loadRecording } from './harness/recordings.mjs';
import { chunk, jsonAnswer, lastChunk, streamHead, Upstream } from './harness/upstream.mjs';

const good = loadRecording('11-chat-stream-nousage-spec-eos');
let replicas;
let seen;       // forwarded requests of all replicas, in order
let gateway;
before(async () => {
  replicas = await Promise.all([1, 2, 3].map(() => Upstream.start()));
  gateway = await Gateway.start(oneAlias(replicas.map((replica) => replica.url)));
});
after(async () => {
  await gateway?.stop();
  for (const replica of replicas) await replica.stop();
});

// The n-th attempt, wherever it goes, is answered by the n-th handler; the last one answers all further ones.
function attempts(...handlers) {
  seen = [];
  for (const replica of replicas) {
    replica.answer(async (exchange) => {
      seen.push({ replica: replica.url, exchange });
      await (handlers[seen.length - 1] ?? handlers.at(-1))(exchange);
    });
  }
}

const writes = (bytes) => async (exchange) => {
  await exchange.write(bytes);
  exchange.fin();
};
const goodStream = writes(good.response);

const failures = {
  'reset before an answer': async (exchange) => { exchange.reset(); },
  'closed before an answer': async (exchange) => { exchange.fin(); },
  'an answer that is no HTTP': writes('nonsense\r\n\r\n'),
  '500': writes(jsonAnswer(500, { error: { message: 'x' } })),
  '503': writes(jsonAnswer(503, { error: { message: 'Loading model' } })),
  '429': writes(jsonAnswer(429, { error: { message: 'full' } })),
  '404 for the model': writes(jsonAnswer(404, { error: { message: 'The model `harbor-mid` does not exist.', type: 'NotFoundError', param: 'model', code: 404 } })),
  'a stream without events': writes(loadRecording('71-half-close-chat-stream').response),
  'a stream that breaks behind the role': writes(Buffer.concat([streamHead(), chunk('data: {"choices":[{"index":0,"delta":{"role":"assistant","content":null},"finish_reason":null}]}\n\n')])),
  'an error as the first event': writes(Buffer.concat([streamHead(), chunk('data: {"error":{"message":"boom","code":500}}\n\n'), chunk('data: [DONE]\n\n'), lastChunk])),
};
for (const [name, failure] of Object.entries(failures)) {
  test(`another replica answers after: ${name}`, async () => {
    attempts(failure, goodStream);
    const response = await gateway.send(chat({ stream: true }));
    assert.equal(response.status, 200, response.body.toString());
    assert.equal(response.body.toString(), editedStream(good.body, { alias }).toString(), 'nothing of the failed attempt shows');
    const record = await gateway.recordOf(response.header('x-request-id'));
    assert.deepEqual(record.attempts.map((attempt) => attempt.outcome === 'ok'), [false, true]);
    assert.notEqual(record.attempts[0].replica, record.attempts[1].replica, 'a replica that failed is not asked again');
    assert.equal(record.replica, record.attempts[1].replica);
    assert.deepEqual([record.outcome, record.status, record.completion_tokens], ['ok', 200, 10]);
    const id = response.header('x-request-id');
    assert.deepEqual(seen.map(({ exchange }) => exchange.request.header('x-request-id')), [`${id}-1`, `${id}-2`]);
    assert.deepEqual(seen[0].exchange.request.body, seen[1].exchange.request.body, 'the same body both times');
  });
}

test('the attempt budget holds: two attempts, then the last attempt\'s own error', async () => {
  attempts(failures['500'], failures['429'], goodStream);
  const response = await gateway.send(chat());
  checkRefusal(response, { status: 429, reason: 'upstream_saturated' });
  assert.equal(seen.length, 2);
});

test('an engine\'s own 400 is never repeated', async () => {
  attempts(writes(jsonAnswer(400, { error: { message: 'no', code: 400 } })), goodStream);
  checkRefusal(await gateway.send(chat()), { status: 400, reason: 'upstream_rejected' });
  assert.equal(seen.length, 1);
});

test('nothing is repeated once output has left', async () => {
  attempts(writes(good.response.subarray(0, good.response.indexOf(' qui'))), goodStream);
  const response = await gateway.send(chat({ stream: true }));
  assert.equal(response.status, 200);
  assert.equal(seen.length, 1);
  assert.equal((await gateway.recordOf(response.header('x-request-id'))).outcome, 'truncated');
});
