// The command line: check, version, help, and a second process on the same port.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { oneAlias } from './harness/config.mjs';
import { Gateway, run } from './harness/gateway.mjs';
import { findProgram } from './harness/paths.mjs';

let directory;
before(() => { directory = mkdtempSync(path.join(tmpdir(), 'weir-cli-')); });
after(() => { rmSync(directory, { recursive: true, force: true }); });

const weir = (...args) => run(findProgram('weir'), args, { cwd: directory });
function file(name, text) {
  writeFileSync(path.join(directory, name), text);
  return name;
}

const valid = `version: 1
server:
  listen: 127.0.0.1:0
pools:
  main:
    engine: llamacpp
    replicas: ["http://127.0.0.1:9"]
    family: harbor
    target: {model: harbor-mid}
aliases:
  chat-test:
    family: harbor
    endpoints: [chat.completions]
    pools: [main]
tenants:
  acme:
    keys:
      - {name: one, sha256: "${'ab'.repeat(32)}"}
`;

test('check: a valid file, exit 0', async () => {
  const { code, stdout, stderr } = await weir('check', '--config', file('valid.yaml', valid));
  assert.equal(code, 0, stdout + stderr);
});

test('check: five mistakes, all of them with their places, exit 1', async () => {
  const broken = valid.replace('engine: llamacpp', 'engine: steam')
    .replace('  listen: 127.0.0.1:0', '  listen: 127.0.0.1:0\n  limits: {boby: 1MiB}')
    .replace('pools: [main]', 'pools: [mian]')
    .replace('ab'.repeat(32), 'not hexadecimal')
    .replace('    target: {model: harbor-mid}', '    target: {model: harbor-mid}\n    timeouts: {connect: 12}');
  const { code, stdout, stderr } = await weir('check', '--config', file('broken.yaml', broken));
  assert.equal(code, 1, stdout + stderr);
  const place = (text) => {
    const lines = broken.split('\n');
    const line = lines.findIndex((candidate) => candidate.includes(text));
    return { line: line + 1, column: lines[line].indexOf(text) + 1 };
  };
  const mistakes = [['steam', 'pools.main.engine'], ['boby', 'server.limits.boby'], ['mian', 'aliases.chat-test.pools'], ['"not hexadecimal', 'tenants.acme.keys'], ['12}', 'pools.main.timeouts.connect']];
  for (const [text, key] of mistakes) {
    const { line, column } = place(text);
    const found = stdout.split('\n').find((candidate) => candidate.startsWith(`broken.yaml:${line}:${column}: `) && candidate.includes(key));
    assert.ok(found !== undefined, `no broken.yaml:${line}:${column}: ${key} in\n${stdout}`);
  }
  assert.match(stdout, /did you mean "?'?`?body/);
  assert.match(stdout, /main/);
});

test('check: no YAML at all is told with its place', async () => {
  const { code, stdout } = await weir('check', '--config', file('odd.yaml', 'version: 1\nserver: {listen: [\n'));
  assert.equal(code, 1);
  assert.match(stdout, /odd\.yaml:\d+:\d+: /);
});

test('check: a file that is not there, exit 3', async () => {
  const { code, stderr } = await weir('check', '--config', 'nowhere.yaml');
  assert.equal(code, 3);
  assert.match(stderr, /nowhere\.yaml/);
});

test('check --schema prints a JSON Schema', async () => {
  const { code, stdout } = await weir('check', '--schema');
  assert.equal(code, 0);
  assert.match(JSON.parse(stdout).$schema, /json-schema\.org/);
});

test('version tells version, compiler and libraries', async () => {
  const { code, stdout } = await weir('version');
  assert.equal(code, 0);
  assert.match(stdout, /\d+\.\d+\.\d+/);
  assert.match(stdout, /clang/i);
  assert.match(stdout, /simdjson/i);
});

for (const args of [['--help'], ['serve', '--help'], ['check', '--help'], ['version', '--help']]) {
  test(`weir ${args.join(' ')}`, async () => {
    const { code, stdout } = await weir(...args);
    assert.equal(code, 0);
    assert.ok(stdout.length > 40, stdout);
    assert.ok(!stdout.includes('\u001b['), 'no colour into a pipe');
  });
}

for (const args of [[], ['frobnicate'], ['serve'], ['check'], ['serve', '--nonsense']]) {
  test(`usage: weir ${args.join(' ') || '(nothing)'} is exit 2`, async () => {
    const { code, stdout, stderr } = await weir(...args);
    assert.equal(code, 2, stdout + stderr);
    assert.ok(stderr.length > 0, 'it says why');
  });
}

test('serve with a broken file: every problem, exit 1, nothing is listened on', async () => {
  const { code, stdout, stderr } = await weir('serve', '--config', file('serve-broken.yaml', valid.replace('engine: llamacpp', 'engine: steam')));
  assert.equal(code, 1, stdout + stderr);
  assert.match(stdout + stderr, /serve-broken\.yaml:\d+:\d+: pools\.main\.engine/);
});

test('a second process on the same port is refused with a clear message, exit 3', async () => {
  const first = await Gateway.start(oneAlias('http://127.0.0.1:9'));
  try {
    const text = valid.replace('listen: 127.0.0.1:0', `listen: 127.0.0.1:${first.port}\n  admin_listen: 127.0.0.1:0\n  metrics_listen: 127.0.0.1:0`);
    const { code, stderr } = await weir('serve', '--config', file('second.yaml', text));
    assert.equal(code, 3, stderr);
    assert.match(stderr, new RegExp(`${first.port}`), 'names the address');
    assert.equal((await first.send({ method: 'GET', target: '/v1/models', key: 'x' })).status, 401, 'the first one goes on');
  } finally {
    await first.stop();
  }
});

test('secrets never reach the log', async () => {
  const gateway = await Gateway.start(oneAlias('http://127.0.0.1:9'));
  await gateway.send({ method: 'GET', target: '/v1/models', key: 'sk-very-secret-unknown' });
  const { stdout, stderr } = gateway.output.text();
  await gateway.stop();
  for (const secret of ['sk-very-secret-unknown', 'sk-upstream-own-credential']) assert.ok(!(stdout + stderr).includes(secret));
});
