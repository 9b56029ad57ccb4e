// Bytes that are no HTTP request: 400 invalid_http, the connection closes, and nothing of it is taken for a second
// request (smuggling). Before authentication: a metric, no record.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { chat, chatBody, oneAlias, secrets } from './harness/config.mjs';
import { Gateway } from './harness/gateway.mjs';
import { RawConnection, requestBytes } from './harness/rawclient.mjs';
import { expectRefusal } from './harness/refusals.mjs';
import { jsonAnswer, Upstream } from './harness/upstream.mjs';
import { stopAll, within } from './harness/wait.mjs';

let upstream;
let gateway;
before(async () => {
  upstream = await Upstream.start();
  gateway = await Gateway.start(oneAlias(upstream.url));
});
after(() => stopAll(gateway, upstream));

const line = 'POST /v1/chat/completions HTTP/1.1\r\n';
const host = 'Host: x\r\n';
const auth = `Authorization: Bearer ${secrets.plain}\r\nContent-Type: application/json\r\n`;
const body = JSON.stringify(chatBody());
const length = `Content-Length: ${body.length}\r\n`;
const smuggled = `GET /smuggled HTTP/1.1\r\n${host}\r\n`;

const heads = {
  'no request line': 'GARBAGE\r\n\r\n',
  'binary': Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x0d, 0x0a, 0x0d, 0x0a]),
  'no version': `POST /v1/chat/completions\r\n${host}\r\n`,
  'HTTP/2 in clear text': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'a version that is none': `POST / HTTP/9.x\r\n${host}\r\n`,
  'lower-case protocol': `POST / http/1.1\r\n${host}\r\n`,
  'a blank in the target': `POST /a b HTTP/1.1\r\n${host}\r\n`,
  'a method with a colon': `PO:ST / HTTP/1.1\r\n${host}\r\n`,
  'no Host': `${line}${auth}${length}\r\n${body}`,
  'two Hosts': `${line}${host}Host: y\r\n${auth}${length}\r\n${body}`,
  'a header without a colon': `${line}${host}Nonsense\r\n\r\n`,
  'a blank before the colon': `${line}${host}Content-Length : 3\r\n\r\nabc`,
  'an empty header name': `${line}${host}: x\r\n\r\n`,
  'a folded header': `${line}${host}X-A: 1\r\n  2\r\n\r\n`,
  'a NUL in a value': `${line}${host}X-A: a\0b\r\n\r\n`,
  'a bare CR in a value': `${line}${host}X-A: a\rb\r\n\r\n`,
  'bare line feeds': `POST / HTTP/1.1\nHost: x\n\n`,
  'a control character in a name': `${line}${host}X\u0001A: 1\r\n\r\n`,
  'Content-Length and chunked': `${line}${host}${auth}${length}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
  'two different lengths': `${line}${host}${auth}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`,
  'the same length twice': `${line}${host}${auth}${length}${length}\r\n${body}`,
  'a list of different lengths': `${line}${host}${auth}Content-Length: 3, 4\r\n\r\nabcd`,
  'a signed length': `${line}${host}${auth}Content-Length: +3\r\n\r\nabc`,
  'a negative length': `${line}${host}${auth}Content-Length: -3\r\n\r\nabc`,
  'a hexadecimal length': `${line}${host}${auth}Content-Length: 0x3\r\n\r\nabc`,
  'an empty length': `${line}${host}${auth}Content-Length: \r\n\r\nabc`,
  'a length beyond 64 bits': `${line}${host}${auth}Content-Length: 99999999999999999999999\r\n\r\nabc`,
  'another transfer coding': `${line}${host}${auth}Transfer-Encoding: gzip\r\n\r\nabc`,
  'chunked not last': `${line}${host}${auth}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`,
  'chunked twice': `${line}${host}${auth}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n`,
  'two Transfer-Encodings': `${line}${host}${auth}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n`,
  'chunked with a vertical tab': `${line}${host}${auth}Transfer-Encoding: \vchunked\r\n\r\n0\r\n\r\n`,
  'chunked in HTTP/1.0': `POST /v1/chat/completions HTTP/1.0\r\n${host}${auth}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
};
for (const [name, bytes] of Object.entries(heads)) {
  test(`400 invalid_http: ${name}`, () => expectRefusal(gateway, { status: 400, reason: 'invalid_http', recorded: false }, () => exchange(Buffer.from(bytes, 'latin1'))));
}

