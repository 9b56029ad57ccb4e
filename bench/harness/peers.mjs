// The proxies that are compared: how each is started, which of its processes count, and when its work is done.
// Each start is a fresh process in a fresh directory.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { CannotMeasure, filledIn } from './processes.mjs';

export const peerNames = ['direct', 'weir', 'nginx', 'haproxy'];
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// {name, address, pids, settle(): waits for its work to be done, tells how many records it lost since the last, stop()}
export async function startPeer(programs, name, { upstream, core, round }) {
  const directory = join(programs.directory, `${name}-${round}`);
  if (name === 'direct') return { name, address: upstream.address, pids: [], settle: async () => 0, stop: async () => {} };
  if (name === 'weir') return startWeir(programs, { upstream, core, name: `${name}-${round}`, directory });
  mkdirSync(directory, { recursive: true });
  chmodSync(programs.directory, 0o755);  // nginx's worker is another user
  const address = `127.0.0.1:${await freePort()}`;
  const values = { LISTEN: address, UPSTREAM: upstream.address, DIRECTORY: directory, DESCRIPTORS: '19000' };
  const [file, command] = name === 'nginx'
    ? ['nginx.conf', ['nginx', '-e', join(directory, 'error.log'), '-c', join(directory, 'nginx.conf')]]
    : ['haproxy.cfg', ['haproxy', '-db', '-f', join(directory, 'haproxy.cfg')]];
  writeFileSync(join(directory, file), filledIn(file, values));
  const child = programs.start(name, command, { core, cwd: directory });
  await untilListening(child, address);
  const stop = async () => {
    await programs.stop(child);
    rmSync(directory, { recursive: true, force: true });
  };
  return { name, address, pids: withChildren(child.process.pid), settle: async () => 0, stop };
}

async function startWeir(programs, { upstream, core, name, directory }) {
  const gateway = await programs.startWeir({ upstream: upstream.address, core, name });
  const stop = async () => {
    await programs.stop(gateway.child);
    rmSync(directory, { recursive: true, force: true });
  };
  let known = 0;
  const settle = async () => {
    const dropped = await untilWritten(gateway.metrics);
    const since = dropped - known;
    known = dropped;
    return since;
  };
  return { name: 'weir', address: gateway.address, pids: [gateway.pid], settle, stop };
}

// Waits until every record is in the log and the store, whose cost must be counted with the requests. Returns how many
// were dropped instead.
async function untilWritten(metricsAddress) {
  for (let tries = 0; tries < 300; ++tries) {
    const text = await (await fetch(`http://${metricsAddress}/metrics`)).text();
    if (sumOf(text, 'weir_ledger_lag_seconds') === 0) return sumOf(text, 'weir_events_dropped_total');
    await sleep(100);
  }
  throw new CannotMeasure('weir did not write its records within 30 s');
}

export function sumOf(text, family) {
  let sum = 0;
  for (const line of text.split('\n')) {
    const match = line.match(/^(\w+)(?:\{.*\})? (\S+)$/);
    if (match?.[1] === family) sum += Number(match[2]);
  }
  return sum;
}

async function untilListening(child, address) {
  const [host, port] = address.split(':');
  for (let tries = 0; tries < 100; ++tries) {
    if (child.how !== undefined) break;
    const open = await new Promise((resolve) => {
      const socket = connect({ host, port: Number(port) }, () => resolve(true));
      socket.on('error', () => resolve(false));
      socket.on('close', () => resolve(false));
      setTimeout(() => socket.destroy(), 200).unref();
    });
    if (open) return;
    await sleep(50);
  }
  throw new CannotMeasure(`${child.name} does not listen on ${address}${child.tail()}`);
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on('error', reject);
    probe.listen({ host: '127.0.0.1', port: 0 }, () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

function withChildren(pid) {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return [pid, ...text.split(' ').filter(Boolean).map(Number)];
}

// "nginx/1.22.1", "2.6.12-1+deb12u4": what was measured, for the report.
export function versions(binDir) {
  const first = (command, args, pattern) => {
    try {
      const text = execFileSync('/bin/sh', ['-c', '"$0" "$@" 2>&1', command, ...args], { encoding: 'utf8' });
      return text.match(pattern)?.[1] ?? text.split('\n')[0];
    } catch {
      throw new CannotMeasure(`${command} is not installed; run tools/install-deps bench`);
    }
  };
  return {
    weir: first(join(binDir, 'weir'), ['version'], /^weir (\S+)/),
    nginx: first('nginx', ['-v'], /nginx\/(\S+)/),
    haproxy: first('haproxy', ['-v'], /version (\S+)/),
  };
}
