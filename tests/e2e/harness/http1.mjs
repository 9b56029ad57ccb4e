// An HTTP/1.x response reader, written apart from the product so that both cannot share a mistake.
// It keeps every byte: the head as sent, the decoded body, the chunk sizes, and how the framing ended.

const HEAD_END = Buffer.from('\r\n\r\n');

export function parseHead(bytes) {
  const lines = bytes.toString('latin1').split('\r\n');
  const headers = lines.slice(1).filter((line) => line !== '').map((line) => {
    const colon = line.indexOf(':');
    if (colon <= 0) throw new Error(`malformed header line ${JSON.stringify(line)}`);
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  return { startLine: lines[0], headers };
}

export function headerOf(headers, name) {
  const found = headers.filter(([key]) => key.toLowerCase() === name.toLowerCase());
  return found.length === 0 ? undefined : found.map(([, value]) => value).join(', ');
}

// Feeds on bytes; `done` when the message ended by its own framing, `finish()` says what EOF made of it.
export class ResponseReader {
  constructor({ method = 'GET' } = {}) {
    this.method = method;
    this.pending = Buffer.alloc(0);
    this.pieces = [];      // decoded body bytes with the time they came: {at, bytes}
    this.chunkSizes = [];
    this.interim = [];     // status lines of 1xx answers
    this.state = 'head';
    this.remaining = 0;
    this.done = false;
    this.firstByteAt = undefined;
  }

  feed(bytes, at = performance.now()) {
    this.firstByteAt ??= at;
    this.pending = this.pending.length === 0 ? bytes : Buffer.concat([this.pending, bytes]);
    while (!this.done && this.step(at));
  }

  step(at) {
    switch (this.state) {
      case 'head': return this.readHead(at);
      case 'length': return this.take(at, 'done');
      case 'chunk-size': return this.readChunkSize();
      case 'chunk-data': return this.take(at, 'chunk-end');
      case 'chunk-end': return this.readChunkEnd();
      case 'trailer': return this.readTrailer();
      default: return this.takeAll(at);
    }
  }

  readHead(at) {
    const end = this.pending.indexOf(HEAD_END);
    if (end < 0) return false;
    const raw = this.pending.subarray(0, end);
    this.pending = this.pending.subarray(end + 4);
    const { startLine, headers } = parseHead(raw);
    const match = /^(HTTP\/1\.[01]) (\d{3})(?: (.*))?$/.exec(startLine);
    if (match === null) throw new Error(`malformed status line ${JSON.stringify(startLine)}`);
    const status = Number(match[2]);
    if (status < 200) {
      this.interim.push(startLine);
      return true;
    }
    Object.assign(this, { version: match[1], status, headers, rawHead: raw.toString('latin1'), headAt: at });
    this.chooseFraming();
    return true;
  }

  chooseFraming() {
    const length = headerOf(this.headers, 'content-length');
    const coding = headerOf(this.headers, 'transfer-encoding');
    if (this.method === 'HEAD' || this.status === 204 || this.status === 304) this.finishClean('none');
    else if (coding !== undefined) this.begin('chunked', 'chunk-size');
    else if (length === undefined) this.begin('until-close', 'until-close');
    else {
      if (!/^\d+$/.test(length)) throw new Error(`malformed content-length ${JSON.stringify(length)}`);
      this.remaining = Number(length);
      this.begin('content-length', 'length');
      if (this.remaining === 0) this.finishClean('content-length');
    }
  }

  begin(framing, state) {
    this.framing = framing;
    this.state = state;
  }

  finishClean(framing = this.framing) {
    this.framing = framing;
    this.done = true;
    this.doneAt = performance.now();
  }

  take(at, next) {
    if (this.pending.length === 0) return false;
    const bytes = this.pending.subarray(0, this.remaining);
    this.pending = this.pending.subarray(bytes.length);
    this.remaining -= bytes.length;
    this.pieces.push({ at, bytes });
    if (this.remaining > 0) return false;
    if (next === 'done') this.finishClean();
    else this.state = next;
    return true;
  }

  takeAll(at) {
    if (this.pending.length > 0) this.pieces.push({ at, bytes: this.pending });
    this.pending = Buffer.alloc(0);
    return false;
  }

  line() {
    const end = this.pending.indexOf('\r\n');
    if (end < 0) return undefined;
    const text = this.pending.subarray(0, end).toString('latin1');
    this.pending = this.pending.subarray(end + 2);
    return text;
  }

  readChunkSize() {
    const text = this.line();
    if (text === undefined) return false;
    const size = text.split(';')[0].trim();
    if (!/^[0-9a-fA-F]+$/.test(size)) throw new Error(`malformed chunk size ${JSON.stringify(text)}`);
    this.remaining = Number.parseInt(size, 16);
    this.chunkSizes.push(this.remaining);
    this.state = this.remaining === 0 ? 'trailer' : 'chunk-data';
    return true;
  }

  readChunkEnd() {
    if (this.pending.length < 2) return false;
    if (this.line() !== '') throw new Error('a chunk does not end with CRLF');
    this.state = 'chunk-size';
    return true;
  }

  readTrailer() {
    const text = this.line();
    if (text === undefined) return false;
    if (text === '') this.finishClean();
    return true;
  }

  // The message as far as it came. `complete` only when the framing ended cleanly (EOF ends `until-close`).
  result({ eof = false, error = undefined } = {}) {
    return {
      version: this.version, status: this.status, headers: this.headers ?? [], rawHead: this.rawHead,
      interim: this.interim, framing: this.framing, chunkSizes: this.chunkSizes,
      complete: this.done || (eof && error === undefined && this.framing === 'until-close'),
      body: Buffer.concat(this.pieces.map((piece) => piece.bytes)), pieces: this.pieces,
      firstByteAt: this.firstByteAt, headAt: this.headAt, doneAt: this.doneAt, eof, error,
      header(name) { return headerOf(this.headers, name); },
      json() { return JSON.parse(this.body.toString('utf8')); },
    };
  }
}