const chunked = `${line}${host}${auth}Transfer-Encoding: chunked\r\n\r\n`;
const chunkings = {
  'a size that is none': 'zz\r\nabc\r\n0\r\n\r\n',
  'a signed size': '+3\r\nabc\r\n0\r\n\r\n',
  'a size with 0x': '0x3\r\nabc\r\n0\r\n\r\n',
  'a size beyond 64 bits': 'fffffffffffffffff\r\nabc\r\n',
  'no CRLF behind the data': '3\r\nabcX\r\n0\r\n\r\n',
  'an empty size': '\r\nabc\r\n0\r\n\r\n',
  'bare line feeds': '3\nabc\n0\n\n',
  'a trailer without a colon': '2\r\n{}\r\n0\r\nnonsense\r\n\r\n',
};
for (const [name, bytes] of Object.entries(chunkings)) {
  test(`400 invalid_http in the body, past authentication: ${name}`, () => expectRefusal(gateway, { status: 400, reason: 'invalid_http' }, () => exchange(Buffer.from(chunked + bytes))));
}

// One answer, and then the connection closes: what stands behind the fault is never read as a request.
async function exchange(bytes) {
  const connection = await RawConnection.connect(gateway.port);
  try {
    await connection.write(bytes);
    const response = await connection.readResponse({ timeout: 3000 });
    assert.equal((response.header('connection') ?? '').toLowerCase(), 'close', 'connection: close');
    await within(2000, 'the connection to close behind an invalid message', connection.closed);
    assert.equal(connection.leftover.length, 0, 'one answer, not two');
    return response;
  } finally {
    connection.close();
  }
}

test('the sending half closed in the middle of a head: 400', () => expectRefusal(gateway, { status: 400, reason: 'invalid_http', recorded: false }, async () => {
  const connection = await RawConnection.connect(gateway.port);
  await connection.write(`${line}${host}`);
  connection.fin();
  const response = await connection.readResponse({ timeout: 3000 });
  connection.close();
  return response;
}));

test('the sending half closed in the middle of a body: 400, recorded', () => expectRefusal(gateway, { status: 400, reason: 'invalid_http' }, async () => {
  const connection = await RawConnection.connect(gateway.port);
  await connection.write(`${line}${host}${auth}Content-Length: 500\r\n\r\n{"model`);
  connection.fin();
  const response = await connection.readResponse({ timeout: 3000 });
  connection.close();
  return response;
}));

test('a connection opened and closed without a byte leaves no trace', async () => {
  const before_ = await gateway.metrics();
  const connection = await RawConnection.connect(gateway.port);
  connection.fin();
  await within(2000, 'the connection to close', connection.closed);
  connection.close();
  const after_ = await gateway.metrics();
  assert.equal(after_.sum('weir_rejections_total'), before_.sum('weir_rejections_total'));
});

// What looks odd and is right.
const answer = jsonAnswer(200, { model: 'harbor-mid', choices: [{ index: 0, message: { content: 'x' }, finish_reason: 'stop' }] });
const accepted = {
  'header names in odd case': `${line}hOsT: x\r\n${auth.toUpperCase().replaceAll('BEARER SK-TEST-PLAIN', 'Bearer sk-test-plain').replace('APPLICATION/JSON', 'application/json')}${length}\r\n${body}`,
  'blanks around values': `${line}${host}${auth}Content-Length: \t ${body.length} \t\r\n\r\n${body}`,
  'an empty header value': `${line}${host}X-Empty:\r\n${auth}${length}\r\n${body}`,
  'an empty line before the request': `\r\n${line}${host}${auth}${length}\r\n${body}`,
  'the absolute form of the target': `POST http://x/v1/chat/completions HTTP/1.1\r\n${host}${auth}${length}\r\n${body}`,
  'HTTP/1.0': `POST /v1/chat/completions HTTP/1.0\r\n${host}${auth}${length}\r\n${body}`,
  'Latin-1 in a value': `${line}${host}X-Name: \u00e9\r\n${auth}${length}\r\n${body}`,
  'CHUNKED in capitals': `${line}${host}${auth}Transfer-Encoding: CHUNKED\r\n\r\n${body.length.toString(16).toUpperCase()}\r\n${body}\r\n0\r\n\r\n`,
};
for (const [name, bytes] of Object.entries(accepted)) {
  test(`accepted: ${name}`, async () => {
    upstream.answerWith(answer);
    const response = await gateway.send(Buffer.from(bytes, 'latin1'));
    assert.equal(response.status, 200, response.body.toString());
  });
}

test('a request in single bytes is a request', async () => {
  upstream.answerWith(answer);
  const connection = await RawConnection.connect(gateway.port);
  for (const byte of requestBytes(chat())) {
    await connection.write(Buffer.from([byte]));
    await new Promise(setImmediate);
  }
  assert.equal((await connection.readResponse()).status, 200);
  connection.close();
});
