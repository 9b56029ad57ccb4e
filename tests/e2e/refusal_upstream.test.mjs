// Refusals that come of the engine: it cannot be reached, breaks, lies, refuses, is full, or takes too long.
// A gateway for each group; health probes are far apart so that only the requests themselves speak.
import assert from 'node:assert/strict';
import net from 'node:net';
import { after, before, test } from 'node:test';
import { alias, chat, oneAlias, pool } from './harness/config.mjs';
import { checkBrokenStream, checkRefusal } from './harness/contract.mjs';
import { Gateway } from './harness/gateway.mjs';
import { expectRefusal } from './harness/refusals.mjs';
import { chunk, httpMessage, jsonAnswer, lastChunk, streamHead, Upstream } from './harness/upstream.mjs';
import { eventually, stopAll } from './harness/wait.mjs';

const timeouts = { connect: '300ms', first_token: '300ms', idle: '300ms' };
const upstreamFailed = { outcome: 'upstream_failed' };

let upstream;
let gateway;
before(async () => {
  upstream = await Upstream.start();
  const config = oneAlias(upstream.url, { pool: { timeouts } });
  config.aliases['short-lived'] = { ...config.aliases[alias], client_timeout: '400ms', pools: ['patient'] };
  config.pools.patient = pool(upstream.url);
  config.tenants.acme.aliases.push('short-lived');
  gateway = await Gateway.start(config);
});
after(() => stopAll(gateway, upstream));

const finishedWith = (bytes, { thenFin = true } = {}) => async (exchange) => {
  await exchange.write(bytes);
  if (thenFin) exchange.fin();
};

// --- it cannot be reached -------------------------------------------------------------------------------------

async function closedPort() {
  const server = net.createServer();
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const { port } = server.address();
  await new Promise((resolve) => { server.close(resolve); });
  return port;
}

test('502 upstream_error: connection refused', async () => {
  const lonely = await Gateway.start(oneAlias(`http://127.0.0.1:${await closedPort()}`));
  try {
    const { record } = await expectRefusal(lonely, { status: 502, reason: 'upstream_error', ...upstreamFailed }, () => lonely.send(chat()));
    assert.ok(record.attempts.length >= 1 && record.attempts.every((attempt) => attempt.outcome === 'connect_failed'));
    assert.equal(record.prompt_tokens, undefined);
  } finally {
    await lonely.stop();
  }
});

test('503 pools_unhealthy: every replica says that it cannot', async () => {
  const sick = await Upstream.start();
  sick.probes['/health'] = () => jsonAnswer(503, { error: { message: 'Loading model', code: 503 } });
  const waiting = await Gateway.start(oneAlias(sick.url, { pool: { health: { interval: '100ms' } } }));
  try {
    sick.answerWith(jsonAnswer(503, { error: { message: 'Loading model' } }));
    await eventually('the probes to be believed', async () => {
      const response = await waiting.send(chat());
      return response.header('x-weir-reason') === 'pools_unhealthy';
    });
    sick.answer(() => { throw new Error('an unhealthy replica was asked'); });
    const { record } = await expectRefusal(waiting, { status: 503, reason: 'pools_unhealthy' }, () => waiting.send(chat()));
    assert.deepEqual(record.decision.excluded, { main: 'all_replicas_unhealthy' });
    assert.equal(record.attempts?.length ?? 0, 0);
    sick.probes['/health'] = () => jsonAnswer(200, { status: 'ok' });
    sick.answerWith(jsonAnswer(200, { model: 'harbor-mid', choices: [] }));
    await eventually('recovery after one good probe', async () => (await waiting.send(chat())).status === 200);
  } finally {
    await stopAll(waiting, sick);
  }
});

// --- it breaks or lies ----------------------------------------------------------------------------------------

