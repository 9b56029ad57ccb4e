// A small HTTP client for the demo: one request, its status, its headers, its body or its events with their times.
import http from 'node:http';

const agent = new http.Agent({ keepAlive: true, maxSockets: 256 });

export function closeConnections() {
  agent.destroy();
}

// Resolves to {status, headers, body, events: [{at, data}], endedAt, startedAt}; times in ms. Rejects when the
// connection fails or the answer is cut.
export function call(address, { method = 'GET', path, headers = {}, body, signal, timeoutMs = 120_000 }) {
  return new Promise((resolve, reject) => {
    const [host, port] = splitAddress(address);
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const allHeaders = payload === undefined ? headers : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload), ...headers };
    const startedAt = performance.now();
    const request = http.request({ agent, host, port, method, path, headers: allHeaders, signal, timeout: timeoutMs });
    request.on('timeout', () => request.destroy(new Error(`no answer from ${address}${path} in ${timeoutMs / 1000} s`)));
    request.on('error', reject);
    request.on('response', (response) => {
      const result = { status: response.statusCode, headers: response.headers, body: '', events: [], startedAt };
      const isStream = (response.headers['content-type'] ?? '').startsWith('text/event-stream');
      let rest = '';
      response.setEncoding('utf8');
      response.on('data', (text) => {
        if (!isStream) { result.body += text; return; }
        const at = performance.now();
        const parts = (rest + text).split('\n\n');
        rest = parts.pop();
        for (const part of parts) if (part.startsWith('data: ')) result.events.push({ at, data: part.slice(6) });
      });
      response.on('error', reject);
      response.on('end', () => {
        if (!response.complete) reject(new Error(`the answer of ${path} was cut`));
        else resolve({ ...result, endedAt: performance.now() });
      });
    });
    request.end(payload);
  });
}

function splitAddress(address) {
  const colon = address.lastIndexOf(':');
  return [address.slice(0, colon).replace(/^\[|\]$/g, ''), Number(address.slice(colon + 1))];
}

// Prometheus text as [{name, labels, value}].
export function parseMetrics(text) {
  const samples = [];
  for (const line of text.split('\n')) {
    const match = line.match(/^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/);
    if (!match) continue;
    const labels = {};
    for (const [, key, value] of (match[2] ?? '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) labels[key] = value;
    samples.push({ name: match[1], labels, value: Number(match[3]) });
  }
  return samples;
}

export function sum(samples, name, wanted = {}) {
  return samples
    .filter((s) => s.name === name && Object.entries(wanted).every(([key, value]) => s.labels[key] === value))
    .reduce((total, s) => total + s.value, 0);
}
