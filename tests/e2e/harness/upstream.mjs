// A scripted engine on a raw socket: it keeps each request's bytes as received, answers with exactly the bytes and
// boundaries that a test asks for, and notes when and how the gateway closed (fin, reset).
// The prober's GETs come on connections of their own and are answered from `probes`, a table a test may change.
import net from 'node:net';
import { headerOf, parseHead } from './http1.mjs';
import { resetSocket } from './reset.mjs';
import { eventually, sleep, within } from './wait.mjs';

const HEAD_END = Buffer.from('\r\n\r\n');

export function httpMessage(startLine, headers, body = '') {
  const bytes = Buffer.from(body);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${startLine}\r\n${lines.join('')}\r\n`), bytes]);
}

export function jsonAnswer(status, value, headers = {}) {
  const body = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
  return httpMessage(`HTTP/1.1 ${status} Status`,
    { 'Content-Type': 'application/json', 'Content-Length': body.length, ...headers }, body);
}

export const streamHead = (headers = {}) => httpMessage('HTTP/1.1 200 OK',
  { 'Content-Type': 'text/event-stream', 'Transfer-Encoding': 'chunked', ...headers });

export function chunk(body) {
  const bytes = Buffer.from(body);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

export const lastChunk = Buffer.from('0\r\n\r\n');

function defaultProbes(model) {
  return {
    '/health': () => jsonAnswer(200, { status: 'ok' }),
    '/v1/models': () => jsonAnswer(200, { object: 'list', data: [{ id: model, object: 'model', max_model_len: 4096 }] }),
    '/props': () => jsonAnswer(200, { model_alias: model, total_slots: 4, default_generation_settings: { n_ctx: 4096 } }),
    '/metrics': () => httpMessage('HTTP/1.1 200 OK', { 'Content-Type': 'text/plain; version=0.0.4', 'Content-Length': 0 }),
    '/version': () => jsonAnswer(200, { version: '0.22.0' }),
  };
}

// One connection of the gateway.
class Connection {
  constructor(socket, number) {
    Object.assign(this, { socket, number, requests: 0 });
    this.closed = new Promise((resolve) => { this.resolveClosed = resolve; });
    socket.on('end', () => this.note('fin'));
    socket.on('error', () => this.note('reset'));
    socket.on('close', () => this.note('close'));
  }

  note(how) {
    this.closedAt ??= performance.now();
    this.closedBy ??= how;
    this.resolveClosed({ at: this.closedAt, by: this.closedBy });
  }

  // Nothing more is heard on a socket that we have reset ourselves.
  reset() {
    resetSocket(this.socket);
    this.note('own reset');
  }
}

// One request with its answer under way.
class Exchange {
  constructor(connection, request) {
    Object.assign(this, { connection, request, at: performance.now() });
  }

  get closed() { return this.connection.closed; }
  get gone() { return this.connection.closedAt !== undefined; }

  write(bytes) {
    const { socket } = this.connection;
    if (this.gone || socket.destroyed || !socket.writable) return Promise.resolve(false);
    return new Promise((resolve) => { socket.write(bytes, (error) => resolve(!error)); });
  }

  // Writes each piece as a segment of its own, as far as the kernel lets: `pause` ms between, or one loop turn.
  async writePieces(pieces, pause = 0) {
    for (const piece of pieces) {
      await this.write(piece);
      if (pause > 0) await sleep(pause);
      else await new Promise(setImmediate);
      if (this.gone) return;
    }
  }

  stream(events) { return this.write(Buffer.concat(events.map((event) => chunk(event)))); }
  fin() { this.connection.socket.end(); }
  reset() { this.connection.reset(); }
  untilClosed(milliseconds = 5000) { return within(milliseconds, 'the gateway to close its upstream connection', this.closed); }
}

export class Upstream {
  static async start({ model = 'harbor-mid' } = {}) {
    const upstream = new Upstream(model);
    await new Promise((resolve) => { upstream.server.listen(0, '127.0.0.1', resolve); });
    upstream.port = upstream.server.address().port;
    upstream.url = `http://127.0.0.1:${upstream.port}`;
    return upstream;
  }

  constructor(model) {
    this.probes = defaultProbes(model);
    this.probesSeen = [];
    this.requests = [];     // what the gateway forwarded, in order of arrival
    this.connections = [];
    this.faults = [];       // exceptions of handlers: a test that passed in spite of them did not test
    this.handler = undefined;
    this.server = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.serve(socket));
  }

  // The answer to every forwarded request from now on: an async function of the exchange.
  answer(handler) {
    this.handler = handler;
    this.requests = [];
  }

  // Answers with fixed bytes.
  answerWith(bytes, { thenClose = false } = {}) {
    this.answer(async (exchange) => {
      await exchange.write(bytes);
      if (thenClose) exchange.fin();
    });
  }

  serve(socket) {
    const connection = new Connection(socket, this.connections.length);
    this.connections.push(connection);
    let pending = Buffer.alloc(0);
    let parts = [];        // of a large body: joined once it is whole
    let missing = 0;       // bytes until then
    let busy = Promise.resolve();
    const takeRequests = () => {
      for (let request = this.cut(pending); request !== undefined; request = this.cut(pending)) {
        pending = pending.subarray(request.raw.length);
        const exchange = new Exchange(connection, request);
        busy = busy.then(() => this.dispatch(exchange)).catch((error) => {
          this.faults.push(error);
          socket.destroy();
        });
      }
    };
    socket.on('data', (bytes) => {
      parts.push(bytes);
      missing -= bytes.length;
      if (missing > 0) return;
      pending = Buffer.concat([pending, ...parts]);
      parts = [];
      try {
        takeRequests();
        missing = this.missing(pending);
      } catch (error) {
        this.faults.push(error);
        socket.destroy();
      }
    });
    socket.on('end', () => { if (connection.requests === 0) socket.end(); else busy.finally(() => socket.end()); });
  }

  // How many bytes the request that `bytes` begin still lacks; 0 while its head is not whole.
  missing(bytes) {
    const end = bytes.indexOf(HEAD_END);
    if (end < 0) return 0;
    const { headers } = parseHead(bytes.subarray(0, end));
    return end + 4 + Number(headerOf(headers, 'content-length') ?? 0) - bytes.length;
  }

  // The next whole request of `bytes`, or undefined.
  cut(bytes) {
    const end = bytes.indexOf(HEAD_END);
    if (end < 0) return undefined;
    const { startLine, headers } = parseHead(bytes.subarray(0, end));
    const [method, target, version] = startLine.split(' ');
    const coding = headerOf(headers, 'transfer-encoding');
    if (coding !== undefined) throw new Error(`the gateway forwarded a request with transfer-encoding ${coding}`);
    const length = Number(headerOf(headers, 'content-length') ?? 0);
    const whole = end + 4 + length;
    if (bytes.length < whole) return undefined;
    const raw = Buffer.from(bytes.subarray(0, whole));
    return { method, target, version, headers, raw, body: raw.subarray(end + 4), header(name) { return headerOf(headers, name); } };
  }

  async dispatch(exchange) {
    const { method, target } = exchange.request;
    exchange.connection.requests += 1;
    if (method === 'GET') {
      this.probesSeen.push({ target, at: exchange.at, headers: exchange.request.headers });
      const probe = this.probes[target.split('?')[0]];
      await exchange.write(probe === undefined ? jsonAnswer(404, { error: { message: 'no such probe' } }) : probe());
      return;
    }
    this.requests.push(exchange);
    if (this.handler === undefined) throw new Error(`unexpected ${method} ${target}`);
    await this.handler(exchange);
  }

  // The n-th forwarded request since the last answer(), waiting for it.
  request(index = 0, timeout = 5000) {
    return eventually(`forwarded request ${index}`, () => this.requests[index], { timeout, interval: 2 });
  }

  async stop() {
    for (const { socket } of this.connections) socket.destroy();
    await new Promise((resolve) => { this.server.close(resolve); });
    if (this.faults.length > 0) throw new Error(`the scripted engine failed: ${this.faults.map((fault) => fault.stack).join('\n')}`);
  }
}
