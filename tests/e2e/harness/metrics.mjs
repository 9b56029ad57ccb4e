// Reads the Prometheus text format as far as the gateway writes it.

export function parseMetrics(text) {
  const samples = [];
  const types = {};
  for (const line of text.split('\n')) {
    const type = /^# TYPE (\S+) (\S+)$/.exec(line);
    if (type !== null) types[type[1]] = type[2];
    if (line === '' || line.startsWith('#')) continue;
    const match = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)(?: \d+)?$/.exec(line);
    if (match === null) throw new Error(`malformed sample ${JSON.stringify(line)}`);
    samples.push({ name: match[1], labels: parseLabels(match[2] ?? ''), value: toNumber(match[3]) });
  }
  return { text, samples, types, sum: (name, labels = {}) => sum(samples, name, labels) };
}

function parseLabels(text) {
  const labels = {};
  const pattern = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"(?:,|$)/y;
  while (pattern.lastIndex < text.length) {
    const match = pattern.exec(text);
    if (match === null) throw new Error(`malformed labels ${JSON.stringify(text)}`);
    labels[match[1]] = match[2].replace(/\\(.)/g, (_, letter) => (letter === 'n' ? '\n' : letter));
  }
  return labels;
}

const toNumber = (text) => ({ '+Inf': Infinity, '-Inf': -Infinity, NaN }[text] ?? Number(text));

// The sum of a family's samples that carry these labels; 0 when there is none.
function sum(samples, name, labels) {
  return samples.filter((sample) => sample.name === name
    && Object.entries(labels).every(([key, value]) => sample.labels[key] === value))
    .reduce((total, sample) => total + sample.value, 0);
}
