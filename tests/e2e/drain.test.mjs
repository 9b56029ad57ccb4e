// The end of a gateway: SIGTERM drains, what is in flight finishes, exit 0; and reload by SIGHUP.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { alias, aliasOf, chat, oneAlias, secrets } from './harness/config.mjs';
import { checkRefusal } from './harness/contract.mjs';
import { Gateway } from './harness/gateway.mjs';
import { RawConnection, requestBytes } from './harness/rawclient.mjs';
import { chunk, jsonAnswer, lastChunk, streamHead, Upstream } from './harness/upstream.mjs';
import { eventually, sleep, stopAll, within } from './harness/wait.mjs';

const token = chunk('data: {"model":"harbor-mid","choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null}]}\n\n');
const ending = Buffer.concat([chunk('data: {"model":"harbor-mid","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'), chunk('data: [DONE]\n\n'), lastChunk]);

let upstream;
before(async () => { upstream = await Upstream.start(); });
after(() => stopAll(upstream));

const withGateway = (config, body) => async () => {
  const gateway = await Gateway.start(config());
  try {
    await body(gateway);
  } finally {
    await gateway.kill();
  }
};
const drainOf = (drain) => () => oneAlias(upstream.url, { server: { drain } });

// A stream that goes on until `gate.release()`.
async function openStream(gateway) {
  const gate = {};
  gate.open = new Promise((resolve) => { gate.release = resolve; });
  upstream.answer(async (exchange) => {
    await exchange.write(Buffer.concat([streamHead(), token]));
    await Promise.race([gate.open, exchange.closed]);
    if (!exchange.gone) await exchange.write(ending);
  });
  const connection = await gateway.open(chat({ stream: true }));
  await connection.readResponse({ until: (reader) => reader.pieces.length > 0 });
  return { connection, gate };
}

// readyz tells load balancers first; the workers follow, each closes its listener as it begins to drain.
async function untilWorkersDrain(gateway) {
  await eventually('readyz to say 503', async () => (await gateway.ready()) === 503);
  await eventually('every listener to be closed', async () => {
    try {
      (await RawConnection.connect(gateway.port)).close();
      return false;
    } catch (error) {
      return error.code === 'ECONNREFUSED';
    }
  });
}

test('before and after it listens: livez and readyz', withGateway(drainOf({}), async (gateway) => {
  assert.deepEqual([await gateway.live(), await gateway.ready()], [200, 200]);
}));

test('an idle gateway is gone after a second at most, idle connections or not', withGateway(drainOf({ timeout: '20s' }), async (gateway) => {
  const idle = await RawConnection.connect(gateway.port);
  const used = await RawConnection.connect(gateway.port);
  await used.write(requestBytes({ method: 'GET', target: '/v1/models', key: secrets.plain }));
  await used.readResponse();
  const began = performance.now();
  gateway.signal('SIGTERM');
  const { code } = await within(3000, 'the gateway to exit', gateway.exited);
  assert.equal(code, 0);
  assert.ok(performance.now() - began < 1200, `${performance.now() - began} ms: a second, and the exit itself`);
  idle.close();
  used.close();
}));

test('SIGTERM: readyz 503, livez 200, the stream in flight finishes, its connection closes, exit 0', withGateway(drainOf({ timeout: '10s' }), async (gateway) => {
  const { connection, gate } = await openStream(gateway);
  gateway.signal('SIGTERM');
  await eventually('readyz to say 503', async () => (await gateway.ready()) === 503);
  assert.equal(await gateway.live(), 200);
  await sleep(200);
  assert.equal(gateway.exit, undefined, 'it waits');
  gate.release();
  const response = await connection.readResponse();
  assert.equal(response.complete, true);
  assert.ok(response.body.includes('[DONE]'));
  const { code } = await within(2000, 'the gateway to exit behind the last stream', gateway.exited);
  assert.equal(code, 0);
  await within(1000, 'the connection to close', connection.closed);
  assert.equal((await gateway.recordOf(response.header('x-request-id'))).outcome, 'ok');
  connection.close();
}));

