// The gateway under test: a real process with a directory of its own, known by its pid, stopped by it.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseMetrics } from './metrics.mjs';
import { findProgram } from './paths.mjs';
import { RawConnection, requestBytes, send } from './rawclient.mjs';
import { eventually, sleep, within } from './wait.mjs';
import { yamlDocument } from './yaml.mjs';

export const sha256 = (text) => createHash('sha256').update(text).digest('hex');

// Runs a program to its end: {code, signal, stdout, stderr}.
export async function run(program, args, { env = {}, timeout = 10000, cwd, input } = {}) {
  const child = spawn(program, args, { env: { ...process.env, ...env }, cwd, stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'] });
  const output = collect(child);
  if (input !== undefined) {
    child.stdin.on('error', () => {});   // it may end without having read everything
    child.stdin.end(input);
  }
  try {
    const [code, signal] = await within(timeout, `${program} ${args.join(' ')} to end`, output.exited);
    return { code, signal, ...output.text() };
  } finally {
    child.kill('SIGKILL');
  }
}

function collect(child) {
  const parts = { stdout: [], stderr: [] };
  for (const name of ['stdout', 'stderr']) child[name].on('data', (bytes) => parts[name].push(bytes));
  const text = () => ({ stdout: Buffer.concat(parts.stdout).toString(), stderr: Buffer.concat(parts.stderr).toString() });
  const exited = new Promise((resolve, reject) => {
    child.on('close', (code, signal) => resolve([code, signal]));
    child.on('error', reject);
  });
  return { text, exited };
}

export class Gateway {
  // `config` is the configuration as a value; listeners, store and access log are filled in where it is silent.
  static async start(config, { env = {}, readyTimeout = 15000 } = {}) {
    const gateway = new Gateway(config);
    gateway.launch(env);
    try {
      await gateway.untilReady(readyTimeout);
    } catch (error) {
      await gateway.kill();
      throw error;
    }
    return gateway;
  }

  constructor(config) {
    this.directory = mkdtempSync(path.join(tmpdir(), 'weir-e2e-'));
    this.configFile = path.join(this.directory, 'weir.yaml');
    this.accessLog = path.join(this.directory, 'access.log');
    this.storeFile = path.join(this.directory, 'weir.db');
    this.write(config);
  }

  write(config) {
    const server = { listen: '127.0.0.1:0', admin_listen: '127.0.0.1:0', metrics_listen: '127.0.0.1:0', workers: 2, drain: { timeout: '4s' }, ...config.server };
    const whole = {
      version: 1, server,
      telemetry: { access_log: { path: this.accessLog } },
      ...Object.fromEntries(Object.entries(config).filter(([key]) => key !== 'server')),
      store: { url: `sqlite:${this.storeFile}`, ...config.store },
    };
    writeFileSync(this.configFile, yamlDocument(whole));
  }

  launch(env) {
    this.exit = undefined;   // it may be started again
    this.child = spawn(findProgram('weir'), ['serve', '--config', this.configFile],
      { env: { ...process.env, ...env }, cwd: this.directory, stdio: ['ignore', 'pipe', 'pipe'] });
    this.output = collect(this.child);
    this.exited = this.output.exited.then(([code, signal]) => {
      this.exit = { code, signal, at: performance.now() };
      return this.exit;
    });
  }

  get pid() { return this.child.pid; }
  get stderr() { return this.output.text().stderr; }

  async untilReady(timeout) {
    const line = await eventually('the gateway to listen', () => {
      if (this.exit !== undefined) throw new Error(`the gateway ended at start (${this.exit.code}): ${this.stderr}`);
      return /listening data=\S+?:(\d+) metrics=\S+?:(\d+) admin=\S+?:(\d+)/.exec(this.stderr) ?? undefined;
    }, { timeout });
    this.port = Number(line[1]);
    this.metricsPort = Number(line[2]);
    this.adminPort = Number(line[3]);
  }

  // --- asking -------------------------------------------------------------------------------------------------
  send(request, options) { return this.alive(send(this.port, request, options)); }
  connect(options) { return this.alive(RawConnection.connect(this.port, options)); }

  // A gateway that has died is told as such, not as a refused connection.
  async alive(promise) {
    try {
      return await promise;
    } catch (error) {
      if (error.code === 'ECONNREFUSED') await sleep(200);   // the end of a process is told later than that of its sockets
      if (this.exit === undefined || this.exit.code === 0) throw error;
      throw new Error(`the gateway died (${this.exit.code ?? this.exit.signal}): ${this.stderr.slice(-4000)}`);
    }
  }

  // Sends a request and leaves the connection open: the caller reads, waits or breaks it.
  async open(request, options) {
    const connection = await this.connect(options);
    await connection.write(requestBytes(request));
    return connection;
  }

  async metrics() {
    const response = await send(this.metricsPort, { method: 'GET', target: '/metrics' });
    if (response.status !== 200) throw new Error(`/metrics answered ${response.status}`);
    return parseMetrics(response.body.toString());
  }

  async ready() { return (await send(this.metricsPort, { method: 'GET', target: '/readyz' })).status; }
  async live() { return (await send(this.metricsPort, { method: 'GET', target: '/livez' })).status; }

  // Resident and peak memory, bytes.
  memory() {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    const kilobytes = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)[1]);
    // `anonymous` = the heap and the stacks: pages of files, such as the spool's, are the kernel's to take back.
    return { resident: kilobytes('VmRSS') * 1024, anonymous: kilobytes('RssAnon') * 1024, peak: kilobytes('VmHWM') * 1024 };
  }

  // --- records ------------------------------------------------------------------------------------------------
  records() {
    let text;
    try {
      text = readFileSync(this.accessLog, 'utf8');
    } catch {
      return [];
    }
    return text.split('\n').slice(0, -1).map((line) => JSON.parse(line));   // the last piece may be half a line
  }

  // The same of a log that processes were killed while writing to: {whole: [record], torn: lines that are none}.
  rawRecords() {
    const lines = readFileSync(this.accessLog, 'utf8').split('\n').filter((line) => line !== '');
    const whole = lines.flatMap((line) => { try { return [JSON.parse(line)]; } catch { return []; } });
    return { whole, torn: lines.length - whole.length };
  }

  // The one record of a request. More than one is an error.
  async recordOf(id, timeout = 3000) {
    const found = await eventually(`the record of ${id}`, () => {
      const all = this.records().filter((record) => record.request_id === id);
      return all.length > 0 ? all : undefined;
    }, { timeout });
    if (found.length !== 1) throw new Error(`${found.length} records of ${id}`);
    return found[0];
  }

  // The record of the one request that `matches`, for requests whose id no client ever saw.
  recordWhere(what, matches, timeout = 3000) {
    return eventually(`the record of ${what}`, () => this.records().find(matches), { timeout });
  }

  // --- stopping -----------------------------------------------------------------------------------------------
  signal(name) { this.child.kill(name); }

  async stop({ timeout = 8000 } = {}) {
    if (this.exit === undefined) this.signal('SIGTERM');
    try {
      const { code, signal } = await within(timeout, 'the gateway to exit after SIGTERM', this.exited);
      if (code !== 0) throw new Error(`the gateway ended with ${code ?? signal}: ${this.stderr.slice(-2000)}`);
    } finally {
      await this.kill();
    }
  }

  // Ends the process without asking; the directory goes too.
  async kill() {
    if (this.exit === undefined) this.signal('SIGKILL');
    await this.exited.catch(() => {});
    if (process.env.WEIR_KEEP_DIRECTORIES === undefined) rmSync(this.directory, { recursive: true, force: true });
  }
}
