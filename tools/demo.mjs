// The driver of tools/demo: engines, gateway, traffic, table, summary. Node 18 or newer, no packages.
// Exit codes: 0 done, 1 something unexpected happened, 2 usage, 3 a component could not be started.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { call, closeConnections, parseMetrics, sum } from '../demo/http.mjs';
import { portIfFree, startEngine, startGateway } from '../demo/processes.mjs';
import { milliseconds, quantile, renderTable, Screen } from '../demo/table.mjs';
import { Traffic } from '../demo/traffic.mjs';

const repository = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const binDir = path.resolve(process.env.WEIR_BIN_DIR ?? path.join(repository, 'build/release/bin'));
const alias = 'chat-large';
const ports = { LISTEN: 8080, ADMIN: 8081, METRICS: 9464 };
const engines = [
  { name: 'baseline-1', pool: 'large-baseline', preset: 'baseline', seed: 1, variable: 'BASELINE_1' },
  { name: 'baseline-2', pool: 'large-baseline', preset: 'baseline', seed: 2, variable: 'BASELINE_2' },
  { name: 'eagle3-1', pool: 'large-eagle3', preset: 'eagle3-k3', seed: 3, variable: 'EAGLE3_1' },
  { name: 'eagle3-2', pool: 'large-eagle3', preset: 'eagle3-k3', seed: 4, variable: 'EAGLE3_2' },
];
const tenants = [
  { name: 'acme', key: 'weir-demo-acme', loops: 14 },
  { name: 'globex', key: 'weir-demo-globex', loops: 6 },
];

const children = [];
const deaths = [];

// Settled by a signal or by the death of a component; everything that waits, waits for this too.
class Stopped extends Error {}
let stopNow;
const stop = new Promise((resolve) => { stopNow = resolve; });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stopNow);

function onDeath(child) {
  deaths.push(`${child.describeEnd()}${child.tail()}`);
  stopNow();
}

function unlessStopped(promise) {
  return Promise.race([promise, stop.then(() => { throw new Stopped(); })]);
}

function secondsToRun() {
  const text = process.env.DEMO_SECONDS;
  if (text === undefined || text === '') return undefined;
  const seconds = Number(text);
  if (Number.isFinite(seconds) && seconds > 0) return seconds;
  console.error(`demo: DEMO_SECONDS must be a number of seconds, not '${text}'`);
  process.exit(2);
}

async function startEngines() {
  for (const engine of engines) {
    engine.child = startEngine(binDir, engine, onDeath);
    children.push(engine.child);
  }
  for (const engine of engines) engine.address = await unlessStopped(engine.child.address);
}

// The template with its ${WEIR_DEMO_…} filled in, as a file that a reader can look at while the demo runs.
async function writeConfig(directory) {
  const values = { DIRECTORY: directory };
  for (const engine of engines) values[engine.variable] = engine.address;
  for (const [name, port] of Object.entries(ports)) {
    const free = await portIfFree(port);
    if (free === 0) console.error(`demo: port ${port} is taken by another process; using a free one instead`);
    values[name] = `127.0.0.1:${free}`;
  }
  const template = readFileSync(path.join(repository, 'demo/weir.yaml'), 'utf8');
  const filled = template.replace(/\$\{WEIR_DEMO_(\w+)\}/g, (whole, name) => values[name] ?? whole);
  const file = path.join(directory, 'weir.yaml');
  writeFileSync(file, filled);
  return file;
}

