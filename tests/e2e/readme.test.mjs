// What README.md prints works as printed: the simulated engine, the gateway, the curl; and the demo ends by itself.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findProgram } from './harness/paths.mjs';
import { eventually, within } from './harness/wait.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const readme = readFileSync(path.join(root, 'README.md'), 'utf8');
const blocks = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1]);

// A shell command of the README, with the programs of this build and from a directory of its own.
function start(command, cwd) {
  const text = command
    .replaceAll('build/release/bin/weir-sim', findProgram('weir-sim'))
    .replaceAll('build/release/bin/weir ', `${findProgram('weir')} `)
    .replaceAll('examples/', `${root}/examples/`);
  const child = spawn('bash', ['-c', `exec ${text}`], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { text: '' };
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => { output.text += bytes; });
  return { child, output, exited: new Promise((resolve) => { child.on('close', resolve); }) };
}

test('the first request of the README works as printed', async () => {
  const servers = blocks.find((block) => block.includes('weir-sim --listen')).trim().split('\n');
  const curl = blocks.find((block) => block.includes('curl')).trim();
  const directory = mkdtempSync(path.join(tmpdir(), 'weir-readme-'));
  const running = [];
  try {
    assert.equal(servers.length, 2);
    for (const command of servers) {
      const one = start(command, directory);
      running.push(one);
      await eventually(`${command} to listen`, () => {
        assert.equal(one.child.exitCode, null, one.output.text);
        return one.output.text.includes('listening') || undefined;
      });
    }
    const asked = start(curl, directory);
    assert.equal(await within(20_000, 'curl', asked.exited), 0, asked.output.text);
    assert.match(asked.output.text, /"model":"chat"/);
    assert.match(asked.output.text, /data: \[DONE\]/);
    assert.doesNotMatch(asked.output.text, /meta-llama/);
  } finally {
    for (const one of running.reverse()) {
      one.child.kill('SIGTERM');
      await within(10_000, 'a server to end', one.exited);
    }
    rmSync(directory, { recursive: true, force: true });
  }
});

test('weir explain answers as printed', async () => {
  const command = blocks.find((block) => block.includes('weir explain')).trim();
  const printed = /```text\n(Would be[\s\S]*?)```/.exec(readme)[1];
  const child = spawn('bash', ['-c', command.replaceAll('build/release/bin/weir ', `${findProgram('weir')} `)], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (bytes) => { text += bytes; });
  assert.equal(await within(10_000, 'weir explain', new Promise((resolve) => { child.on('close', resolve); })), 0);
  assert.equal(text, printed);
});

test('the demo ends by itself with a summary that says that its engines are simulated', async () => {
  const demo = spawn(path.join(root, 'tools/demo'), [], {
    env: { ...process.env, DEMO_SECONDS: '6', NO_COLOR: '1', WEIR_BIN_DIR: path.dirname(findProgram('weir')) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [demo.stdout, demo.stderr]) stream.on('data', (bytes) => { text += bytes; });
  const code = await within(90_000, 'the demo to end', new Promise((resolve) => { demo.on('close', resolve); }));
  assert.equal(code, 0, text);
  assert.match(text, /summary \(simulated engines/);
  assert.match(text, /large-baseline: [1-9]\d* answers/);
  assert.match(text, /large-eagle3: [1-9]\d* answers/);
});
