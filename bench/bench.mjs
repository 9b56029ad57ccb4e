// make bench: Weir, nginx and HAProxy in front of the same mock engine, in interleaved rounds; writes a JSON of
// everything, a Markdown page and a picture. Exit status: 0 measured, 3 could not measure.
// BENCH_ROUNDS and BENCH_SECONDS (of a window) make short trials, whose results go to build/bench.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release, tmpdir, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { measureMemory, measureRound, measures } from './harness/bench_measures.mjs';
import { markdownReport, picture, terminalReport } from './harness/bench_report.mjs';
import { peerNames, startPeer, versions } from './harness/peers.mjs';
import { CannotMeasure, Programs } from './harness/processes.mjs';
import { evaluate } from './harness/results.mjs';
import { median, rotated } from './harness/statistics.mjs';

const full = { rounds: 9, seconds: 2.5 };
const memoryRounds = 3;
const busyLoad = 0.7;
const cores = { proxy: 0, load: 1 };
const root = fileURLToPath(new URL('..', import.meta.url));
const { ratios: budgets } = JSON.parse(readFileSync(new URL('budget.json', import.meta.url), 'utf8'));
const say = (text) => process.stderr.write(`bench: ${text}\n`);

function settings() {
  const number = (name, fallback) => {
    const value = Number(process.env[name] ?? fallback);
    if (!(value > 0)) throw new CannotMeasure(`${name} must be a number over 0`);
    return value;
  };
  const rounds = Math.ceil(number('BENCH_ROUNDS', full.rounds));
  const seconds = number('BENCH_SECONDS', full.seconds);
  const trial = rounds < full.rounds || seconds < full.seconds;
  return { rounds, seconds, output: resolve(process.env.BENCH_OUTPUT ?? join(root, trial ? 'build/bench' : 'docs/benchmarks')) };
}

async function runRound(programs, upstream, round, seconds) {
  const values = {};
  const parts = {};
  const voided = [];
  for (const name of rotated(peerNames, round)) {
    const peer = await startPeer(programs, name, { upstream, core: cores.proxy, round });
    const measured = await measureRound(programs, peer, { cores, upstream, seconds });
    await peer.stop();
    values[name] = measured.values;
    parts[name] = measured.parts;
    voided.push(...measured.voided);
    if (round >= memoryRounds || name === 'direct') continue;
    const fresh = await startPeer(programs, name, { upstream, core: cores.proxy, round });
    values[name].kib_per_idle_stream = await measureMemory(programs, fresh, { cores });
    await fresh.stop();
  }
  return { values, parts, voided };
}

function git(...args) {
  try {
    return execFileSync('git', ['-C', root, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return '';
  }
}

function describe({ rounds, seconds, measured, done, loadBefore }) {
  const splits = done.map((round) => round.parts.weir.cpu_per_request);
  const medianOf = (part) => median(splits.map((split) => split[part]));
  const proxies = peerNames.filter((name) => name !== 'direct');
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: (git('rev-parse', '--short', 'HEAD') || 'unknown') + (git('status', '--porcelain', '--untracked-files=no') ? ' with changes' : ''),
    machine: { cpu: cpus()[0].model, cores: cpus().length, memory_gib: Math.round(totalmem() / 2 ** 30), kernel: release().split('-')[0] },
    versions: measured,
    load_average_before: loadBefore,
    rounds,
    window_seconds: seconds,
    measures: evaluate(done.map((round) => round.values), measures),
    weir_cpu_per_request: { data: medianOf('data'), writer: medianOf('writer'), other: medianOf('other') },
    busy: Object.fromEntries(proxies.map((name) => [name, median(done.map((round) => round.parts[name].busy))])),
    voided: done.flatMap((round) => round.voided),
    raw: done.map(({ values, parts }) => ({ values, parts })),
  };
}

function write(result, output) {
  mkdirSync(output, { recursive: true });
  const name = `bench-${result.date}`;
  writeFileSync(join(output, `${name}.json`), `${JSON.stringify(result, null, 1)}\n`);
  writeFileSync(join(output, `${name}.svg`), picture(result));
  writeFileSync(join(output, `${name}.md`), markdownReport(result, budgets, `${name}.svg`));
  say(`written: ${join(output, name)}.json, .md, .svg`);
}

async function main() {
  const { rounds, seconds, output } = settings();
  if (cpus().length < 2) throw new CannotMeasure('two cores are needed: one for the proxy, one for the load');
  const binDir = resolve(process.env.WEIR_BIN_DIR ?? join(root, 'build/release/bin'));
  const directory = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(3));
  const loadBefore = loadavg()[0];
  if (loadBefore > busyLoad) say(`the machine is busy (load average ${loadBefore.toFixed(1)}): ratios will scatter, microseconds mean nothing`);
  const programs = new Programs(binDir, directory);
  programs.program('weir');
  const measured = versions(binDir);
  const done = [];
  try {
    const upstream = await programs.startUpstream({ core: cores.load });
    const began = Date.now();
    for (let round = 0; round < rounds; ++round) {
      const spent = Math.round((Date.now() - began) / 1000);
      say(`round ${round + 1} of ${rounds}${round > 0 ? `, ${spent} s so far, about ${Math.round((spent / round) * (rounds - round))} s to go` : ''}`);
      done.push(await runRound(programs, upstream, round, seconds));
    }
  } finally {
    await programs.stopAll();
  }
  const result = describe({ rounds, seconds, measured, done, loadBefore });
  write(result, output);
  console.log(terminalReport(result, budgets));
  return 0;
}

main().then(
  (code) => process.exit(code),
  (error) => {
    say(error instanceof CannotMeasure ? `could not measure: ${error.message}` : error.stack);
    process.exit(3);
  },
);
