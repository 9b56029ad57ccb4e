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

// The contract against every pool: what nobody keeps is an error where it is promised, what only one pool does not keep
// a warning at that pool.
const second = `  quick:
    engine: llamacpp
    replicas: ["http://127.0.0.1:10"]
    family: harbor
    target: {model: harbor-mid}
    speculation: {method: draft_model, draft: tiny, lossless: verified}
aliases:`;
const contracts = [
  { name: 'an endpoint that no pool serves', change: (text) => text.replace('[chat.completions]', '[chat.completions, embeddings]'),
    code: 1, said: /^contract\.yaml:13:35: aliases\.chat-test\.endpoints\[1\]: no pool of the alias can keep this promise: main: it does not serve embeddings/m },
  { name: 'a feature that the engine ignores', change: (text) => text.replace('    pools: [main]', '    features: [min_tokens]\n    pools: [main]'),
    code: 1, said: /^contract\.yaml:14:16: aliases\.chat-test\.features\[0\]: .*llamacpp ignores min_tokens/m },
  { name: 'a feature that speculation spoils in one of two pools',
    change: (text) => text.replace('aliases:', second).replace('    pools: [main]', '    features: [logprobs]\n    baseline: main\n    pools: [main, quick]'),
    code: 0, said: /^contract\.yaml:22:19: aliases\.chat-test\.pools\[1\]: warning: quick cannot keep all of the alias's promises: llamacpp answers wrongly to logprobs with draft_model/m },
  { name: 'a context that the baseline has not',
    change: (text) => text.replace('aliases:', second).replace('    target: {model: harbor-mid}', '    target: {model: harbor-mid}\n    capabilities: {context: 1000}')
      .replace('    pools: [main]', '    context: 2000\n    baseline: main\n    pools: [main, quick]'),
    code: 1, said: /^contract\.yaml:23:13: aliases\.chat-test\.pools\[0\]: main cannot stand behind this alias: its context is 1000 tokens, the alias promises 2000/m },
  { name: 'a credential with a blank', change: (text) => text.replace('    family: harbor\n    target', '    family: harbor\n    credential: "two words"\n    target'),
    code: 1, said: /^contract\.yaml:9:17: pools\.main\.credential: a bearer token has no blanks/m },
];
for (const { name, change, code: expected, said } of contracts) {
  test(`check: ${name}, exit ${expected}`, async () => {
    const { code, stdout } = await weir('check', '--config', file('contract.yaml', change(valid)));
    assert.equal(code, expected, stdout);
    assert.match(stdout, said);
    assert.ok(!stdout.includes('two words'), 'a secret is not shown');
  });
}

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
