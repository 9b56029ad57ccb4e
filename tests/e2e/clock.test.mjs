// The wall clock steps while the gateway serves: an hour back, a day forward. The gateway's process alone sees it
// (harness/clock_step.cpp); its monotonic clock goes on, as on a real machine. Durations, timers and streams do not notice, each
// request has its row once, and what is meant by the wall clock (the record's time, a key's last day) follows it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { chat, oneAlias, secrets, tenant } from './harness/config.mjs';
import { Gateway, run, sha256 } from './harness/gateway.mjs';
import { chunk, jsonAnswer, lastChunk, streamHead, Upstream } from './harness/upstream.mjs';
import { eventually, sleep, stopAll } from './harness/wait.mjs';

const directory = mkdtempSync(path.join(tmpdir(), 'weir-clock-'));
const library = path.join(directory, 'clock_step.so');
const hour = 3600;
const day = 24 * hour;
const alive = 'sk-test-key-of-today';

const whole = jsonAnswer(200, { id: 'x', object: 'chat.completion', model: 'harbor-mid', usage: { prompt_tokens: 9, completion_tokens: 3 }, choices: [{ index: 0, message: { role: 'assistant', content: 'three words long' }, finish_reason: 'stop' }] });
const token = chunk('data: {"model":"harbor-mid","choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null}]}\n\n');
const ending = Buffer.concat([chunk('data: {"model":"harbor-mid","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'), chunk('data: [DONE]\n\n'), lastChunk]);

let upstream;
before(async () => {
  const source = new URL('harness/clock_step.cpp', import.meta.url).pathname;
  execFileSync('clang++-19', ['-std=c++20', '-O1', '-shared', '-fPIC', '-o', library, source], { stdio: 'inherit' });
  upstream = await Upstream.start();
});
after(async () => {
  rmSync(directory, { recursive: true });
  await stopAll(upstream);
});

const today = () => new Date().toISOString().slice(0, 10);
const configuration = () => oneAlias(upstream.url, {
  pool: { timeouts: { connect: '1s', first_token: '700ms', idle: '20s' } },
  tenant: { keys: [...tenant([]).keys, { name: 'today', sha256: sha256(alive), expires: today() }] },
});

// `step(seconds)` sets the gateway's wall clock to so much beside the machine's.
async function withClock(use) {
  const gateway = new Gateway(configuration());
  const file = path.join(gateway.directory, 'clock');
  writeFileSync(file, Buffer.alloc(8));
  const step = (seconds) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(seconds));
    const descriptor = openSync(file, 'r+');
    writeSync(descriptor, bytes);
    closeSync(descriptor);
  };
  const env = { LD_PRELOAD: library, WEIR_CLOCK_STEP: file, ASAN_OPTIONS: `${process.env.ASAN_OPTIONS ?? ''}:verify_asan_link_order=0` };
  try {
    gateway.launch(env);
    await gateway.untilReady(15000);
    await use(gateway, step, () => { gateway.launch(env); return gateway.untilReady(15000); });
    await gateway.stop();
  } finally {
    await gateway.kill();
  }
}

async function ask(gateway, count) {
  upstream.answerWith(whole);
  const ids = [];
  for (let i = 0; i < count; i += 1) {
    const response = await gateway.send(chat());
    assert.equal(response.status, 200, response.body.toString());
    ids.push(response.header('x-request-id'));
  }
  return ids;
}

// A stream that is under way until it is told to end: its id.
async function openStream(gateway) {
  let release;
  const gate = new Promise((resolve) => { release = resolve; });
  upstream.answer(async (exchange) => {
    await exchange.write(Buffer.concat([streamHead(), token]));
    await Promise.race([gate, exchange.closed]);
    if (!exchange.gone) await exchange.write(ending);
  });
  const connection = await gateway.open(chat({ stream: true }));
  const head = await connection.readResponse({ until: (reader) => reader.pieces.length > 0 });
  return {
    id: head.header('x-request-id'),
    async finish() {
      release();
      const response = await connection.readResponse();
      connection.close();
      assert.ok(response.complete && response.body.includes('[DONE]'));
    },
    abandon: () => connection.close(),
  };
}

