// Keys in the store over the life of a gateway: restart, reload, many keys, a store that is replaced or gone.
import assert from 'node:assert/strict';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { oneAlias, secrets } from './harness/config.mjs';
import { Gateway, run, sha256 } from './harness/gateway.mjs';
import { findProgram } from './harness/paths.mjs';
import { insertKeys, sql } from './harness/store.mjs';
import { eventually, sleep } from './harness/wait.mjs';

const promised = 2000;
const nobody = 'http://127.0.0.1:9';

async function withGateway(config, scenario, options) {
  const gateway = await Gateway.start(config, options);
  try {
    await scenario(gateway);
  } finally {
    await gateway.stop();
  }
}

const statusOf = async (gateway, secret) => (await gateway.send({ method: 'GET', target: '/v1/models', key: secret })).status;
const turns = (gateway, secret, status, timeout = promised) => eventually(`status ${status}`,
  async () => await statusOf(gateway, secret) === status, { timeout });

async function weirKey(gateway, action, ...args) {
  const { code, stdout, stderr } = await run(findProgram('weir'), ['key', action, '--store', `sqlite:${gateway.storeFile}`, ...args]);
  assert.equal(code, 0, stderr);
  return stdout.trim();
}
const create = (gateway, name, ...args) => weirKey(gateway, 'create', '--name', name, '--tenant', 'acme', ...args);

test('keys survive a restart, and so does their end', () => withGateway(oneAlias(nobody), async (gateway) => {
  const [kept, revoked] = [await create(gateway, 'kept'), await create(gateway, 'revoked')];
  await turns(gateway, kept, 200);
  await weirKey(gateway, 'revoke', 'revoked');
  gateway.signal('SIGTERM');
  await gateway.exited;
  const whileDown = await create(gateway, 'made-while-down');
  gateway.exit = undefined;
  gateway.launch({});
  await gateway.untilReady(15000);
  assert.equal(await statusOf(gateway, kept), 200, 'from the first request on');
  assert.equal(await statusOf(gateway, whileDown), 200);
  assert.equal(await statusOf(gateway, revoked), 401);
}));

test('a reload keeps the store\'s keys and judges them by the new configuration', () => withGateway(oneAlias(nobody), async (gateway) => {
  const secret = await create(gateway, 'reloaded');
  const other = await weirKey(gateway, 'create', '--name', 'other', '--tenant', 'globex');
  await turns(gateway, secret, 200);
  await eventually('the warning', () => gateway.stderr.includes('keys of tenant globex'));
  assert.equal(await statusOf(gateway, other), 401);

  const reload = async (config, done) => {
    const seen = gateway.stderr.length;
    gateway.write(config);
    gateway.signal('SIGHUP');
    await eventually('the reload', () => done.test(gateway.stderr.slice(seen)));
  };
  const both = oneAlias(nobody);
  both.tenants.globex = { aliases: [] };
  await reload(both, /is in force/);
  assert.equal(await statusOf(gateway, secret), 200);
  assert.equal(await statusOf(gateway, other), 200, 'its tenant has come');

  const without = oneAlias(nobody);
  without.tenants = { globex: { aliases: [], keys: [{ name: 'file', sha256: sha256('sk-file') }] } };
  await reload(without, /keys of tenant acme[^]*is in force/);
  assert.equal(await statusOf(gateway, secret), 401, 'its tenant has gone');
  assert.equal(await statusOf(gateway, secrets.plain), 401);
  assert.equal(await statusOf(gateway, 'sk-file'), 200);
  assert.equal(await statusOf(gateway, other), 200);

  await reload({ ...without, nonsense: 1 }, /reload refused/);
  assert.equal(await statusOf(gateway, other), 200);
  await turns(gateway, await weirKey(gateway, 'create', '--name', 'later', '--tenant', 'globex'), 200);
}));

test('a team or application that has gone takes its keys along', () => withGateway(
  oneAlias(nobody, { tenant: { teams: { search: { applications: { box: {} } } } } }), async (gateway) => {
    const secret = await create(gateway, 'boxed', '--team', 'search', '--application', 'box');
    const team = await create(gateway, 'teamed', '--team', 'search');
    await turns(gateway, team, 200);
    assert.equal(await statusOf(gateway, secret), 200);
    gateway.write(oneAlias(nobody, { tenant: { teams: { search: {} } } }));
    gateway.signal('SIGHUP');
    await turns(gateway, secret, 401);
    assert.match(gateway.stderr, /tenant acme, team search, application box/);
    assert.equal(await statusOf(gateway, team), 200);
  },
));

