// What `make bench` writes: one JSON of everything, a Markdown page and a picture of the ratios. Pure.
import { ratioPicture } from './picture.mjs';
import { figure, markdownTable, terminalTable } from './table.mjs';
import { judge } from './verdict.mjs';

const peers = ['direct', 'weir', 'nginx', 'haproxy'];
const lowerIsBetter = (id) => id !== 'requests_per_second';

function spread(summary) {
  return summary ? `${figure(summary.median)} (${figure(summary.min)} … ${figure(summary.max)})` : '-';
}

const short = (ratio) => (ratio ? `${ratio.median.toFixed(2)} (${ratio.quartile_1.toFixed(2)} … ${ratio.quartile_3.toFixed(2)})` : '-');

function valueRows(result) {
  const header = ['median (min … max)', ...peers];
  return [header, ...Object.values(result.measures).map((measure) => [`${measure.title}, ${measure.unit}`, ...peers.map((name) => spread(measure.peers[name]))])];
}

// Budget and verdict are of the first peer, nginx.
function ratioRows(result, budgets) {
  const header = ['same-run ratio, median (quartiles)', 'weir/nginx', 'weir/haproxy', 'budget', 'stretch', 'verdict'];
  return [header, ...Object.entries(result.measures).map(([id, measure]) => {
    const budget = budgets.find((candidate) => candidate.id === id) ?? {};
    const verdict = judge(budget, measure.ratios['weir/nginx']?.median);
    return [measure.title, short(measure.ratios['weir/nginx']), short(measure.ratios['weir/haproxy']), figure(budget.budget), figure(budget.stretch), verdict === 'no budget' ? '' : verdict];
  })];
}

function notes(result) {
  const split = result.weir_cpu_per_request;
  const lines = [
    `Weir's CPU per request: data worker ${figure(split.data)} µs, writer thread (access log and store) ${figure(split.writer)} µs, other threads ${figure(split.other)} µs (medians).`,
    `Share of its core that each proxy used in the saturated window: ${Object.entries(result.busy).map(([name, share]) => `${name} ${(100 * share).toFixed(0)} %`).join(', ')}.`,
    `Load average of the machine before the first round: ${result.load_average_before.toFixed(1)}.`,
    `Windows that failed and were repeated: ${result.voided.length}.`,
  ];
  return [...lines, ...result.voided.map((text) => `  void: ${text}`)];
}

export function terminalReport(result, budgets) {
  return [terminalTable(valueRows(result)), terminalTable(ratioRows(result, budgets)), notes(result).join('\n')].join('\n\n');
}

export function markdownReport(result, budgets, pictureFile) {
  const { machine } = result;
  return `# Benchmark of ${result.date}

${result.rounds} rounds, windows of ${result.window_seconds} s. ${machine.cpu}, ${machine.cores} cores, ${machine.memory_gib} GiB, Linux ${machine.kernel}.
Weir ${result.versions.weir} (commit ${result.commit}), nginx ${result.versions.nginx}, HAProxy ${result.versions.haproxy}.
How to read this: [README.md](README.md).

## Ratios

${markdownTable(ratioRows(result, budgets))}

![ratios](${pictureFile})

## Values

${markdownTable(valueRows(result))}

${notes(result).map((line) => `- ${line.trim()}`).join('\n')}
`;
}

export function picture(result) {
  const rows = Object.entries(result.measures)
    .filter(([id]) => lowerIsBetter(id))
    .flatMap(([, measure]) => Object.entries(measure.ratios).map(([name, ratio]) => ({ title: measure.title, name, ratio })));
  return ratioPicture(rows, `${result.date}, ${result.rounds} rounds: range, quartiles, median`);
}
