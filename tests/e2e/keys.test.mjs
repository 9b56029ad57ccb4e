// weir key: keys in the store, made and changed by the command line while a gateway runs, which follows within 2 s.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { chat, oneAlias, secrets } from './harness/config.mjs';
import { checkRefusal } from './harness/contract.mjs';
import { Gateway, run, sha256 } from './harness/gateway.mjs';
import { findProgram } from './harness/paths.mjs';
import { loadRecording } from './harness/recordings.mjs';
import { sql, StoreLock } from './harness/store.mjs';
import { Upstream } from './harness/upstream.mjs';
import { eventually, stopAll } from './harness/wait.mjs';

const promised = 2000;   // ms until a change is in force
const secretPattern = /^weir_[0-9A-Za-z]{49}$/;
const answer = loadRecording('70-keepalive-pipelined-two').response;

const teams = { search: { applications: { box: { workload: 'code' }, bot: {} } } };
const configuration = (url, changes = {}) => oneAlias(url, { tenant: { teams, ...changes.tenant }, ...changes });

let upstream;
let gateway;
before(async () => {
  upstream = await Upstream.start();
  upstream.answerWith(answer);
  gateway = await Gateway.start(configuration(upstream.url));
});
after(() => stopAll(gateway, upstream));

const weir = (...args) => run(findProgram('weir'), args, { cwd: gateway.directory, timeout: 20000 });
const key = (action, ...args) => weir('key', action, '--config', gateway.configFile, ...args);

// The secret of a new key of acme.
async function create(name, ...args) {
  const { code, stdout, stderr } = await key('create', '--name', name, '--tenant', 'acme', ...args);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^\S+\n$/, 'the secret is alone on standard output');
  assert.match(stdout.trim(), secretPattern);
  assert.ok(!stderr.includes(stdout.trim()), 'and nowhere else');
  return stdout.trim();
}

const statusOf = async (secret, to = gateway) => (await to.send({ method: 'GET', target: '/v1/models', key: secret })).status;
const turns = (secret, status, { timeout = promised, to = gateway } = {}) => eventually(`status ${status}`,
  async () => await statusOf(secret, to) === status, { timeout });
const items = async (...args) => {
  const { code, stdout, stderr } = await key('list', '--format', 'json', ...args);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout).items;
};

test('a new key works within 2 s, and its record names it', async () => {
  const secret = await create('first', '--team', 'search', '--application', 'box');
  await turns(secret, 200);
  const response = await gateway.send(chat({}, { key: secret }));
  assert.equal(response.status, 200, response.body.toString());
  const record = await gateway.recordOf(response.header('x-request-id'));
  assert.equal(record.key, 'first');
  assert.equal(record.tenant, 'acme');
  assert.equal(record.team, 'search');
  assert.equal(record.application, 'box');
  assert.equal(record.workload, 'code', 'the application\'s');
});

test('a key\'s own workload goes before its application\'s', async () => {
  const secret = await create('own-workload', '--team', 'search', '--application', 'box', '--workload', 'chat');
  await turns(secret, 200);
  const response = await gateway.send(chat({}, { key: secret }));
  assert.equal((await gateway.recordOf(response.header('x-request-id'))).workload, 'chat');
});

test('permissions take effect', async () => {
  const [plain, debug] = [await create('may-not'), await create('may-debug', '--permission', 'debug', '--permission', 'priority')];
  await turns(debug, 200);
  for (const [secret, shown] of [[plain, false], [debug, true]]) {
    const response = await gateway.send(chat({}, { key: secret }));
    assert.equal(response.header('x-weir-pool') !== undefined, shown);
  }
  const [item] = await items('--name', 'may-debug');
  assert.deepEqual(item.permissions, ['debug', 'priority']);
});

test('a revoked key is refused within 2 s; revoking again says so and is no error', async () => {
  const secret = await create('short-lived');
  await turns(secret, 200);
  const first = await key('revoke', 'short-lived');
  assert.equal(first.code, 0, first.stderr);
  await turns(secret, 401);
  const again = await key('revoke', 'short-lived');
  assert.equal(again.code, 0, again.stderr);
  assert.match(again.stderr, /already/);
  assert.equal((await items('--name', 'short-lived'))[0].state, 'revoked');
});

test('a revoked key\'s name is free; an id tells the two apart', async () => {
  await create('again');
  const [old] = await items('--name', 'again');
  assert.equal((await key('revoke', old.id)).code, 0);
  const secret = await create('again');
  await turns(secret, 200);
  assert.match((await key('revoke', old.id)).stderr, /already/);
  assert.equal(await statusOf(secret), 200);
  assert.deepEqual((await items('--name', 'again')).map((item) => item.state), ['revoked', 'active']);
});

