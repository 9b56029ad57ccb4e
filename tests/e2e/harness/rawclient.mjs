// A client on a raw socket: sends exactly the bytes it is told to, and keeps what comes back with its times.
import net from 'node:net';
import { ResponseReader } from './http1.mjs';
import { resetSocket } from './reset.mjs';
import { within } from './wait.mjs';

export class RawConnection {
  static async connect(port, { paused = false } = {}) {
    const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    await within(5000, `a connection to port ${port}`, new Promise((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    }));
    return new RawConnection(socket, paused);
  }

  constructor(socket, paused) {
    this.socket = socket;
    this.leftover = Buffer.alloc(0);   // bytes behind the last response
    this.received = 0;
    this.eof = false;
    this.error = undefined;
    this.wake = () => {};
    this.closed = new Promise((resolve) => {
      socket.on('end', () => { this.eof = true; resolve('fin'); this.wake(); });
      socket.on('error', (error) => { this.error = error; resolve('reset'); this.wake(); });
      socket.on('close', () => { this.eof = true; resolve('close'); this.wake(); });
    });
    socket.on('data', (bytes) => {
      this.received += bytes.length;
      this.leftover = this.leftover.length === 0 ? bytes : Buffer.concat([this.leftover, bytes]);
      this.wake();
    });
    if (paused) socket.pause();
  }

  write(bytes) {
    return new Promise((resolve) => { this.socket.write(bytes, () => resolve()); });
  }

  pause() { this.socket.pause(); }
  resume() { this.socket.resume(); }
  fin() { this.socket.end(); }
  reset() { resetSocket(this.socket); }
  close() { this.socket.destroy(); }

  // The next response, whole or as far as it came before the connection ended.
  // `until(reader)` may stop earlier, e.g. after the first piece of a stream; readResponse() then continues.
  async readResponse({ method = 'GET', timeout = 10000, until = () => false } = {}) {
    this.reader ??= new ResponseReader({ method });
    const { reader } = this;
    const deadline = performance.now() + timeout;
    for (;;) {
      this.drainInto(reader);
      if (reader.done || until(reader)) break;
      if (this.eof || this.error !== undefined) break;
      const left = deadline - performance.now();
      await within(left, `a response (${reader.status ?? 'no head'}, ${reader.pieces.length} pieces)`,
        new Promise((resolve) => { this.wake = resolve; }));
    }
    const ended = reader.done || this.eof || this.error !== undefined;
    if (ended) this.reader = undefined;
    return reader.result({ eof: this.eof, error: this.error });
  }

  drainInto(reader) {
    if (this.leftover.length === 0) return;
    const bytes = this.leftover;
    this.leftover = Buffer.alloc(0);
    reader.feed(bytes);
    if (!reader.done) return;
    this.leftover = reader.pending;
    reader.pending = Buffer.alloc(0);
  }
}

// The bytes of a request; headers are [name, value] pairs or an object; Content-Length is added for a body.
export function requestBytes({ method = 'POST', target = '/v1/chat/completions', headers = {}, body, key, version = 'HTTP/1.1' }) {
  const pairs = Array.isArray(headers) ? [...headers] : Object.entries(headers);
  const has = (name) => pairs.some(([key_]) => key_.toLowerCase() === name);
  if (!has('host')) pairs.unshift(['Host', 'gateway.test']);
  if (key !== undefined) pairs.push(['Authorization', `Bearer ${key}`]);
  const bytes = body === undefined ? Buffer.alloc(0) : Buffer.from(typeof body === 'object' && !Buffer.isBuffer(body) ? JSON.stringify(body) : body);
  if (body !== undefined && !has('content-type')) pairs.push(['Content-Type', 'application/json']);
  if (body !== undefined && !has('content-length') && !has('transfer-encoding')) pairs.push(['Content-Length', String(bytes.length)]);
  const head = pairs.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(`${method} ${target} ${version}\r\n${head}\r\n`, 'latin1'), bytes]);
}

// One request on a connection of its own.
export async function send(port, request, { timeout = 10000 } = {}) {
  const connection = await RawConnection.connect(port);
  try {
    await connection.write(Buffer.isBuffer(request) ? request : requestBytes(request));
    return await connection.readResponse({ method: request.method, timeout });
  } finally {
    connection.close();
  }
}
