// Records survive the death of the process. The gateway is killed at 200 random moments under load; afterwards the
// store must have exactly one row for each request that got past authentication. Who did is known from outside: the
// client saw an answer, or the engine saw the request.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readdirSync } from 'node:fs';
import { chatBody, oneAlias, secrets } from './harness/config.mjs';
import { Gateway, run } from './harness/gateway.mjs';
import { makeRandom, seed } from './harness/random.mjs';
import { RawConnection, requestBytes } from './harness/rawclient.mjs';
import { chunk, jsonAnswer, lastChunk, streamHead, Upstream } from './harness/upstream.mjs';
import { eventually, sleep, stopAll, within } from './harness/wait.mjs';

const kills = 200;
const clients = 12;
const random = makeRandom();
const seen = { engine: new Set(), asked: new Map() };   // request ids; client ids -> what their client saw
let upstream;
let gateway;

before(async () => {
  console.log(`# seed ${seed}`);
  upstream = await Upstream.start();
  upstream.answer(answer);
  gateway = new Gateway(oneAlias(upstream.url, { server: { workers: 2 }, more: { store: { spool: { cap: '32MiB', segment: '256KiB' } } } }));
});
after(() => stopAll(gateway, upstream));

// --- the engine -----------------------------------------------------------------------------------------------------

const event = (delta, finish = null) => chunk(`data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', model: 'harbor-mid', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
const timings = { prompt_n: 7, cache_n: 2, predicted_n: 3, prompt_ms: 1, predicted_ms: 1 };
const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
const ending = Buffer.concat([
  chunk(`data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', model: 'harbor-mid', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], timings })}\n\n`),
  chunk('data: [DONE]\n\n'), lastChunk]);

async function answer(exchange) {
  upstream.requests = [];
  seen.engine.add(exchange.request.header('x-request-id').replace(/-\d+$/, ''));
  if (!exchange.request.body.includes('"stream":true')) {
    await sleep(random.integer(0, 5));
    await exchange.write(jsonAnswer(200, { id: 'x', object: 'chat.completion', model: 'harbor-mid', usage, choices: [{ index: 0, message: { role: 'assistant', content: 'three words long' }, finish_reason: 'stop' }] }));
    return;
  }
  await exchange.write(streamHead());
  for (const word of ['three', ' words', ' long']) {
    await exchange.write(event({ content: word }));
    if (random.integer(0, 3) === 0) await sleep(random.integer(0, 10));
  }
  await exchange.write(ending);
}

// --- the clients ----------------------------------------------------------------------------------------------------

let nextClient = 1;

async function ask(connection) {
  const stream = random.integer(0, 1) === 1;
  const kind = random.integer(0, 9);
  const id = `client-${nextClient++}`;
  const asked = { stream, refused: kind === 0, leaves: kind === 1, status: undefined, complete: false };
  seen.asked.set(id, asked);
  await connection.write(requestBytes({ key: secrets.plain, headers: { 'X-Request-Id': id }, body: chatBody({ stream, ...(asked.refused ? { model: 'nobody' } : {}) }) }));
  if (asked.leaves) {
    await sleep(random.integer(0, 5));
    connection.reset();
    return false;
  }
  const response = await connection.readResponse();
  Object.assign(asked, { status: response.status, id: response.header('x-request-id'), complete: response.complete });
  return response.complete;
}

// Asks until the gateway dies, and once more after leaving.
async function client(until) {
  while (!until.over) {
    let connection;
    try {
      connection = await RawConnection.connect(gateway.port);
      while (!until.over && await ask(connection));
    } catch {
      return;   // refused: it is dead
    } finally {
      connection?.close();
    }
  }
}

// --- the judgement --------------------------------------------------------------------------------------------------

async function rows(sql) {
  const { code, stdout, stderr } = await run('sqlite3', ['-json', '-readonly', gateway.storeFile, sql], { timeout: 20000 });
  assert.equal(code, 0, stderr);
  return stdout.trim() === '' ? [] : JSON.parse(stdout);
}