// Ready is when an alias can be asked for, which takes the first probe of the engines.
async function waitUntilReady(gateway) {
  const headers = { authorization: `Bearer ${tenants[0].key}` };
  const body = { model: alias, messages: [{ role: 'user', content: 'Are you there?' }], max_tokens: 4 };
  for (let i = 0; ; ++i) {
    const answer = await call(gateway, { method: 'POST', path: '/v1/chat/completions', headers, body, timeoutMs: 10_000 });
    if (answer.status === 200) return i + 1;
    if (i === 50) throw new Error(`the gateway does not serve: ${answer.status} ${answer.body.slice(0, 400)}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function acceptedLength(pool) {
  let drafts = 0;
  let accepted = 0;
  for (const engine of engines.filter((one) => one.pool === pool)) {
    const samples = parseMetrics((await call(engine.address, { path: '/metrics', timeoutMs: 5000 })).body);
    drafts += sum(samples, 'vllm:spec_decode_num_drafts_total');
    accepted += sum(samples, 'vllm:spec_decode_num_accepted_tokens_total');
  }
  return drafts === 0 ? undefined : 1 + accepted / drafts;
}

async function lookAt(traffic, startedAt, until) {
  const pools = [];
  for (const [name, entry] of [...traffic.recorded.pools].sort()) pools.push({ name, ...entry, acceptedLength: await acceptedLength(name) });
  return { seconds: (performance.now() - startedAt) / 1000, until, pools, tenants: traffic.recorded.tenants, refusals: traffic.recorded.refusals };
}

function sayHello(addresses, configFile) {
  console.log(`engines:  ${engines.map((engine) => `${engine.name} http://${engine.address}`).join(', ')} (simulated)`);
  console.log(`gateway:  http://${addresses.data}   metrics: http://${addresses.metrics}/metrics${addresses.admin ? `   admin: http://${addresses.admin}/` : ''}`);
  console.log(`config:   ${configFile}`);
  console.log('try it:');
  console.log(`  curl -N http://${addresses.data}/v1/chat/completions -H 'Authorization: Bearer ${tenants[0].key}' -H 'Content-Type: application/json' \\`);
  console.log(`    -d '{"model":"${alias}","stream":true,"max_tokens":40,"messages":[{"role":"user","content":"Hello"}]}'\n`);
}

// Redraws until the time is over, a signal comes or a component dies. Resolves to the last view.
async function watch(traffic, until) {
  const screen = new Screen(process.stdout);
  const startedAt = performance.now();
  const stopAt = until === undefined ? Infinity : startedAt + until * 1000;
  let stopped = false;
  const over = stop.then(() => { stopped = true; });
  while (!stopped && performance.now() < stopAt) {
    let timer;
    const pause = new Promise((resolve) => { timer = setTimeout(resolve, Math.min(screen.periodMs, stopAt - performance.now())); });
    await Promise.race([over, pause]);
    clearTimeout(timer);
    if (!stopped) screen.draw(renderTable(await lookAt(traffic, startedAt, until)));
  }
  await traffic.stop(deaths.length > 0 ? 0 : 8000);
  return deaths.length > 0 ? undefined : lookAt(traffic, startedAt, until);
}

// Every request that got past authentication must be in the gateway's own count; the last ones take a moment.
async function gatewayCount(address, wanted) {
  for (let i = 0; ; ++i) {
    const samples = parseMetrics((await call(address, { path: '/metrics', timeoutMs: 5000 })).body);
    const all = sum(samples, 'weir_requests_total');
    const pools = [...new Set(engines.map((engine) => engine.pool))].map((pool) => [pool, sum(samples, 'weir_requests_total', { pool, status: '200' })]);
    if (all >= wanted || i === 20) return { all, pools };
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function summarise(view, traffic, counted) {
  const { recorded } = traffic;
  const answered = view.pools.reduce((total, pool) => total + pool.requests, 0);
  console.log('\nsummary (simulated engines: these figures say how the gateway works, nothing about any real GPU)');
  for (const pool of view.pools) {
    const length = pool.acceptedLength === undefined ? 'no speculation' : `accepted length ${pool.acceptedLength.toFixed(2)}`;
    console.log(`  ${pool.name}: ${pool.requests} answers, ${pool.tokens} tokens, TPOT p50 ${milliseconds(quantile(pool.tpot, 0.5))}, ${length}`);
  }
  const refused = [...recorded.refusals.values()].reduce((total, one) => total + one, 0);
  console.log(`  ${recorded.sent} requests sent: ${answered} answered, ${refused} refused on purpose, ${recorded.cut} cut at the end`);
  const served = counted.pools.map(([pool, number]) => `${number} served by ${pool}`).join(', ');
  console.log(`  the gateway counted ${counted.all} requests that got past authentication: ${served}`);
}

async function run(directory, until) {
  await startEngines();
  const configFile = await writeConfig(directory);
  const gateway = startGateway(binDir, configFile, directory, onDeath);
  children.push(gateway);
  const addresses = await unlessStopped(gateway.addresses);
  const asked = await unlessStopped(waitUntilReady(addresses.data));
  sayHello(addresses, configFile);
  const traffic = new Traffic({ gateway: addresses.data, tenants, alias, seed: 20 });
  traffic.start();
  const view = await watch(traffic, until);
  if (view === undefined) return 1;
  const wanted = traffic.recorded.authenticated + asked;
  const counted = await gatewayCount(addresses.metrics, wanted);
  summarise(view, traffic, counted);
  if (counted.all < wanted) traffic.recorded.unexpected.push(`the gateway counted ${counted.all} of ${wanted} requests`);
  for (const pool of view.pools) {
    const told = counted.pools.find(([name]) => name === pool.name)?.[1] ?? 0;
    if (told < pool.requests) traffic.recorded.unexpected.push(`the gateway counted ${told} of ${pool.requests} answers of ${pool.name}`);
  }
  for (const what of traffic.recorded.unexpected) console.error(`demo: unexpected: ${what}`);
  return traffic.recorded.unexpected.length > 0 ? 1 : 0;
}

async function main() {
  const until = secondsToRun();
  const directory = mkdtempSync(path.join(tmpdir(), 'weir-demo-'));
  let code = 3;
  try {
    code = await run(directory, until);
  } catch (error) {
    if (!(error instanceof Stopped)) console.error(`demo: ${error.message}`);
    else if (deaths.length === 0) code = 0;
  }
  closeConnections();
  // The gateway first, so that it does not see its engines go.
  for (const child of children.reverse()) {
    if (!(await child.stop(8000)) && deaths.length === 0) {
      console.error(`demo: ${child.describeEnd()} when asked to stop${child.tail()}`);
      code = code || 1;
    }
  }
  for (const death of deaths) console.error(`demo: ${death}`);
  rmSync(directory, { recursive: true, force: true });
  process.exitCode = deaths.length > 0 ? code || 1 : code;
}

await main();