test('rotate: the new secret works within 2 s, the old one until the grace ends', async () => {
  const old = await create('rotated');
  const { code, stdout, stderr } = await key('rotate', 'rotated', '--grace', '3s');
  const rotatedAt = performance.now();
  assert.equal(code, 0, stderr);
  assert.match(stdout.trim(), secretPattern);
  await turns(stdout.trim(), 200);
  assert.equal(await statusOf(old), 200);
  await turns(old, 401, { timeout: 6000 });
  assert.ok(performance.now() - rotatedAt > 2900, 'not before its time');
  assert.equal(await statusOf(stdout.trim()), 200);
});

test('rotate without grace ends the old secret at once; the default is a day', async () => {
  const secret = [await create('twice')];
  for (const args of [[], ['--grace', '0s']]) {
    const { code, stdout, stderr } = await key('rotate', 'twice', ...args);
    assert.equal(code, 0, stderr);
    secret.push(stdout.trim());
    if (args.length > 0) continue;
    const [item] = await items('--name', 'twice');
    const hours = (Date.parse(item.previous_until) - Date.now()) / 3600e3;
    assert.ok(hours > 23.9 && hours < 24.1, `${hours} h`);
  }
  await turns(secret[2], 200);
  assert.deepEqual([await statusOf(secret[0]), await statusOf(secret[1])], [401, 401]);
});

test('a key expires by time itself; then it cannot be rotated, and its name is free', async () => {
  const secret = await create('dated', '--expires', '3s');
  await turns(secret, 200);
  await turns(secret, 401, { timeout: 6000 });
  assert.equal((await items('--name', 'dated'))[0].state, 'expired');
  const rotate = await key('rotate', 'dated');
  assert.equal(rotate.code, 1, rotate.stderr);
  assert.match(rotate.stderr, /expired/);
  await create('dated');
});

// --- the answer to a wrong key ----------------------------------------------------------------------------------

test('every failure of authentication is the same answer', async () => {
  const gone = await create('uniform-gone');
  const over = await create('uniform-over', '--expires', '1s');
  await turns(gone, 200);
  await key('revoke', 'uniform-gone');
  await turns(gone, 401);
  await turns(over, 401, { timeout: 4000 });
  const credentials = [
    ['unknown', { Authorization: 'Bearer weir_unknown' }],
    ['revoked', { Authorization: `Bearer ${gone}` }],
    ['expired', { Authorization: `Bearer ${over}` }],
    ['absent', {}],
    ['another scheme', { Authorization: 'Basic c2s6' }],
    ['empty', { Authorization: 'Bearer ' }],
    ['two that differ', { Authorization: `Bearer ${secrets.plain}`, 'x-api-key': 'other' }],
    ['very long', { 'x-api-key': 'k'.repeat(5000) }],
    ['a digest', { Authorization: `Bearer ${sha256(secrets.plain)}` }],
  ];
  const answers = [];
  for (const [name, headers] of credentials) {
    const response = await gateway.send({ method: 'GET', target: '/v1/models', headers: { ...headers } });
    checkRefusal(response, { status: 401, reason: 'invalid_api_key' });
    const fields = response.headers.map(([field, value]) => [field.toLowerCase(), field.toLowerCase() === 'x-request-id' ? 'ID' : value])
      .filter(([field]) => field !== 'date');
    answers.push([name, JSON.stringify(fields) + response.body]);
  }
  for (const [name, text] of answers) assert.equal(text, answers[0][1], name);
});

// --- what create refuses ----------------------------------------------------------------------------------------