function checkComplete(asked, row, id) {
  if (asked.refused) {
    assert.deepEqual([row.status, row.outcome, row.reason], [404, 'refused', 'model_not_found'], id);
    return;
  }
  assert.deepEqual([row.status, row.outcome, row.reason], [200, 'ok', null], `${id}: ${JSON.stringify(row)}`);
  const record = JSON.parse(row.record);
  assert.equal(record.finish_reason, 'stop', id);
  assert.equal(record.prompt_tokens, 9, id);
  assert.equal(record.completion_tokens, 3, id);
  assert.equal(record.delivered_tokens, 3, id);
  assert.equal(record.stream, asked.stream, id);
  assert.deepEqual(record.attempts.map(({ outcome }) => outcome), ['ok'], id);
  assert.ok(record.duration_ms >= 0 && record.gateway_ms >= 0, id);
  assert.equal(typeof record.ttft_ms, asked.stream ? 'number' : 'undefined', id);
}

test(`killed ${kills} times under load, the gateway has one row for each request`, { timeout: 240000 }, async (t) => {
  const began = performance.now();
  for (let round = 0; round < kills; round += 1) {
    gateway.launch({});
    await gateway.untilReady(15000);
    const until = { over: false };
    const all = Promise.all(Array.from({ length: clients }, () => client(until)));
    await sleep(random.integer(5, 110));
    gateway.signal('SIGKILL');
    await gateway.exited;
    until.over = true;
    await within(12000, 'the clients to notice', all);
  }
  gateway.launch({});
  await gateway.untilReady(15000);
  await eventually('everything to be stored', async () => (await gateway.metrics()).sum('weir_ledger_lag_seconds') === 0);
  await sleep(100);
  const stored = await rows('select request_id, client_request_id, status, outcome, reason, record from requests');
  const outcomes = {};
  for (const { outcome } of stored) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  t.diagnostic(`${kills} kills in ${((performance.now() - began) / 1000).toFixed(1)} s, ${seen.asked.size} requests, ${stored.length} rows: ${JSON.stringify(outcomes)}`);

  const byId = new Map(stored.map((row) => [row.request_id, row]));
  assert.equal(byId.size, stored.length, 'a request id is there once');
  const byClient = new Map(stored.map((row) => [row.client_request_id, row]));
  assert.equal(byClient.size, stored.length, 'no request has two rows');
  for (const id of seen.engine) assert.ok(byId.has(id), `the engine saw ${id}, and there is no row of it`);
  let complete = 0;
  let refusedForRoom = 0;
  for (const [id, asked] of seen.asked) {
    const row = byClient.get(id);
    if (asked.status === 503) {   // the disk was late with the next segment: told, and without a record
      assert.equal(row, undefined, `${id} was refused for want of room, and has a row`);
      refusedForRoom += 1;
      continue;
    }
    if (asked.status !== undefined) assert.ok(row !== undefined, `${id} was answered, and there is no row of it`);
    if (asked.complete) {
      complete += 1;
      checkComplete(asked, row, id);
    } else if (row !== undefined) {
      assert.ok(['interrupted', 'client_closed', 'ok', 'refused'].includes(row.outcome), `${id}: ${row.outcome}`);
      if (row.outcome === 'interrupted') assert.equal(row.status, null, id);
    }
  }
  assert.ok(refusedForRoom <= seen.asked.size / 100, `${refusedForRoom} were refused for want of room`);
  assert.ok(complete > kills, `${complete} whole answers are enough to judge by`);
  assert.ok(stored.some(({ outcome }) => outcome === 'interrupted'), 'some were interrupted');
  checkLog(stored, t);
});

// Each row has its line; a death between writing lines and noting it doubles them, at most a batch for a kill.
function checkLog(stored, t) {
  const lines = gateway.rawRecords();
  const times = new Map();
  for (const line of lines.whole) times.set(line.request_id, (times.get(line.request_id) ?? 0) + 1);
  for (const { request_id: id, outcome } of stored) assert.ok(times.has(id), `${id} (${outcome}) has no line`);
  assert.equal(times.size, stored.length, 'no line without a row');
  const doubled = [...times.values()].filter((count) => count > 1).length;
  t.diagnostic(`${lines.torn} torn lines, ${doubled} doubled`);
  assert.ok(lines.torn <= kills);
  assert.ok(doubled <= stored.length / 200, `${doubled} of ${stored.length} lines are doubled`);
  assert.ok(Math.max(...times.values()) <= 3);
}

test('what was killed leaves nothing behind, and a stop in order leaves an empty spool', async () => {
  gateway.signal('SIGTERM');
  assert.equal((await gateway.exited).code, 0, gateway.stderr);
  assert.deepEqual(readdirSync(`${gateway.storeFile}.spool`), ['lock']);
});
