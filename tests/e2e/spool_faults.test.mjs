// A store and a disk that fail while the gateway serves: clients do not feel it until the spool is full, and afterwards
// every request has its row, once.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { checkRefusal } from './harness/contract.mjs';
import { chat, oneAlias } from './harness/config.mjs';
import { Gateway, run } from './harness/gateway.mjs';
import { jsonAnswer, Upstream } from './harness/upstream.mjs';
import { eventually, sleep, within } from './harness/wait.mjs';

let upstream;
before(async () => {
  upstream = await Upstream.start();
  upstream.answerWith(jsonAnswer(200, { id: 'x', object: 'chat.completion', model: 'harbor-mid', usage: { prompt_tokens: 9, completion_tokens: 3 }, choices: [{ index: 0, message: { role: 'assistant', content: 'three words long' }, finish_reason: 'stop' }] }));
});
after(() => upstream.stop());

const small = { cap: '512KiB', segment: '64KiB' };
const start = (spool = {}) => Gateway.start(oneAlias(upstream.url, { server: { workers: 1 }, more: { store: { spool: { ...small, ...spool } } } }));

const lockers = new Set();

async function withGateway(spool, use) {
  const gateway = await start(spool);
  try {
    await use(gateway);
    await gateway.stop({ timeout: 15000 });
  } finally {
    for (const locker of lockers) locker.kill('SIGKILL');
    await gateway.kill();
  }
}

// Another process that holds the database's lock until it is told to let go.
async function lock(file) {
  const child = spawn('sqlite3', [file], { stdio: ['pipe', 'pipe', 'inherit'] });
  lockers.add(child);
  const locked = new Promise((resolve) => { child.stdout.once('data', resolve); });
  child.stdin.write('BEGIN EXCLUSIVE; SELECT 1;\n');
  await within(5000, 'the lock on the database', locked);
  return async () => {
    child.stdin.end('ROLLBACK;\n');
    await new Promise((resolve) => { child.once('close', resolve); });
    lockers.delete(child);
  };
}

// Asks `count` times, one after another: the ids of those that were answered.
async function ask(gateway, count) {
  const ids = [];
  for (let i = 0; i < count; i += 1) {
    const response = await gateway.send(chat());
    assert.equal(response.status, 200, response.body.toString());
    ids.push(response.header('x-request-id'));
  }
  return ids;
}

// Asks until a request is refused because the spool is full: {ids, refusal}. On a busy machine the next segment may come
// a moment late, and a request be refused before.
async function askUntilRefused(gateway, isFull, most = 5000) {
  const ids = [];
  for (let i = 0; i < most; i += 1) {
    const full = await isFull();
    const response = await gateway.send(chat());
    if (response.status === 200) ids.push(response.header('x-request-id'));
    else if (full) return { ids, refusal: response };
    else await sleep(20);
  }
  throw new Error(`${most} requests, and none was refused`);
}

async function storedIds(file) {
  const { code, stdout, stderr } = await run('sqlite3', ['-readonly', file, 'select request_id from requests where outcome = \'ok\'']);
  assert.equal(code, 0, stderr);
  return stdout.split('\n').filter((line) => line !== '').sort();
}

async function checkStored(gateway, ids, file = gateway.storeFile) {
  await eventually('the backlog to be stored', async () => (await gateway.metrics()).sum('weir_ledger_lag_seconds') === 0, { timeout: 10000 });
  await sleep(300);
  assert.deepEqual(await storedIds(file), [...ids].sort());
}

const dropped = async (gateway, sink) => (await gateway.metrics()).sum('weir_events_dropped_total', { sink });

test('a locked database is waited for, and nobody feels it', async () => withGateway({}, async (gateway) => {
  const ids = await ask(gateway, 5);
  const unlock = await lock(gateway.storeFile);
  ids.push(...await ask(gateway, 20));
  await sleep(2600);   // longer than the store waits for a lock
  ids.push(...await ask(gateway, 5));
  const metrics = await gateway.metrics();
  assert.ok(metrics.sum('weir_ledger_lag_seconds') > 2, 'the lag shows');
  assert.ok(metrics.sum('weir_spool_bytes') >= 2 * 64 * 1024);
  await eventually('the log to go on', () => gateway.records().length === 30, { timeout: 8000 });
  await unlock();
  await checkStored(gateway, ids);
  assert.equal(gateway.records().length, 30, 'no line twice');
  assert.match(gateway.stderr, /the store takes no records, they wait in the spool: .*locked/);
  assert.match(gateway.stderr, /the store takes records again/);
}));

test('a database that is away for a minute is waited for, and nobody feels it', async () => withGateway({ cap: '8MiB' }, async (gateway) => {
  const ids = await ask(gateway, 5);
  await checkStored(gateway, ids);
  renameSync(gateway.storeFile, `${gateway.storeFile}.aside`);
  const back = performance.now() + 60000;
  while (performance.now() < back) {
    ids.push(...await ask(gateway, 5));
    await sleep(200);
  }
  assert.match(gateway.stderr, /the file is gone; put it back/);
  assert.ok((await gateway.metrics()).sum('weir_ledger_lag_seconds') > 50, 'the age of the oldest record that waits');
  await eventually('every line of the log', () => gateway.records().length === ids.length);
  renameSync(`${gateway.storeFile}.aside`, gateway.storeFile);
  ids.push(...await ask(gateway, 5));
  await checkStored(gateway, ids);
  assert.equal(gateway.records().length, ids.length);
  assert.equal((await gateway.metrics()).sum('weir_events_dropped_total'), 0);
}));

