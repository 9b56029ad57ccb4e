// What a measurement starts: the upstream, a gateway, a loader. All are children of this process and end with it.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Child } from '../../demo/processes.mjs';

export const key = 'weir-bench-key';
const configDirectory = new URL('../config/', import.meta.url);
const sha256 = (text) => createHash('sha256').update(text).digest('hex');

// A measurement that could not be made, as opposed to one with a bad result.
export class CannotMeasure extends Error {}

export class Programs {
  constructor(binDir, directory) {
    this.binDir = binDir;
    this.directory = directory;
    this.children = new Set();
  }

  program(name) {
    const path = join(this.binDir, name);
    if (!existsSync(path)) throw new CannotMeasure(`${path} is missing: build the targets programs and bench_programs, or set WEIR_BIN_DIR`);
    return path;
  }

  // `core`: the CPU that the process is kept on; undefined = any.
  start(name, command, { core, ...options } = {}) {
    const pinned = core === undefined ? command : ['taskset', '--cpu-list', String(core), ...command];
    const withParent = existsSync('/usr/bin/setpriv') ? ['/usr/bin/setpriv', '--pdeathsig', 'TERM', '--'] : [];
    const child = new Child(name, [...withParent, ...pinned], { cwd: this.directory, ...options }, () => {});
    this.children.add(child);
    return child;
  }

  async stop(child, timeoutMs = 20_000) {
    this.children.delete(child);
    return child.stop(timeoutMs);
  }

  async stopAll() {
    await Promise.all([...this.children].map((child) => this.stop(child, 5_000)));
  }

  async startUpstream({ core } = {}) {
    const child = this.start('weir-bench-upstream', [this.program('weir-bench-upstream')], { core });
    const [, address] = await child.line(/listening on (\S+)$/, 10_000);
    return { child, address, pid: child.process.pid };
  }

  // Each gateway has a directory of its own, so that the store and the access log begin empty.
  async startWeir({ upstream, name = 'weir', program = this.program('weir'), size = {}, under = [], core, env = {}, readyMs = 20_000 }) {
    const directory = join(this.directory, name);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'weir.yaml'), weirConfig(upstream, size));
    const command = [...under, program, 'serve', '--config', 'weir.yaml'];
    const child = this.start(name, command, { core, cwd: directory, env: { ...process.env, ...env } });
    const healthy = child.line(/unknown -> healthy/, readyMs);
    healthy.catch(() => {});
    const [line] = await child.line(/listening .*data=.*/, readyMs);
    await healthy;
    return { child, directory, address: line.match(/data=(\S+)/)[1], metrics: line.match(/metrics=(\S+)/)[1], pid: child.process.pid };
  }

  // Runs the loader to its end; its report. Failed requests are in the report, not an error.
  async load(address, plan, options = {}) {
    const child = this.#startLoad(address, plan, options);
    const line = child.line(/^\{"requests".*\}$/, 600_000);
    line.catch(() => {});
    const how = await child.ended;
    this.children.delete(child);
    if (how.code !== 0 && how.code !== 1) throw new CannotMeasure(`${child.describeEnd()}${child.tail()}`);
    return JSON.parse((await line)[0]);
  }

  // Opens idle streams and leaves them open; to be stopped.
  async holdIdleStreams(address, count) {
    const child = this.#startLoad(address, 'idle', { connections: count, seconds: 3600 });
    await child.line(/holding/, 60_000);
    return child;
  }

  #startLoad(address, plan, { core, ...options }) {
    const command = [this.program('weir-bench-load'), '--address', address, '--plan', plan, '--model', 'chat', '--authorization', `Bearer ${key}`];
    for (const [name, value] of Object.entries(options))
      for (const one of [value].flat()) command.push(`--${name}`, String(one));
    return this.start('weir-bench-load', command, { core });
  }
}

function weirConfig(upstream, { keys = 1000, pools = 1 }) {
  const others = (count, line) => Array.from({ length: count - 1 }, (_, i) => line(i)).join('\n');
  return filledIn('weir.yaml', {
    UPSTREAM: upstream,
    KEY_SHA256: sha256(key),
    KEYS: others(keys, (i) => `      - {name: bench-${i}, sha256: ${sha256(`${key}-${i}`)}}`).trimStart(),
    POOLS: others(pools, (i) => `  pool-${i}: {engine: vllm, replicas: ["http://${upstream}"], family: family-${i}, target: {model: bench-model}}`).trimStart(),
    ALIASES: others(pools, (i) => `  alias-${i}: {family: family-${i}, endpoints: [chat.completions], pools: [pool-${i}]}`).trimStart(),
  });
}

// A file of bench/config with its ${NAME}s.
export function filledIn(file, values) {
  return readFileSync(new URL(file, configDirectory), 'utf8').replace(/\$\{([A-Z_0-9]+)\}/g, (whole, name) => {
    if (values[name] === undefined) throw new Error(`bench/config/${file}: nothing to fill in for ${whole}`);
    return values[name];
  });
}

// Throws unless every request was answered well: such a window measures nothing.
export function mustBeWhole(report, what) {
  if (report.failures > 0)
    throw new CannotMeasure(`${what}: ${report.failures} requests failed: ${report.first_failures[0]}`);
  return report;
}
