// The simulated engine (weir-sim) as a process, known by its pid.
import { spawn } from 'node:child_process';
import { findProgram } from './paths.mjs';
import { eventually, within } from './wait.mjs';

export class Simulator {
  static async start({ preset = 'tiny-fast', as = 'vllm:0.22', seed = 7 } = {}) {
    const args = ['--listen', '127.0.0.1:0', '--preset', preset, '--as', as, '--seed', String(seed), '--exit-on-stdin-eof'];
    const child = spawn(findProgram('weir-sim'), args, { stdio: ['pipe', 'pipe', 'pipe'] });
    const text = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr']) child[name].on('data', (bytes) => { text[name] += bytes; });
    const simulator = new Simulator(child, text);
    const ready = await eventually('weir-sim to listen', () => {
      if (child.exitCode !== null) throw new Error(`weir-sim ended (${child.exitCode}): ${text.stderr}`);
      return /listening on (http:\/\/\S+).*model (\S+)\)/.exec(text.stdout) ?? undefined;
    });
    [, simulator.url, simulator.model] = ready;
    return simulator;
  }

  constructor(child, text) {
    Object.assign(this, { child, text });
    this.exited = new Promise((resolve) => { child.on('close', resolve); });
  }

  async stop() {
    this.child.kill('SIGTERM');
    try {
      await within(5000, 'weir-sim to end', this.exited);
    } finally {
      this.child.kill('SIGKILL');
    }
  }
}