test('during the delay new requests are served as ever', withGateway(drainOf({ delay: '800ms', timeout: '5s' }), async (gateway) => {
  upstream.answerWith(jsonAnswer(200, { model: 'harbor-mid', choices: [] }));
  gateway.signal('SIGTERM');
  await eventually('readyz to say 503', async () => (await gateway.ready()) === 503);
  assert.equal((await gateway.send(chat())).status, 200);
  assert.equal((await within(4000, 'the exit', gateway.exited)).code, 0);
}));

test('after the delay: no new connection, and what is in flight finishes', withGateway(drainOf({ timeout: '5s' }), async (gateway) => {
  const { connection, gate } = await openStream(gateway);
  gateway.signal('SIGTERM');
  await untilWorkersDrain(gateway);
  await assert.rejects(gateway.send(chat(), { timeout: 2000 }), { code: 'ECONNREFUSED' });
  gate.release();
  assert.equal((await connection.readResponse()).complete, true);
  assert.equal((await within(2000, 'the exit', gateway.exited)).code, 0);
  connection.close();
}));

test('a request on a kept-alive connection, sent behind the one in flight, is refused as draining or not read', withGateway(drainOf({ timeout: '5s' }), async (gateway) => {
  const { connection, gate } = await openStream(gateway);
  gateway.signal('SIGTERM');
  await untilWorkersDrain(gateway);
  await connection.write(requestBytes(chat()));
  gate.release();
  assert.equal((await connection.readResponse()).complete, true);
  const second = await connection.readResponse();
  if (second.status !== undefined) checkRefusal(second, { status: 503, reason: 'draining' });
  assert.equal((await within(3000, 'the exit', gateway.exited)).code, 0);
  connection.close();
}));

test('a stream that does not end is cut at the drain timeout, recorded, and the exit is 0', withGateway(drainOf({ timeout: '600ms' }), async (gateway) => {
  const { connection } = await openStream(gateway);
  const began = performance.now();
  gateway.signal('SIGTERM');
  const response = await connection.readResponse({ timeout: 5000 });
  const { code } = await within(4000, 'the exit at the drain timeout', gateway.exited);
  const waited = performance.now() - began;
  assert.equal(code, 0);
  assert.ok(waited > 500 && waited < 2500, `${waited} ms`);
  assert.ok(!response.body.includes('[DONE]'), 'never a silent success');
  const record = gateway.records().find((candidate) => candidate.request_id === response.header('x-request-id'));
  assert.ok(record !== undefined, 'the cut request has its record');
  assert.notEqual(record.outcome, 'ok');
  connection.close();
}));

// --- reload ---------------------------------------------------------------------------------------------------

const reloaded = (gateway) => gateway.metrics().then((metrics) => metrics.sum('weir_config_last_reload_successful'));

test('SIGHUP: a good file takes effect, requests in flight keep what they began with', withGateway(drainOf({}), async (gateway) => {
  const { connection, gate } = await openStream(gateway);
  const config = oneAlias(upstream.url);
  config.aliases = { 'chat-new': aliasOf(['main']) };
  config.tenants.acme.aliases = ['chat-new'];
  gateway.write({ ...config, server: { listen: `127.0.0.1:${gateway.port}` } });
  gateway.signal('SIGHUP');
  await eventually('the new alias on every worker', async () => {
    const lists = await Promise.all(Array.from({ length: 20 }, () => gateway.send({ method: 'GET', target: '/v1/models', key: secrets.plain })));
    return lists.every((response) => response.json().data.some((model) => model.id === 'chat-new'));
  });
  assert.equal(await reloaded(gateway), 1);
  assert.equal((await gateway.send(chat())).status, 404, 'the old alias is gone');
  gate.release();
  const response = await connection.readResponse();
  assert.ok(response.body.toString().endsWith('data: [DONE]\n\n') && response.body.includes(alias), 'the old stream ended under its old name');
  connection.close();
}));

test('SIGHUP: a bad file changes nothing and is told', withGateway(drainOf({}), async (gateway) => {
  upstream.answerWith(jsonAnswer(200, { model: 'harbor-mid', choices: [] }));
  const config = oneAlias(upstream.url);
  config.pools.main.engine = 'steam';
  gateway.write(config);
  gateway.signal('SIGHUP');
  await eventually('the failed reload to show', async () => (await reloaded(gateway)) === 0);
  assert.equal((await gateway.send(chat())).status, 200);
  assert.match(gateway.stderr, /pools\.main\.engine/);
}));
