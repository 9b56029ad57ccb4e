// A client that goes away: the engine must learn it within 100 ms, in every phase and by FIN and RST alike, and the
// record must say so. Source: pitfalls P015, P055, P103.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { chat, oneAlias } from './harness/config.mjs';
import { Gateway } from './harness/gateway.mjs';
import { jsonAnswer, chunk, streamHead, Upstream } from './harness/upstream.mjs';
import { eventually, sleep, stopAll } from './harness/wait.mjs';

const budget = 100;   // milliseconds from the client's act to the close at the engine
const token = chunk('data: {"model":"harbor-mid","choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null}]}\n\n');
const role = chunk('data: {"model":"harbor-mid","choices":[{"index":0,"delta":{"role":"assistant","content":null},"finish_reason":null}]}\n\n');

let upstream;
let gateway;
before(async () => {
  upstream = await Upstream.start();
  gateway = await Gateway.start(oneAlias(upstream.url));
});
after(() => stopAll(gateway, upstream));

const phases = {
  'before the engine answers': { stream: true, status: 499, answer: async () => {} },
  'in prefill, behind head, comment and role': { stream: true, status: 499, answer: (exchange) => exchange.write(Buffer.concat([streamHead(), chunk(':\n\n'), role])) },
  'in a silent stream': { stream: true, status: 200, tokens: 3, answer: (exchange) => exchange.write(Buffer.concat([streamHead(), role, token, token, token])) },
  'in a busy stream': {
    stream: true, status: 200, busy: true,
    answer: async (exchange) => {
      await exchange.write(Buffer.concat([streamHead(), role]));
      while (!exchange.gone) {
        await exchange.write(token);
        await sleep(2);
      }
    },
  },
  'not streaming': { stream: false, status: 499, answer: async () => {} },
  'not streaming, half the answer there': { stream: false, status: 499, answer: (exchange) => exchange.write(jsonAnswer(200, { choices: [] }, { 'Content-Length': 5000 })) },
};

async function leave({ stream, status, answer }, how, number) {
  upstream.answer(async (exchange) => {
    await answer(exchange);
    await exchange.untilClosed();
  });
  const clientId = `leaver-${number}`;
  const connection = await gateway.open(chat({ stream }, { headers: { 'X-Request-Id': clientId } }));
  const exchange = await upstream.request();
  if (status === 200) await connection.readResponse({ until: (reader) => reader.pieces.length > 0 });
  await sleep(40);
  const leftAt = performance.now();
  connection[how]();
  const { at } = await exchange.untilClosed();
  connection.close();
  const record = await gateway.recordWhere(clientId, (candidate) => candidate.client_request_id === clientId);
  return { elapsed: at - leftAt, record };
}

let number = 0;
for (const [phase, plan] of Object.entries(phases)) {
  for (const how of ['fin', 'reset']) {
    test(`${how} ${phase}`, async () => {
      const before_ = (await gateway.metrics()).sum('weir_client_cancelled_total');
      number += 1;
      const { elapsed, record } = await leave(plan, how, number);
      console.log(`# ${how} ${phase}: the engine saw the close after ${elapsed.toFixed(1)} ms`);
      assert.ok(elapsed < budget, `${elapsed} ms`);
      assert.deepEqual([record.outcome, record.status, record.reason], ['client_closed', plan.status, undefined]);
      assert.deepEqual(record.attempts.map((attempt) => attempt.outcome), ['client_closed']);
      if (plan.tokens !== undefined) assert.equal(record.delivered_tokens, plan.tokens);
      if (plan.busy) assert.ok(record.delivered_tokens > 3, `${record.delivered_tokens}`);
      if (plan.status === 499) assert.equal(record.ttft_ms, undefined, 'no first token reached anybody');
      assert.notEqual(record.usage_source, 'engine');
      assert.equal((await gateway.metrics()).sum('weir_client_cancelled_total') - before_, 1, 'weir_client_cancelled_total');
    });
  }
}

test('nothing is left behind: no request in flight, connections of the engine closed', async () => {
  await eventually('weir_inflight_requests to be 0', async () => (await gateway.metrics()).sum('weir_inflight_requests') === 0);
  await eventually('the engine\'s connections to be closed', () => upstream.connections.every((connection) => connection.requests === 0 || connection.closedAt !== undefined
    || connection.socket.destroyed || upstream.probesSeen.length > 0));
});

test('fifty clients leave at once', async () => {
  upstream.answer(async (exchange) => {
    await exchange.write(Buffer.concat([streamHead(), role, token]));
    await exchange.untilClosed(10000);
  });
  const connections = await Promise.all(Array.from({ length: 50 }, () => gateway.open(chat({ stream: true }))));
  await Promise.all(connections.map((connection) => connection.readResponse({ until: (reader) => reader.pieces.length > 0 })));
  const leftAt = performance.now();
  for (const connection of connections) connection.reset();
  const closings = await Promise.all(upstream.requests.map((exchange) => exchange.untilClosed()));
  const worst = Math.max(...closings.map(({ at }) => at - leftAt));
  console.log(`# fifty at once: the last close after ${worst.toFixed(1)} ms`);
  assert.ok(worst < 3 * budget, `${worst} ms`);
  await eventually('all fifty to be recorded', () => gateway.records().filter((record) => record.outcome === 'client_closed').length >= 50 + number);
});
