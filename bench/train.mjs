// The load that tools/train counts: what a gateway does all day. WEIR_COUNTS is where the gateway, and it alone, writes
// its counts.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { mustBeWhole, Programs } from './harness/processes.mjs';

const loads = [
  ['whole', { connections: 1, requests: 2000 }],
  ['whole', { connections: 32, requests: 8000 }],
  ['paced:100:5', { connections: 16, requests: 32 }],
  ['varied:100:5', { connections: 16, requests: 32 }],
  ['burst:2000', { connections: 2, requests: 4 }],
];

const directory = mkdtempSync(join(tmpdir(), 'weir-train-'));
const programs = new Programs(resolve(process.env.WEIR_BIN_DIR ?? 'build/train/bin'), directory);
try {
  const upstream = await programs.startUpstream();
  const gateway = await programs.startWeir({ upstream: upstream.address, env: { LLVM_PROFILE_FILE: process.env.WEIR_COUNTS } });
  for (const [plan, options] of loads) mustBeWhole(await programs.load(gateway.address, plan, options), plan);
  await programs.stop(gateway.child);
} finally {
  await programs.stopAll();
  rmSync(directory, { recursive: true, force: true });
}
