// Where things are: the programs under test and the recorded traffic.
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const e2eRoot = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
export const repositoryRoot = path.resolve(e2eRoot, '../..');
export const recordingsRoot = path.join(repositoryRoot, 'tests/data/recordings');

// A program in WEIR_BIN_DIR, or the newest one under build/*/bin. Its absence is an error, never a skip.
export function findProgram(name) {
  const directories = process.env.WEIR_BIN_DIR !== undefined ? [process.env.WEIR_BIN_DIR] : builtDirectories();
  const found = directories.map((directory) => path.join(directory, name)).filter((file) => existsSync(file));
  if (found.length === 0) throw new Error(`${name} is not built: set WEIR_BIN_DIR (looked in ${directories.join(', ') || 'build/*/bin'})`);
  return found.sort((left, right) => statSync(right).mtimeMs - statSync(left).mtimeMs)[0];
}

function builtDirectories() {
  const build = path.join(repositoryRoot, 'build');
  if (!existsSync(build)) return [];
  return readdirSync(build).map((preset) => path.join(build, preset, 'bin')).filter((directory) => existsSync(directory));
}

// Whether a program was built with AddressSanitizer: its memory figures then say nothing about the product's.
export function isSanitized(name) {
  return readFileSync(findProgram(name)).includes('__asan_init');
}