test('a database that was replaced takes what comes from then on, an empty file is waited for', async () => withGateway({}, async (gateway) => {
  await checkStored(gateway, await ask(gateway, 5));
  const restored = `${gateway.storeFile}.restored`;
  assert.equal((await run('sqlite3', [gateway.storeFile, `VACUUM INTO '${restored}'`])).code, 0);
  assert.equal((await run('sqlite3', [restored, 'DELETE FROM request_records'])).code, 0);
  for (const suffix of ['', '-wal', '-shm']) rmSync(gateway.storeFile + suffix, { force: true });
  const ids = await ask(gateway, 5);
  await eventually('the failure to be told', () => /the file is gone/.test(gateway.stderr));
  writeFileSync(gateway.storeFile, '');   // a copy that has only begun
  ids.push(...await ask(gateway, 5));
  await sleep(1000);
  assert.equal(statSync(gateway.storeFile).size, 0, 'nothing is written to it');
  renameSync(restored, gateway.storeFile);
  await checkStored(gateway, ids);
}));

test('a spool at its cap refuses, and goes on when there is room', async () => withGateway({}, async (gateway) => {
  const unlock = await lock(gateway.storeFile);
  const { ids, refusal } = await askUntilRefused(gateway, async () => (await gateway.metrics()).sum('weir_spool_bytes') === 512 * 1024);
  checkRefusal(refusal, { status: 503, reason: 'overloaded' });
  assert.ok(ids.length > 200, `${ids.length} fit`);
  const metrics = await gateway.metrics();
  assert.ok(metrics.sum('weir_rejections_total', { reason: 'overloaded' }) >= 1);
  assert.equal(metrics.sum('weir_spool_bytes'), 512 * 1024);
  assert.equal(metrics.sum('weir_events_dropped_total', { sink: 'spool' }), 0);
  assert.match(gateway.stderr, /store.spool.cap, 512KiB; when the present ones are full, requests are refused/);
  await unlock();
  const later = await eventually('a request to be let in', async () => {
    const response = await gateway.send(chat());
    return response.status === 200 ? response.header('x-request-id') : undefined;
  }, { timeout: 10000 });
  await checkStored(gateway, [...ids, later]);
  await eventually('that to be told', () => /the spool has room again/.test(gateway.stderr));
}));

test('told to drop, a spool at its cap serves without a record and counts', async () => withGateway({ when_full: 'drop' }, async (gateway) => {
  const unlock = await lock(gateway.storeFile);
  const ids = [];
  for (let i = 0; i < 5000 && await dropped(gateway, 'spool') < 5; i += 5) ids.push(...await ask(gateway, 5));
  const lost = await dropped(gateway, 'spool');
  assert.ok(lost >= 5);
  await unlock();
  await eventually('the backlog to be stored', async () => (await gateway.metrics()).sum('weir_ledger_lag_seconds') === 0, { timeout: 10000 });
  await sleep(300);
  const stored = await storedIds(gateway.storeFile);
  assert.equal(stored.length + await dropped(gateway, 'spool'), ids.length, 'each is a row or counted');
  assert.equal(new Set(stored).size, stored.length);
  assert.ok(stored.every((id) => ids.includes(id)));
}));

// A limit on the size of files is what a full disk is to everything that the gateway writes: segments cannot be
// allocated, the database and the log cannot grow.
test('a full disk is no crash: what was let in is stored when there is room', async () => withGateway({ cap: '8MiB' }, async (gateway) => {
  const limit = async (size) => {
    const { code, stderr } = await run('prlimit', ['--pid', String(gateway.pid), `--fsize=${size}:unlimited`]);
    assert.equal(code, 0, stderr);
  };
  const before_ = await ask(gateway, 3);
  await checkStored(gateway, before_);
  await limit(1);
  const { ids, refusal } = await askUntilRefused(gateway, () => /no further spool segment/.test(gateway.stderr));
  checkRefusal(refusal, { status: 503, reason: 'overloaded' });
  assert.ok(ids.length > 20, `${ids.length} fit into the segments that were there`);
  assert.equal(gateway.exit, undefined, 'it lives');
  assert.match(gateway.stderr, /no further spool segment: .*File too large; when the present ones are full, requests are refused/);
  await eventually('lines that could not be written to be counted', async () => await dropped(gateway, 'access_log') > 0);
  await limit('unlimited');
  const later = await eventually('a request to be let in', async () => {
    const response = await gateway.send(chat());
    return response.status === 200 ? response.header('x-request-id') : undefined;
  }, { timeout: 10000 });
  await checkStored(gateway, [...before_, ...ids, later]);
}));

test('a second process on the same spool is refused and says why', async () => {
  const first = await start();
  const second = new Gateway(oneAlias(upstream.url, { more: { store: { url: `sqlite:${first.storeFile}` } } }));
  try {
    second.launch({});
    const { code } = await within(8000, 'the second to end', second.exited);
    assert.equal(code, 3, 'the environment refuses');
    assert.match(second.stderr, /cannot start: spool \S+weir\.db\.spool: another weir uses it; .*store\.spool\.path/);
    assert.equal((await first.send(chat())).status, 200, 'the first goes on');
  } finally {
    await second.kill();
    await first.stop();
  }
});

test('a cap that is too small for the workers is told at the start', async () => {
  const gateway = new Gateway(oneAlias(upstream.url, { server: { workers: 16 }, more: { store: { spool: { cap: '1MiB' } } } }));
  try {
    gateway.launch({});
    assert.equal((await within(8000, 'it to end', gateway.exited)).code, 3);
    assert.match(gateway.stderr, /store\.spool\.cap: 1MiB is too little for 16 workers, which need 8MiB/);
  } finally {
    await gateway.kill();
  }
});
