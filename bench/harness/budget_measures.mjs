// The measures of the budget. Instructions are counted by callgrind in one run of the gateway, as differences between
// dumps; system calls by strace on the data worker alone; memory is what the kernel says of an ordinary run.
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { byRole, parseCallgrind, perUnit } from './callgrind.mjs';
import { CannotMeasure, mustBeWhole } from './processes.mjs';
import { parseStraceSummary } from './strace.mjs';

const requests = 1000;
const streams = 8;
const [fewChunks, manyChunks] = [20, 320];
const intervalMs = 20;  // long enough that each chunk comes in a read of its own, on a busy machine too
const idleStreams = 2000;

// Which variant of a routine runs must not depend on the machine.
const pinnedDispatch = {
  SIMDJSON_FORCE_IMPLEMENTATION: 'haswell',
  GLIBC_TUNABLES: 'glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512CD,-AVX512DQ,-ERMS,-FSRM',
  OPENSSL_ia32cap: ':~0x20000000',  // no SHA extensions
};

// {values: {id: number}, profiles: [{title, unit, rows}]}
export async function measureInstructions(programs) {
  const upstream = await programs.startUpstream();
  const gateway = await startUnderCallgrind(programs, upstream.address);
  const stream = async (plan, chunks) =>
    mustBeWhole(await programs.load(gateway.address, `${plan}:${chunks}:${intervalMs}`, { connections: streams, requests: streams }), `${plan} streams under callgrind`);

  mustBeWhole(await programs.load(gateway.address, 'whole', { requests: 300 }), 'warm-up');
  await stream('paced', fewChunks);
  dump(gateway);
  mustBeWhole(await programs.load(gateway.address, 'whole', { requests }), 'requests under callgrind');
  const whole = dump(gateway);
  await stream('paced', fewChunks);
  const few = dump(gateway);
  await stream('paced', manyChunks);
  const many = dump(gateway);
  await stream('varied', manyChunks);
  const varied = dump(gateway);
  await programs.stop(gateway.child);
  await programs.stop(upstream.child);

  const chunks = streams * (manyChunks - fewChunks);
  const nothing = new Map();
  return {
    values: {
      instructions_per_request: whole.data.instructions / requests,
      instructions_per_chunk: (many.data.instructions - few.data.instructions) / chunks,
      instructions_per_varied_chunk: (varied.data.instructions - few.data.instructions) / chunks,
      instructions_per_record: whole.writer.instructions / requests,
    },
    profiles: [
      { title: 'data worker, per request', rows: perUnit(whole.data.functions, nothing, requests) },
      { title: 'data worker, per chunk', rows: perUnit(many.data.functions, few.data.functions, chunks) },
      { title: 'data worker, per chunk that repeats nothing', rows: perUnit(varied.data.functions, few.data.functions, chunks) },
      { title: 'writer, per record', rows: perUnit(whole.writer.functions, nothing, requests) },
    ],
  };
}

// How the cost of a request grows with what the gateway has to know and to hold, in percent.
export async function measureGrowth(programs) {
  const upstream = await programs.startUpstream();
  const cost = async (gateway) => {
    mustBeWhole(await programs.load(gateway.address, 'whole', { requests: 300 }), 'warm-up');
    dump(gateway);
    mustBeWhole(await programs.load(gateway.address, 'whole', { requests }), 'requests under callgrind');
    return dump(gateway).data.instructions;
  };
  const costOf = async (name, size) => {
    const gateway = await startUnderCallgrind(programs, upstream.address, name, size);
    const instructions = await cost(gateway);
    await programs.stop(gateway.child);
    return instructions;
  };
  const small = await startUnderCallgrind(programs, upstream.address, 'small', { keys: 10 });
  const base = await cost(small);
  const held = await programs.holdIdleStreams(small.address, idleStreams);
  const withStreams = await cost(small);
  await programs.stop(held);
  await programs.stop(small.child);
  const withKeys = await costOf('keys', { keys: 10_000 });
  const withPools = await costOf('pools', { keys: 10, pools: 200 });
  await programs.stop(upstream.child);
  const growth = (instructions) => (100 * (instructions - base)) / base;
  return { values: { growth_with_keys: growth(withKeys), growth_with_pools: growth(withPools), growth_with_streams: growth(withStreams) } };
}