const refusals = [
  ['an unknown tenant', ['--name', 'x', '--tenant', 'acne'], 1, /acne.*did you mean acme/],
  ['an unknown team', ['--name', 'x', '--tenant', 'acme', '--team', 'serach'], 1, /serach.*did you mean search/],
  ['an unknown application', ['--name', 'x', '--tenant', 'acme', '--team', 'search', '--application', 'bx'], 1, /bx.*did you mean box/],
  ['an application without its team', ['--name', 'x', '--tenant', 'acme', '--application', 'box'], 2, /team/],
  ['a name of the configuration', ['--name', 'plain', '--tenant', 'acme'], 1, /plain.*configuration/],
  ['an unknown permission', ['--name', 'x', '--tenant', 'acme', '--permission', 'root'], 2, /debug, priority, workload or cohort/],
  ['a day that is over', ['--name', 'x', '--tenant', 'acme', '--expires', '2020-01-01'], 2, /over/],
  ['a day that does not exist', ['--name', 'x', '--tenant', 'acme', '--expires', '2027-02-30'], 2, /expected a date/],
  ['a day too far', ['--name', 'x', '--tenant', 'acme', '--expires', '2100-01-01'], 2, /2100/],
  ['a duration too long', ['--name', 'x', '--tenant', 'acme', '--expires', '30000d'], 2, /2100/],
  ['an empty name', ['--name', '', '--tenant', 'acme'], 2, /1 to 128/],
  ['a name like an id', ['--name', 'k_0123456789abcdef', '--tenant', 'acme'], 2, /id/],
  ['no name', ['--tenant', 'acme'], 2, /--name/],
  ['no tenant', ['--name', 'x'], 2, /--tenant/],
  ...['a\nb', 'a\tb', '\u001b[31m', 'a b', 'a\u0085', '\u00e4', "x'; DROP TABLE keys; --", 'x'.repeat(129), '-x', '../x']
    .map((name) => [`the name ${JSON.stringify(name).slice(0, 30)}`, [`--name=${name}`, '--tenant', 'acme'], 2, /letters, digits/]),
];
for (const [what, args, code, message] of refusals) {
  test(`create refuses ${what}`, async () => {
    const before_ = await sql(gateway.storeFile, 'SELECT count(*) FROM keys');
    const result = await key('create', ...args);
    assert.equal(result.code, code, result.stderr);
    assert.match(result.stderr, message);
    assert.equal(result.stdout, '');
    assert.doesNotMatch(result.stderr.replace(/\n/g, ''), /[\u0000-\u001f\u007f]/, 'no control character reaches the terminal');
    assert.equal(await sql(gateway.storeFile, 'SELECT count(*) FROM keys'), before_, 'nothing was made');
  });
}

test('a name is one living key\'s only', async () => {
  await create('taken');
  const result = await key('create', '--name', 'taken', '--tenant', 'acme');
  assert.equal(result.code, 1, result.stderr);
  assert.match(result.stderr, /taken/);
});

test('with --store alone it says that it could not check', async () => {
  const result = await weir('key', 'create', '--store', `sqlite:${gateway.storeFile}`, '--name', 'unchecked', '--tenant', 'nobody-knows');
  assert.equal(result.code, 0, result.stderr);
  assert.match(result.stderr, /cannot be checked/);
  assert.match(result.stdout.trim(), secretPattern);
  await eventually('a warning', () => /nobody-knows.*does not know/.test(gateway.stderr));
  assert.equal(await statusOf(result.stdout.trim()), 401);
});

test('a misspelt key is told, with what was meant; no key is changed', async () => {
  await create('spelt-right');
  for (const action of ['revoke', 'rotate']) {
    const result = await key(action, 'spelt-rihgt');
    assert.equal(result.code, 1, result.stderr);
    assert.match(result.stderr, /did you mean spelt-right/);
    assert.equal(result.stdout, '');
  }
});

test('a secret that cannot be written leaves no key behind', async () => {
  const { code, stderr } = await run('bash', ['-c', `"$0" key create --config "$1" --name unwritten --tenant acme > /dev/full`,
    findProgram('weir'), gateway.configFile], { cwd: gateway.directory });
  assert.equal(code, 3, stderr);
  assert.deepEqual((await items('--name', 'unwritten')).map((item) => item.state), ['revoked']);
});

// --- list -------------------------------------------------------------------------------------------------------

test('list: filters, times, a table, never a secret', async () => {
  const secret = await create('listed', '--team', 'search', '--application', 'bot', '--expires', '2099-12-31');
  const [item] = await items('--name', 'listed', '--tenant', 'acme', '--state', 'active');
  assert.equal(item.expires, '2100-01-01T00:00:00Z', 'the day is the last one');
  assert.ok(Math.abs(Date.parse(item.created) - Date.now()) < 60000);
  assert.equal(item.changed, item.created);
  assert.equal(item.application, 'bot');
  assert.ok((await items('--application', 'bot')).some((each) => each.name === 'listed'));
  assert.ok(!(await items('--application', 'box')).some((each) => each.name === 'listed'));
  assert.deepEqual(await items('--tenant', 'other'), []);
  const { stdout } = await key('list');
  assert.match(stdout, /^NAME +TENANT /);
  assert.match(stdout, /^listed +acme +search +bot /m);
  const whole = JSON.stringify(await items()) + stdout;
  assert.ok(!whole.includes('weir_') && !whole.includes(sha256(secret)), 'neither secret nor digest');
});

// --- processes and files ----------------------------------------------------------------------------------------

