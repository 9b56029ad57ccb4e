// make budget: measures the gateway's data path by means that do not depend on how busy the machine is, and holds the
// result against bench/budget.json. Exit status: 0 within the budget, 1 over it, 3 could not measure.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { grouped, shortName } from './harness/callgrind.mjs';
import { measureGrowth, measureInstructions, measureMemory, measureSystemCalls, requireTools } from './harness/budget_measures.mjs';
import { CannotMeasure, Programs } from './harness/processes.mjs';
import { median } from './harness/statistics.mjs';
import { figure, terminalTable } from './harness/table.mjs';
import { exitCode, judge } from './harness/verdict.mjs';

const usage = `usage: node bench/budget.mjs [--profile] [--hold] [--only instructions,calls,memory,growth] [--runs N] [--format json] [--keep DIRECTORY]
--hold: a measure that is over its budget passes while it is no worse than "reached" in budget.json.
The programs are taken from WEIR_BIN_DIR (default build/release/bin).`;

const parts = { instructions: measureInstructions, calls: measureSystemCalls, memory: measureMemory, growth: measureGrowth };
const { measures } = JSON.parse(readFileSync(new URL('budget.json', import.meta.url), 'utf8'));
class UsageError extends Error {}
const say = (text) => process.stderr.write(`budget: ${text}\n`);

function options() {
  const { values } = parseArgs({
    options: {
      profile: { type: 'boolean', default: false },
      hold: { type: 'boolean', default: false },
      only: { type: 'string', default: Object.keys(parts).join(',') },
      runs: { type: 'string', default: '1' },
      format: { type: 'string', default: 'table' },
      keep: { type: 'string' },
    },
  });
  const only = values.only.split(',');
  const runs = Number(values.runs);
  if (only.some((part) => !(part in parts)) || !Number.isInteger(runs) || runs < 1 || !['table', 'json'].includes(values.format)) throw new UsageError(usage);
  return { ...values, only, runs };
}

async function measureOnce(programs, only) {
  const values = {};
  const profiles = [];
  const failures = [];
  for (const part of only) {
    say(`measuring ${part}`);
    try {
      const result = await parts[part](programs);
      Object.assign(values, result.values);
      profiles.push(...(result.profiles ?? []));
      if (result.calls) profiles.push({ title: 'system calls of the data worker, for 1,000 requests', counts: true, rows: Object.entries(result.calls).map(([name, cost]) => ({ name, cost })) });
    } catch (error) {
      if (!(error instanceof CannotMeasure)) throw error;
      failures.push(`${part}: ${error.message}`);
    } finally {
      await programs.stopAll();
    }
  }
  return { values, profiles, failures };
}

function results(runs, only, hold) {
  return measures
    .map((measure) => {
      const values = runs.map((run) => run.values[measure.id]).filter((value) => value !== undefined);
      const value = values.length === runs.length ? median(values) : undefined;
      return { ...measure, value, min: Math.min(...values), max: Math.max(...values), verdict: judge(measure, value, hold) };
    })
    .filter((result) => result.value !== undefined || only.length === Object.keys(parts).length);
}

function print(rows, runs, withProfile) {
  const spread = (row) => (row.value === undefined ? '-' : `${figure(row.min)} … ${figure(row.max)}`);
  const header = ['measure', 'measured', ...(runs.length > 1 ? ['spread'] : []), 'budget', 'stretch', 'verdict'];
  const cells = rows.map((row) => [row.title, figure(row.value), ...(runs.length > 1 ? [spread(row)] : []), figure(row.budget), figure(row.stretch), row.verdict]);
  if (rows.length > 0) console.log(terminalTable([header, ...cells]));
  if (!withProfile) return;
  for (const profile of runs.at(-1).profiles) {
    const total = profile.rows.reduce((sum, row) => sum + row.cost, 0);
    const cells = (rows) => rows.map((row) => [shortName(row.name).slice(0, 110), figure(row.cost), `${((100 * row.cost) / total).toFixed(1)} %`]);
    const table = (title, rows) => terminalTable([[title, 'itself', 'share'], ...cells(rows)]);
    console.log(`\n${profile.title}: ${figure(total)}`);
    if (profile.counts) console.log(table('system call', profile.rows));
    else console.log(`${table('function', profile.rows.slice(0, 20))}\n\n${table('part', grouped(profile.rows).slice(0, 12))}`);
  }
}

async function main() {
  const { only, runs: count, profile, hold, format, keep } = options();
  requireTools();
  const directory = mkdtempSync(join(tmpdir(), 'weir-budget-'));
  const runs = [];
  const leave = () => rmSync(directory, { recursive: true, force: true });
  process.on('exit', leave);
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(3));
  for (let i = 0; i < count; ++i) {
    if (count > 1) say(`run ${i + 1} of ${count}`);
    const own = join(directory, `run-${i + 1}`);
    mkdirSync(own);
    const programs = new Programs(resolve(process.env.WEIR_BIN_DIR ?? new URL('../build/release/bin', import.meta.url).pathname), own);
    runs.push(await measureOnce(programs, only));
  }
  if (keep) cpSync(directory, keep, { recursive: true });
  const rows = results(runs, only, hold);
  if (format === 'json') console.log(JSON.stringify(rows, null, 2));
  else print(rows, runs, profile);
  for (const failure of runs.flatMap((run) => run.failures)) say(`could not measure ${failure}`);
  const verdicts = rows.map((row) => row.verdict);
  return exitCode(runs.some((run) => run.failures.length > 0) ? [...verdicts, 'not measured'] : verdicts);
}

main().then(
  (code) => process.exit(code),
  (error) => {
    const isUsage = error instanceof UsageError || error.code?.startsWith('ERR_PARSE_ARGS');
    if (error instanceof CannotMeasure) say(`could not measure: ${error.message}`);
    else say(isUsage ? error.message : error.stack);
    process.exit(isUsage ? 2 : 3);
  },
);