async function startUnderCallgrind(programs, upstream, name = 'callgrind', size = {}) {
  // Valgrind 3.19 cannot read the debug information of clang 19, and needs none to name functions.
  const program = join(programs.directory, `weir-without-debug-info-${name}`);
  const stripper = ['llvm-objcopy-19', 'llvm-objcopy', 'objcopy'].find(isInstalled);
  if (!stripper) throw new CannotMeasure('neither llvm-objcopy-19 nor objcopy is installed');
  copyFileSync(programs.program('weir'), program);
  run(stripper, ['--strip-debug', program]);
  const output = join(programs.directory, name, 'out');
  const under = ['valgrind', '--quiet', '--tool=callgrind', '--separate-threads=yes', `--callgrind-out-file=${output}`];
  const gateway = await programs.startWeir({ upstream, name, program, size, under, env: pinnedDispatch, readyMs: 120_000 });
  return { ...gateway, dumps: 0 };
}

// What each thread has executed since the last dump, by role.
function dump(gateway) {
  run('callgrind_control', ['--dump', String(gateway.pid)]);
  gateway.dumps += 1;
  const files = readdirSync(gateway.directory).filter((name) => name.startsWith(`out.${gateway.dumps}-`));
  const dumps = byRole(files.map((file) => parseCallgrind(readFileSync(join(gateway.directory, file), 'utf8'))));
  for (const role of ['data', 'writer'])
    if (!dumps[role]) throw new CannotMeasure(`callgrind's dump ${gateway.dumps} does not tell which thread is the ${role} thread`);
  return dumps;
}

export async function measureSystemCalls(programs) {
  const upstream = await programs.startUpstream();
  const gateway = await programs.startWeir({ upstream: upstream.address, name: 'strace' });
  const traced = async (plan, options) => {
    mustBeWhole(await programs.load(gateway.address, 'whole', { requests: 100 }), 'warm-up');
    return callsDuring(programs, gateway, async () => mustBeWhole(await programs.load(gateway.address, plan, options), `${plan} under strace`));
  };
  const whole = await traced('whole', { requests });
  const few = await traced(`paced:${fewChunks}:${intervalMs}`, { requests: streams, connections: streams });
  const many = await traced(`paced:${manyChunks}:${intervalMs}`, { requests: streams, connections: streams });
  await programs.stop(gateway.child);
  await programs.stop(upstream.child);
  const chunks = streams * (manyChunks - fewChunks);
  return {
    values: {
      system_calls_per_request: otherThanEpoll(whole) / requests,
      epoll_waits_per_request: (whole.epoll_wait ?? 0) / requests,
      system_calls_per_chunk: (otherThanEpoll(many) - otherThanEpoll(few)) / chunks,
    },
    calls: whole,
  };
}

async function callsDuring(programs, gateway, work) {
  const summary = join(gateway.directory, 'strace.txt');
  const tracer = programs.start('strace', ['strace', '--summary-only', '--output', summary, '--attach', String(dataThread(gateway.pid))]);
  await tracer.line(/attached/, 10_000).catch(() => { throw new CannotMeasure(`strace cannot attach to the data worker${tracer.tail()}`); });
  await work();
  await programs.stop(tracer);  // it answers SIGTERM with its summary, and leaves the gateway running
  return parseStraceSummary(readFileSync(summary, 'utf8'));
}

function dataThread(pid) {
  const found = readdirSync(`/proc/${pid}/task`).find((id) => readFileSync(`/proc/${pid}/task/${id}/comm`, 'utf8').trim() === 'weir-data-0');
  if (!found) throw new CannotMeasure(`process ${pid} has no thread named weir-data-0`);
  return found;
}

function otherThanEpoll(calls) {
  return Object.entries(calls).reduce((sum, [name, count]) => (name.startsWith('epoll_') && name.endsWith('wait') ? sum : sum + count), 0);
}

export async function measureMemory(programs) {
  const upstream = await programs.startUpstream();
  const gateway = await programs.startWeir({ upstream: upstream.address, name: 'memory' });
  mustBeWhole(await programs.load(gateway.address, 'whole', { requests: 100 }), 'warm-up');
  const report = mustBeWhole(await programs.load(gateway.address, 'idle', { connections: idleStreams, seconds: 0.1, watch: gateway.pid }), 'idle streams');
  await programs.stop(gateway.child);
  await programs.stop(upstream.child);
  const growth = (part) => (report.resident_after[part] - report.resident_before[part]) / idleStreams;
  return { values: { kib_per_idle_stream: growth('all_kib'), anonymous_kib_per_idle_stream: growth('anonymous_kib') } };
}

export function requireTools() {
  const missing = ['valgrind', 'callgrind_control', 'strace'].filter((tool) => !isInstalled(tool));
  if (missing.length > 0) throw new CannotMeasure(`not installed: ${missing.join(', ')}; run tools/install-deps budget`);
}

function isInstalled(tool) {
  return spawnSync(tool, ['--version'], { stdio: 'ignore' }).error === undefined;
}

function run(command, args) {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 });
  } catch (error) {
    throw new CannotMeasure(`${command} ${args.join(' ')}: ${(error.stderr || error.message).trim()}`);
  }
}
