// One round of one peer: the windows of load, and what each tells. Pure parts are exported for their tests.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { CannotMeasure } from './processes.mjs';

const idleStreams = 2000;
const longestStream = 1_000_000;  // chunks: it outlasts every window
const mostTries = 3;

// What is measured. `unit` of the values; `of` the peers that have it ('added' ones are differences to direct).
export const measures = [
  { id: 'cpu_per_request', title: 'CPU per request, saturated', unit: 'µs' },
  { id: 'cpu_of_request_path', title: 'of it, without the writer of log and store', unit: 'µs' },
  { id: 'cpu_per_paced_chunk', title: 'CPU per chunk, 500 streams at 20 ms', unit: 'µs' },
  { id: 'cpu_per_burst_chunk', title: 'CPU per chunk, bursts', unit: 'µs' },
  { id: 'added_request_p50', title: 'added latency p50, 1,000 requests/s, one core', unit: 'µs' },
  { id: 'added_chunk_p50', title: 'added chunk delay p50, 500 streams at 20 ms', unit: 'µs' },
  { id: 'kib_per_idle_stream', title: 'memory per idle stream', unit: 'KiB' },
  { id: 'requests_per_second', title: 'requests/s of one core, saturated', unit: '1/s' },
];

const windows = (seconds) => ({
  saturated: { plan: 'whole', connections: 64, warmup: 0.5, seconds },
  paced: { plan: `paced:${longestStream}:20`, connections: 500, warmup: 1, seconds },
  burst: { plan: 'burst:20000', connections: 16, warmup: 0.3, seconds: seconds / 2 },
  steady: { plan: 'whole', connections: 16, warmup: 0.3, seconds, rate: 1000 },
});

// The raw values of a peer in a round: {values: {…}, parts: {…}, voided: [...]}
export async function measureRound(programs, peer, { cores, upstream, seconds }) {
  const voided = [];
  const window = async (name, core = cores.load) => {
    const { plan, ...options } = windows(seconds)[name];
    for (let tries = 1; ; ++tries) {
      const before = threadTimes(peer.pids);
      const report = await programs.load(peer.address, plan, { ...options, core, watch: peer.pids });
      const dropped = await peer.settle();
      if (report.failures === 0 && dropped === 0) return { ...report, whole: used(before, threadTimes(peer.pids)) };
      const why = report.failures > 0 ? `${report.failures} requests failed: ${report.first_failures[0]}` : `${dropped} records were dropped`;
      voided.push(`${peer.name}, ${name}: ${why}`);
      if (tries === mostTries) throw new CannotMeasure(`${peer.name}, ${name}: void ${mostTries} times; ${why}`);
    }
  };
  const saturated = await window('saturated');
  const paced = await window('paced');
  const burst = await window('burst');
  // All on one core: a wake-up from one core to another costs more than what is measured.
  pin(upstream.pid, cores.proxy);
  const steady = await window('steady', cores.proxy);
  pin(upstream.pid, cores.load);

  const split = cpuPerRequest(saturated);
  const has_cpu = peer.pids.length > 0;
  return {
    values: {
      ...(has_cpu ? { cpu_per_request: split.all, cpu_of_request_path: split.all - split.writer, cpu_per_paced_chunk: cpuPerUnit(paced, paced.chunks), cpu_per_burst_chunk: cpuPerUnit(burst, burst.chunks) } : {}),
      request_p50: steady.latency_us.p50,
      chunk_p50: paced.chunk_delay_us.p50,
      requests_per_second: saturated.requests / saturated.seconds,
    },
    parts: {
      ...(peer.name === 'weir' ? { cpu_per_request: split } : {}),
      busy: has_cpu ? totalCpu(saturated.cpu) / 1e9 / saturated.seconds : undefined,
      chunk_p99: paced.chunk_delay_us.p99,
      chunks_per_second: paced.chunks / paced.seconds,
      burst_chunks_per_second: burst.chunks / burst.seconds,
    },
    voided,
  };
}

export async function measureMemory(programs, peer, { cores }) {
  const load = async (plan, options) => {
    const report = await programs.load(peer.address, plan, { ...options, core: cores.load });
    if (report.failures > 0) throw new CannotMeasure(`${peer.name}, ${plan}: ${report.failures} requests failed: ${report.first_failures[0]}`);
    return report;
  };
  await load('whole', { requests: 100 });
  const report = await load('idle', { connections: idleStreams, seconds: 0.1, watch: peer.pids });
  return (report.resident_after.all_kib - report.resident_before.all_kib) / idleStreams;
}

const totalCpu = (threads) => threads.reduce((sum, thread) => sum + thread.cpu_ns, 0);

export function cpuPerUnit(report, units) {
  return totalCpu(report.cpu) / 1000 / units;
}

// µs for each request, by thread. The writer works on after the window, so its share is that of the whole load.
export function cpuPerRequest(report) {
  const split = { data: 0, writer: 0, other: 0 };
  for (const thread of report.cpu) {
    const role = thread.thread.startsWith('weir-data') ? 'data' : thread.thread === 'weir-writer' ? 'writer' : 'other';
    if (role !== 'writer') split[role] += thread.cpu_ns / 1000 / report.requests;
  }
  for (const thread of report.whole)
    if (thread.thread === 'weir-writer') split.writer += thread.cpu_ns / 1000 / report.answered;
  return { all: split.data + split.writer + split.other, ...split };
}

function threadTimes(pids) {
  const times = new Map();
  for (const pid of pids)
    for (const id of readdirSync(`/proc/${pid}/task`)) {
      const file = (name) => readFileSync(`/proc/${pid}/task/${id}/${name}`, 'utf8');
      times.set(id, { thread: file('comm').trim(), cpu_ns: Number(file('schedstat').split(' ')[0]) });
    }
  return times;
}

function used(before, after) {
  return [...after].map(([id, now]) => ({ thread: now.thread, cpu_ns: now.cpu_ns - (before.get(id)?.cpu_ns ?? 0) }));
}

function pin(pid, core) {
  execFileSync('taskset', ['--all-tasks', '--pid', '--cpu-list', String(core), String(pid)], { stdio: 'ignore' });
}