async function rows(gateway) {
  const { code, stdout, stderr } = await run('sqlite3', ['-readonly', gateway.storeFile, 'select request_id, outcome from requests order by rowid']);
  assert.equal(code, 0, stderr);
  return stdout.split('\n').filter((line) => line !== '').map((line) => line.split('|'));
}

const beside = (record) => (Date.parse(record.time) - Date.now()) / 1000;   // s, of the record's clock from this one's

for (const [name, seconds] of [['an hour back', -hour], ['a day forward', day]]) {
  test(`${name}: streams, durations and rows do not notice`, async () => withClock(async (gateway, step) => {
    const stream = await openStream(gateway);
    const before_ = await ask(gateway, 5);
    step(seconds);
    const after_ = await ask(gateway, 5);
    await sleep(1200);
    await stream.finish();
    const ids = [...before_, ...after_, stream.id];

    const records = await eventually('the records', () => (gateway.records().length === ids.length ? gateway.records() : undefined));
    assert.deepEqual(records.map((record) => record.request_id).sort(), [...ids].sort(), 'one line each');
    for (const record of records) {
      assert.equal(record.outcome, 'ok');
      assert.ok(record.duration_ms >= 0 && record.duration_ms < 10000, `${record.duration_ms} ms`);
      const spans = [record.ttft_ms, record.upstream_ttft_ms, record.gateway_ms].filter((span) => span !== undefined);
      assert.ok(spans.length > 0 && spans.every((span) => span >= 0 && span <= record.duration_ms), `${spans} ms`);
      const expected = after_.includes(record.request_id) ? seconds : 0;
      assert.ok(Math.abs(beside(record) - expected) < 60, `${record.time}: its clock when it began`);
    }
    assert.ok(records.find((record) => record.request_id === stream.id).duration_ms > 1200);
    await eventually('the rows', async () => (await rows(gateway)).length === ids.length);
    assert.deepEqual((await rows(gateway)).map(([id]) => id).sort(), [...ids].sort());
  }));
}

test('timers go by the monotonic clock: an engine that hangs is given up in time, not an hour later', async () => withClock(async (gateway, step) => {
  upstream.answer(async (exchange) => { await exchange.closed; });
  const began = performance.now();
  const waiting = gateway.send(chat({ stream: true }));
  await sleep(100);
  step(-hour);
  const response = await waiting;
  assert.equal(response.status, 504);
  assert.ok(performance.now() - began < 5000);
}));

test('killed after a step back: the restart stores each request once', async () => withClock(async (gateway, step, restart) => {
  const finished = await ask(gateway, 20);
  const stream = await openStream(gateway);
  step(-hour);
  finished.push(...await ask(gateway, 20));
  gateway.signal('SIGKILL');
  await gateway.exited;
  stream.abandon();
  step(-2 * hour);
  await restart();
  finished.push(...await ask(gateway, 5));
  const expected = [...finished.map((id) => [id, 'ok']), [stream.id, 'interrupted']].sort();
  await eventually('every row', async () => (await rows(gateway)).length >= expected.length);
  await sleep(300);
  assert.deepEqual((await rows(gateway)).sort(), expected);
}));

test("a key's last day is the wall clock's: over it 401, before it again accepted", async () => withClock(async (gateway, step) => {
  upstream.answerWith(whole);
  const status = async () => (await gateway.send(chat({}, { key: alive }))).status;
  assert.equal(await status(), 200);
  step(day);
  assert.equal(await status(), 401);
  assert.equal((await gateway.send(chat({}, { key: secrets.plain }))).status, 200);
  step(0);
  assert.equal(await status(), 200);
}));
