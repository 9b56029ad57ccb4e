// The demo's child processes: started one by one, ended by their own process id, never by name.
// weir-sim ends when its standard input does; weir is asked for by the kernel (setpriv --pdeathsig): neither outlives
// this process, however it dies. Children have a session of their own, so that Ctrl-C reaches only the driver.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';

const keptLines = 30;

export class Child {
  constructor(name, command, options, onDeath) {
    this.name = name;
    this.lines = [];
    this.expected = false;
    this.waiters = [];
    this.process = spawn(command[0], command.slice(1), { ...options, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
    this.process.stdin.on('error', () => {});  // it may die before we close our end
    for (const stream of [this.process.stdout, this.process.stderr]) this.#readLines(stream);
    this.ended = new Promise((resolve) => {
      this.process.on('error', (error) => resolve({ code: null, signal: null, error }));
      this.process.on('close', (code, signal) => resolve({ code, signal }));
    });
    this.ended.then((how) => {
      this.how = how;
      for (const waiter of this.waiters) waiter.reject(new Error(`${this.describeEnd()}${this.tail()}`));
      if (!this.expected) onDeath(this);
    });
  }

  #readLines(stream) {
    let rest = '';
    stream.setEncoding('utf8');
    stream.on('data', (text) => {
      const parts = (rest + text).split('\n');
      rest = parts.pop();
      for (const line of parts) this.#take(line);
    });
  }

  #take(line) {
    this.lines.push(line);
    if (this.lines.length > keptLines) this.lines.shift();
    for (const waiter of this.waiters) {
      const match = line.match(waiter.pattern);
      if (match) waiter.resolve(match);
    }
  }

  // The first line from now on that matches, or an error that says what the process did instead.
  line(pattern, timeoutMs) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${this.name} said nothing like ${pattern} in ${timeoutMs / 1000} s${this.tail()}`)), timeoutMs);
      const settle = (with_) => (value) => { clearTimeout(timer); with_(value); };
      this.waiters.push({ pattern, resolve: settle(resolve), reject: settle(reject) });
    });
  }

  describeEnd() {
    const { code, signal, error } = this.how ?? {};
    if (error) return `${this.name} could not be started: ${error.message}`;
    return `${this.name} ended with ${signal ?? `exit code ${code}`}`;
  }

  tail() {
    return this.lines.length === 0 ? '' : `\n  its last lines:\n    ${this.lines.slice(-12).join('\n    ')}`;
  }

  // SIGTERM, and after the time SIGKILL. True when it ended by itself with exit code 0.
  async stop(timeoutMs) {
    this.expected = true;
    if (this.how === undefined) this.process.kill('SIGTERM');
    const timer = setTimeout(() => this.process.kill('SIGKILL'), timeoutMs);
    const how = await this.ended;
    clearTimeout(timer);
    return how.code === 0;
  }
}

export function startEngine(binDir, { name, preset, seed }, onDeath) {
  const command = [`${binDir}/weir-sim`, '--listen', '127.0.0.1:0', '--preset', preset, '--seed', String(seed), '--exit-on-stdin-eof'];
  const child = new Child(name, command, {}, onDeath);
  child.address = child.line(/^weir-sim listening on http:\/\/(\S+:\d+) /, 10_000).then((match) => match[1]);
  child.address.catch(() => {});  // told to whoever awaits it
  return child;
}

export function startGateway(binDir, configPath, directory, onDeath) {
  const withParent = existsSync('/usr/bin/setpriv') ? ['/usr/bin/setpriv', '--pdeathsig', 'TERM', '--'] : [];
  const child = new Child('weir', [...withParent, `${binDir}/weir`, 'serve', '--config', configPath], { cwd: directory }, onDeath);
  child.addresses = child.line(/listening .*data=/, 15_000).then((match) => {
    const found = {};
    for (const [, key, address] of match.input.matchAll(/\b(data|metrics|admin)=(\S+:\d+)/g)) found[key] = address;
    return found;
  });
  child.addresses.catch(() => {});
  return child;
}

// The wanted port of the loopback address, or 0 (the system chooses) when somebody has it.
export function portIfFree(port) {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.on('error', () => resolve(0));
    probe.listen({ host: '127.0.0.1', port, exclusive: true }, () => probe.close(() => resolve(port)));
  });
}
