// Fail-over: an attempt that fails before anything has left is repeated at another replica, within the attempt budget;
// once output has left, never. Source: contract.md "Refusals", architecture.md "Commit"; pitfalls P010, P048, P063-P065.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { alias, chat, oneAlias, pool } from './harness/config.mjs';
import { checkRefusal, editedStream } from './harness/contract.mjs';
import { Gateway } from './harness/gateway.mjs';
import { loadRecording } from './harness/recordings.mjs';
import { chunk, jsonAnswer, lastChunk, streamHead, Upstream } from './harness/upstream.mjs';
import { eventually, stopAll } from './harness/wait.mjs';

const good = loadRecording('11-chat-stream-nousage-spec-eos');
let replicas;
let seen;       // forwarded requests of all replicas, in order
let gateway;
before(async () => {
  replicas = await Promise.all([1, 2, 3].map(() => Upstream.start()));
  gateway = await Gateway.start(oneAlias(replicas.map((replica) => replica.url)));
});
after(() => stopAll(gateway, ...replicas));

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

// Orders: the lower order first; the higher one only when the lower cannot.
test('a pool of a higher order is used only when the lower one fails', async () => {
  const [first, second] = replicas;
  const config = oneAlias(first.url);
  config.pools.spare = pool(second.url);
  config.aliases[alias].pools = [{ pool: 'main', order: 1 }, { pool: 'spare', order: 2 }];
  const ordered = await Gateway.start(config);
  try {
    attempts(goodStream);
    for (let round = 0; round < 6; round += 1) await ordered.send(chat({ stream: true }));
    assert.deepEqual(new Set(seen.map(({ replica }) => replica)), new Set([first.url]));
    attempts(failures['reset before an answer'], goodStream);
    const response = await ordered.send(chat({ stream: true }));
    assert.equal(response.status, 200, response.body.toString());
    assert.deepEqual(seen.map(({ replica }) => replica), [first.url, second.url]);
    const record = await ordered.recordOf(response.header('x-request-id'));
    assert.deepEqual([record.pool, record.attempts.map((attempt) => attempt.pool)], ['spare', ['main', 'spare']]);
  } finally {
    await ordered.stop();
  }
});

test('requests spread over the replicas of a pool', async () => {
  attempts(goodStream);
  for (let round = 0; round < 90; round += 1) await gateway.send(chat({ stream: true }));
  for (const { url } of replicas) {
    const share = seen.filter(({ replica }) => replica === url).length;
    assert.ok(share >= 10, `${url} got ${share} of 90`);
  }
});

test('a busy replica is passed over: in-flight requests count from their dispatch', async () => {
  const [busy] = replicas;
  attempts(goodStream);
  const held = [];
  busy.answer(async (exchange) => {   // answers nothing: whoever comes here stays
    held.push(exchange);
    await exchange.closed;
  });
  const connections = [];
  try {
    for (let round = 0; round < 30; round += 1) {
      const before_ = held.length;
      const connection = await gateway.open(chat({ stream: true }));
      connections.push(connection);
      await Promise.race([connection.readResponse(), eventually('a held request', () => held.length > before_, { timeout: 1500 })]);
      // A client has its whole answer a moment before its request has ended, and until then it counts.
      await eventually('whoever was answered to be gone', async () => (await gateway.metrics()).sum('weir_inflight_requests') === held.length);
    }
    assert.equal(held.length, 1, 'the first one found it free, nobody after it');
  } finally {
    for (const connection of connections) connection.close();
  }
});