const good = '{"model":"harbor-mid","choices":[]}';
const faults = {
  'no HTTP at all': ['upstream_protocol', finishedWith('SSH-2.0-OpenSSH_9.2\r\n')],
  'a status line that is none': ['upstream_protocol', finishedWith('HTTP/1.1 abc OK\r\n\r\n')],
  'a bad chunk size': ['upstream_protocol', finishedWith('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\nzz\r\n{}\r\n0\r\n\r\n')],
  'a bad length': ['upstream_protocol', finishedWith('HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n{}')],
  'length and chunked': ['upstream_protocol', finishedWith(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`)],
  'a head without end': ['upstream_protocol', finishedWith(`HTTP/1.1 200 OK\r\nX-Large: ${'x'.repeat(200000)}\r\n\r\n`)],
  'a body that is no JSON': ['upstream_protocol', finishedWith(httpMessage('HTTP/1.1 200 OK', { 'Content-Length': 5 }, 'hello'))],
  'a redirect': ['upstream_protocol', finishedWith(httpMessage('HTTP/1.1 302 Found', { Location: 'http://127.0.0.1:1/', 'Content-Length': 0 }))],
  'an answer cut off': ['upstream_error', finishedWith(httpMessage('HTTP/1.1 200 OK', { 'Content-Length': 500 }, good))],
  'reset before an answer': ['upstream_error', async (exchange) => { exchange.reset(); }],
  'reset in the answer': ['upstream_error', async (exchange) => { await exchange.write(httpMessage('HTTP/1.1 200 OK', { 'Content-Length': 500 }, good)); exchange.reset(); }],
  'closed without an answer': ['upstream_error', async (exchange) => { exchange.fin(); }],
  '500': ['upstream_error', finishedWith(jsonAnswer(500, { error: { message: 'a secret of the engine at 10.0.0.1' } }))],
  '502': ['upstream_error', finishedWith(jsonAnswer(502, 'bad gateway'))],
  '401: our credential failed': ['upstream_error', finishedWith(jsonAnswer(401, { error: 'Unauthorized' }))],
  '403: our credential failed': ['upstream_error', finishedWith(jsonAnswer(403, { error: 'Forbidden' }))],
  '404 for the model: drift': ['upstream_error', finishedWith(jsonAnswer(404, { error: { message: 'The model `harbor-mid` does not exist.', type: 'NotFoundError', param: 'model', code: 404 } }))],
};
for (const [name, [reason, handler]] of Object.entries(faults)) {
  test(`502 ${reason}: ${name}`, async () => {
    upstream.answer(handler);
    const { response, record } = await expectRefusal(gateway, { status: 502, reason, ...upstreamFailed }, () => gateway.send(chat()));
    assert.ok(!/secret|10\.0\.0\.1|Unauthorized/.test(response.body.toString()), 'detail of the engine stays inside');
    assert.ok(record.attempts.length <= 2, 'the attempt budget holds');
    assert.ok(upstream.requests.length <= 3, 'one free repeat for a stale connection at most');
  });
}

const streamFaults = {
  'JSON instead of events': ['upstream_protocol', jsonAnswer(200, good)],
  'a compressed stream, though identity was asked for': ['upstream_protocol', Buffer.concat([streamHead({ 'Content-Encoding': 'gzip' }), chunk('\x1f\x8b\x08')])],
  'an event that is no JSON': ['upstream_protocol', Buffer.concat([streamHead(), chunk('data: nonsense\n\n'), lastChunk])],
  'no event at all': ['upstream_error', Buffer.concat([streamHead(), lastChunk])],
  'an error event first': ['upstream_error', Buffer.concat([streamHead(), chunk('data: {"error":{"message":"out of memory","code":500}}\n\n'), lastChunk])],
  'an event without end': ['upstream_protocol', Buffer.concat([streamHead(), chunk(`data: {"x":"${'y'.repeat(1200 * 1024)}`)])],
};
for (const [name, [reason, bytes]] of Object.entries(streamFaults)) {
  test(`502 ${reason}, streaming, before any output: ${name}`, async () => {
    upstream.answer(finishedWith(bytes));
    await expectRefusal(gateway, { status: 502, reason, ...upstreamFailed }, () => gateway.send(chat({ stream: true })));
  });
}

// --- it refuses, it is full -----------------------------------------------------------------------------------

for (const status of [400, 404, 409, 413, 422, 501]) {
  test(`${status} upstream_rejected: status and message are kept, one attempt`, async () => {
    upstream.answer(finishedWith(jsonAnswer(status, { error: { message: 'because of the engine', type: 'BadRequestError', param: 'top_k', code: status } }), { thenFin: false }));
    const { response, record } = await expectRefusal(gateway, { status, reason: 'upstream_rejected', message: /because of the engine/, param: 'top_k' }, () => gateway.send(chat()));
    assert.equal(typeof response.json().error.code, 'string');
    assert.deepEqual(record.attempts.map((attempt) => attempt.outcome), ['rejected']);
    assert.equal(upstream.requests.length, 1);
  });
}

for (const [status, retryAfter] of [[429, '7'], [503, '3'], [429, undefined], [503, undefined]]) {
  test(`${status} upstream_saturated, retry-after ${retryAfter}`, async () => {
    const headers = retryAfter === undefined ? {} : { 'Retry-After': retryAfter };
    upstream.answer(finishedWith(jsonAnswer(status, { error: { message: 'too many requests', code: status } }, headers), { thenFin: false }));
    const { record } = await expectRefusal(gateway, { status, reason: 'upstream_saturated', retryAfter, ...upstreamFailed }, () => gateway.send(chat()));
    assert.ok(record.attempts.every((attempt) => attempt.outcome === 'saturated'));
  });
}

// --- it takes too long ----------------------------------------------------------------------------------------

const output = chunk('data: {"model":"harbor-mid","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\n\n');
const opening = chunk('data: {"model":"harbor-mid","choices":[{"index":0,"delta":{"role":"assistant","content":null},"finish_reason":null}]}\n\n');
const comment = chunk(': still here\n\n');

async function commentUntilClosed(exchange) {
  const timer = setInterval(() => exchange.write(comment), 50);
  await exchange.untilClosed(3000).finally(() => clearInterval(timer));
}

const silences = {
  'no head': async (exchange) => { await exchange.untilClosed(); },
  'a head, no event': async (exchange) => { await exchange.write(streamHead()); await exchange.untilClosed(); },
  'a role, no output': async (exchange) => { await exchange.write(Buffer.concat([streamHead(), opening])); await exchange.untilClosed(); },
  'comments only': async (exchange) => {
    await exchange.write(streamHead());
    await commentUntilClosed(exchange);
  },
};
for (const [name, handler] of Object.entries(silences)) {
  test(`504 upstream_timeout_first_token: ${name}`, async () => {
    upstream.answer(handler);
    const began = performance.now();
    const { record } = await expectRefusal(gateway, { status: 504, reason: 'upstream_timeout_first_token', ...upstreamFailed }, () => gateway.send(chat({ stream: true })));
    assert.ok(performance.now() - began < 2500, 'the limit is 300 ms an attempt');
    assert.ok(record.attempts.every((attempt) => attempt.outcome === 'timeout'));
    for (const exchange of upstream.requests) await exchange.untilClosed(1000);
  });
}

test('504 upstream_timeout_total: the alias\'s deadline, not streaming', async () => {
  upstream.answer(async (exchange) => { await exchange.untilClosed(); });
  await expectRefusal(gateway, { status: 504, reason: 'upstream_timeout_total', ...upstreamFailed }, () => gateway.send(chat({ model: 'short-lived' })));
});

test('504 upstream_timeout_total: streaming, before output', async () => {
  upstream.answer(async (exchange) => { await exchange.untilClosed(); });
  await expectRefusal(gateway, { status: 504, reason: 'upstream_timeout_total', ...upstreamFailed }, () => gateway.send(chat({ model: 'short-lived', stream: true })));
});

for (const [name, changes, reason] of [['idle', {}, 'upstream_timeout_idle'], ['total', { model: 'short-lived' }, 'upstream_timeout_total']]) {
  test(`${reason} in the middle of a stream: an error event, the upstream is closed`, async () => {
    upstream.answer(async (exchange) => {
      await exchange.write(Buffer.concat([streamHead(), opening, output]));
      await commentUntilClosed(exchange);   // comments do not count as life
    });
    const response = await gateway.send(chat({ stream: true, ...changes }));
    checkBrokenStream(response, { reason });
    const record = await gateway.recordOf(response.header('x-request-id'));
    assert.deepEqual([record.status, record.outcome, record.reason, record.attempts.length], [200, 'upstream_failed', reason, 1], name);
    await upstream.requests[0].untilClosed(1000);
  });
}

test('a client\'s own timeout hint shortens the deadline', async () => {
  upstream.answer(async (exchange) => { await exchange.untilClosed(); });
  const began = performance.now();
  const response = await gateway.send(chat({}, { headers: { 'X-Stainless-Timeout': '1' } }), { timeout: 5000 });
  checkRefusal(response, { status: 504, reason: 'upstream_timeout_total' });
  assert.ok(performance.now() - began < 3000);
  assert.equal((await gateway.recordOf(response.header('x-request-id'))).client_timeout_ms, 1000);
});