test('twenty commands at once: twenty keys, all of them work', async () => {
  const made = await Promise.all(Array.from({ length: 20 }, (_, i) => create(`crowd-${i}`)));
  assert.equal(new Set(made).size, 20);
  for (const secret of made) await turns(secret, 200);
});

test('twenty commands for one name at once: one of them gets it', async () => {
  const results = await Promise.all(Array.from({ length: 20 }, () => key('create', '--name', 'wanted', '--tenant', 'acme')));
  assert.deepEqual(results.map((result) => result.code).sort(), [0, ...Array(19).fill(1)]);
  assert.equal((await items('--name', 'wanted')).length, 1);
});

test('listing and changing go on while requests are served', async () => {
  const secret = await create('steady');
  await turns(secret, 200);
  const until = performance.now() + 1500;
  const serve = async () => {
    let served = 0;
    for (; performance.now() < until; ++served) {
      const response = await gateway.send(chat({}, { key: secret }));
      assert.equal(response.status, 200, response.body.toString());
    }
    return served;
  };
  const change = async () => {
    for (let i = 0; performance.now() < until; ++i) {
      await create(`noise-${i}`);
      await items();
    }
  };
  const [served] = await Promise.all([serve(), serve(), change()]);
  assert.ok(served > 10, `${served}`);
});

test('a locked store: the command says so and gives up, the gateway goes on with the keys it has', async () => {
  const secret = await create('before-lock');
  await turns(secret, 200);
  const lock = await StoreLock.take(gateway.storeFile);
  try {
    const began = performance.now();
    const result = await key('create', '--name', 'during-lock', '--tenant', 'acme');
    assert.equal(result.code, 3, result.stderr);
    assert.match(result.stderr, /locked by another process/);
    assert.equal(result.stdout, '');
    assert.ok(performance.now() - began < 10000);
    assert.equal(await statusOf(secret), 200);
    assert.equal((await key('list')).code, 0, 'readers need no lock');
  } finally {
    await lock.release();
  }
  await turns(await create('after-lock'), 200);
});

test('commands on a store that is not there: only create makes one', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'weir-keys-'));
  const at = (action, ...args) => run(findProgram('weir'), ['key', action, '--store', 'sqlite:new.db', ...args], { cwd: directory });
  try {
    for (const [action, ...args] of [['list'], ['revoke', 'x'], ['rotate', 'x']]) {
      const result = await at(action, ...args);
      assert.equal(result.code, 3, result.stderr);
      assert.match(result.stderr, /no store at .*new\.db/);
      assert.ok(!existsSync(path.join(directory, 'new.db')));
    }
    const made = await at('create', '--name', 'x', '--tenant', 'y');
    assert.equal(made.code, 0, made.stderr);
    assert.match(made.stderr, /made a new store at .*new\.db/);
    assert.equal(statSync(path.join(directory, 'new.db')).mode & 0o777, 0o600);
    await sql(path.join(directory, 'new.db'), 'PRAGMA user_version = 999');
    const newer = await at('list');
    assert.equal(newer.code, 3, newer.stderr);
    assert.match(newer.stderr, /999.*newer/);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

for (const [what, args, code, message] of [
  ['PostgreSQL', ['--store', 'postgresql://db/weir'], 3, /not supported yet/],
  ['another scheme', ['--store', 'mysql://db'], 2, /sqlite:PATH/],
  ['neither store nor configuration', [], 2, /--config FILE, or --store/],
  ['a configuration that is not there', ['--config', 'nowhere.yaml'], 1, /nowhere\.yaml/],
]) {
  test(`list with ${what}`, async () => {
    const result = await weir('key', 'list', ...args);
    assert.equal(result.code, code, result.stderr);
    assert.match(result.stderr, message);
  });
}

for (const args of [['--help'], ['create', '--help'], ['list', '--help'], ['revoke', '--help'], ['rotate', '--help']]) {
  test(`weir key ${args.join(' ')}`, async () => {
    const { code, stdout } = await weir('key', ...args);
    assert.equal(code, 0);
    assert.ok(stdout.length > 40);
  });
}

for (const args of [[], ['frobnicate'], ['revoke'], ['rotate'], ['create', '--nonsense'], ['list', '--state', 'odd'], ['list', '--format', 'xml']]) {
  test(`usage: weir key ${args.join(' ') || '(nothing)'} is exit 2`, async () => {
    const { code, stderr } = await weir('key', ...args);
    assert.equal(code, 2, stderr);
    assert.ok(stderr.length > 0);
  });
}

test('weir --help names the command', async () => {
  assert.match((await weir('--help')).stdout, /^ +key /m);
});
