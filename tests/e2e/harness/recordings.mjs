// Recorded traffic of a real engine (tests/data/recordings): request bytes, response bytes, read boundaries.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { headerOf, parseHead, ResponseReader } from './http1.mjs';
import { recordingsRoot } from './paths.mjs';

const HEAD_END = Buffer.from('\r\n\r\n');

export function recordingNames() {
  return readdirSync(recordingsRoot).filter((file) => file.endsWith('.http')).map((file) => file.slice(0, -5)).sort();
}

export function loadRecording(name) {
  const file = (suffix) => path.join(recordingsRoot, `${name}${suffix}`);
  const response = readFileSync(file('.http'));
  const timeline = existsSync(file('.timeline.json')) ? JSON.parse(readFileSync(file('.timeline.json'), 'utf8')) : {};
  return { ...read(response), name, response, request: parseRequest(readFileSync(file('.request'))), pieces: piecesOf(response, timeline) };
}

function parseRequest(raw) {
  const end = raw.indexOf(HEAD_END);
  const { startLine, headers } = parseHead(raw.subarray(0, end));
  const length = Number(headerOf(headers, 'content-length') ?? 0);
  return { startLine, headers, body: raw.subarray(end + 4, end + 4 + length) };
}

function read(response) {
  const reader = new ResponseReader({ method: 'POST' });
  if (response.length > 0) reader.feed(response);
  const result = reader.result({ eof: true });
  return { ...result, stream: (result.header('content-type') ?? '').startsWith('text/event-stream') };
}

// The response cut where the recorder's reads ended.
function piecesOf(response, timeline) {
  const reads = (timeline.reads ?? []).filter(([, , size]) => typeof size === 'number');
  return reads.map(([, offset, size]) => response.subarray(offset, offset + size));
}

// The messages of a keep-alive connection of an SDK, each as {request, response, ...}, in order.
export function loadConversation(name) {
  let requests = readFileSync(path.join(recordingsRoot, 'sdk', `${name}.request`));
  let responses = readFileSync(path.join(recordingsRoot, 'sdk', `${name}.http`));
  const exchanges = [];
  while (requests.length > 0) {
    const request = parseRequest(requests);
    requests = requests.subarray(requests.indexOf(HEAD_END) + 4 + request.body.length);
    const reader = new ResponseReader({ method: request.startLine.split(' ')[0] });
    reader.feed(responses);
    const response = responses.subarray(0, responses.length - reader.pending.length);
    responses = responses.subarray(response.length);
    exchanges.push({ ...read(response), name: `${name}/${exchanges.length}`, request, response, pieces: [response] });
  }
  return exchanges;
}
