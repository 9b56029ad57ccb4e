// The store's file as another process sees it, through the sqlite3 program.
import { spawn } from 'node:child_process';
import { run } from './gateway.mjs';
import { eventually, within } from './wait.mjs';

export async function sql(file, statement) {
  const { code, stdout, stderr } = await run('sqlite3', [file, '.timeout 5000', statement], { timeout: 60000 });
  if (code !== 0) throw new Error(`sqlite3: ${stderr}`);
  return stdout.trim();
}

// Holds a lock until release().
export class StoreLock {
  static async take(file, begin = 'BEGIN IMMEDIATE') {
    const child = spawn('sqlite3', [file], { stdio: ['pipe', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => { output += bytes; });
    child.stdin.write(`.timeout 5000\n${begin};\nSELECT 'locked';\n`);
    await eventually('the lock', () => output.includes('locked'));
    return new StoreLock(child);
  }

  constructor(child) {
    this.child = child;
    this.exited = new Promise((resolve) => { child.on('close', resolve); });
  }

  async release() {
    this.child.stdin.end('ROLLBACK;\n');
    try {
      await within(5000, 'sqlite3 to end', this.exited);
    } finally {
      this.child.kill('SIGKILL');
    }
  }
}

// `count` keys of a tenant with secrets that nobody knows.
export const insertKeys = (file, tenant, count) => sql(file, `
  BEGIN IMMEDIATE;
  UPDATE key_changes SET newest = newest + 1;
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    INSERT INTO keys (id, tenant, name, created, changed, change)
    SELECT 'bulk-' || newest || '-' || i, '${tenant}', 'bulk-' || newest || '-' || i, 1700000000, 1700000000, newest
    FROM n, key_changes;
  INSERT INTO key_secrets (key, sha256, created) SELECT number, randomblob(32), created FROM keys
    WHERE change = (SELECT newest FROM key_changes);
  COMMIT;`);