test('150,000 keys: changes are in force within 2 s, and nobody waits for them', () => withGateway(oneAlias(nobody), async (gateway) => {
  const early = await create(gateway, 'early');
  await turns(gateway, early, 200);
  await insertKeys(gateway.storeFile, 'acme', 150000);
  const late = await create(gateway, 'late');
  await turns(gateway, late, 200, promised + 3000);   // the bulk came an instant before
  for (let round = 0; round < 3; ++round) {
    const secret = await create(gateway, `round-${round}`);
    await turns(gateway, secret, 200);
    await weirKey(gateway, 'revoke', `round-${round}`);
    await turns(gateway, secret, 401);
  }
  assert.equal(await statusOf(gateway, early), 200);

  gateway.signal('SIGTERM');
  await gateway.exited;
  gateway.exit = undefined;
  gateway.launch({});
  await gateway.untilReady(15000);
  assert.equal(await statusOf(gateway, early), 200);
  assert.equal(await statusOf(gateway, late), 200);
  assert.equal(await statusOf(gateway, 'weir_unknown'), 401);
  const rotated = await weirKey(gateway, 'rotate', 'early', '--grace', '0s');
  await turns(gateway, rotated, 200);
  assert.equal(await statusOf(gateway, early), 401);
}));

test('a store that is restored in place: what was made since the copy is gone, within 2 s', () => withGateway(oneAlias(nobody), async (gateway) => {
  const kept = await create(gateway, 'kept');
  await turns(gateway, kept, 200);
  const copy = `${gateway.storeFile}.copy`;
  await sql(gateway.storeFile, `VACUUM INTO '${copy}'`);
  const lost = await create(gateway, 'lost');
  await turns(gateway, lost, 200);
  await sql(gateway.storeFile, `.restore ${copy}`);
  await turns(gateway, lost, 401);
  assert.equal(await statusOf(gateway, kept), 200);
}));

test('a file put in the store\'s place counts, once the old one\'s log is not beside it', () => withGateway(oneAlias(nobody), async (gateway) => {
  const kept = await create(gateway, 'kept');
  await turns(gateway, kept, 200);
  await sql(gateway.storeFile, `VACUUM INTO '${gateway.storeFile}.copy'`);
  const lost = await create(gateway, 'lost');
  await turns(gateway, lost, 200);
  renameSync(`${gateway.storeFile}.copy`, gateway.storeFile);
  await eventually('the report', () => gateway.stderr.includes(`remove ${gateway.storeFile}-wal`));
  assert.deepEqual([await statusOf(gateway, kept), await statusOf(gateway, lost)], [200, 200], 'last known good');
  for (const suffix of ['-wal', '-shm']) rmSync(gateway.storeFile + suffix);
  await turns(gateway, lost, 401);
  assert.equal(await statusOf(gateway, kept), 200);
  await weirKey(gateway, 'revoke', 'kept');
  await turns(gateway, kept, 401);
}));

test('an empty file in the store\'s place ends no key, and a copy into it is not disturbed', () => withGateway(oneAlias(nobody), async (gateway) => {
  const kept = await create(gateway, 'kept');
  await turns(gateway, kept, 200);
  const copy = `${gateway.storeFile}.copy`;
  await sql(gateway.storeFile, `VACUUM INTO '${copy}'`);
  for (const suffix of ['', '-wal', '-shm']) rmSync(gateway.storeFile + suffix, { force: true });
  writeFileSync(gateway.storeFile, '');
  await sleep(1000);
  assert.equal(await statusOf(gateway, kept), 200);
  writeFileSync(gateway.storeFile, readFileSync(copy));
  await eventually('the recovery', () => gateway.stderr.includes('the store can be read again; 1 stored keys'));
  assert.equal(await statusOf(gateway, kept), 200);
  await weirKey(gateway, 'revoke', 'kept');
  await turns(gateway, kept, 401);
}));

test('a store that is gone: said once, the keys stay; when it is back, said too, and changes count', () => withGateway(oneAlias(nobody), async (gateway) => {
  const secret = await create(gateway, 'stays');
  await turns(gateway, secret, 200);
  const away = `${gateway.storeFile}.away`;
  renameSync(gateway.storeFile, away);
  await eventually('the report', () => gateway.stderr.includes('keys: store'));
  await sleep(1000);
  assert.equal(await statusOf(gateway, secret), 200);
  assert.equal(gateway.stderr.split('known so far stay in force').length - 1, 1, gateway.stderr);
  renameSync(away, gateway.storeFile);
  await eventually('the recovery', () => gateway.stderr.includes('the store can be read again'));
  await weirKey(gateway, 'revoke', 'stays');
  await turns(gateway, secret, 401);
}));
