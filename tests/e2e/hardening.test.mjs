// What the world can do and a gateway must survive: odd framings of answers, large bodies, bytes that are no text,
// engines that speak before they have listened, connections that get old, many requests on one connection.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { alias, chat, chatBody, oneAlias, secrets } from './harness/config.mjs';
import { checkRefusal, editedJson } from './harness/contract.mjs';
import { Gateway } from './harness/gateway.mjs';
import { assertMemoryBelow } from './harness/memory.mjs';
import { RawConnection, requestBytes } from './harness/rawclient.mjs';
import { dataEvents } from './harness/sse.mjs';
import { chunk, httpMessage, jsonAnswer, lastChunk, streamHead, Upstream } from './harness/upstream.mjs';
import { eventually, sleep, stopAll, within } from './harness/wait.mjs';

const megabyte = 1024 * 1024;
const answer = '{"id":"x","model":"harbor-mid","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}';
const edited = editedJson(answer, { alias });
const token = (text) => `data: {"model":"harbor-mid","choices":[{"index":0,"delta":{"content":${JSON.stringify(text)}},"finish_reason":null}]}\n\n`;
const finish = 'data: {"model":"harbor-mid","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n';

let upstream;
let gateway;
before(async () => {
  upstream = await Upstream.start();
  gateway = await Gateway.start(oneAlias(upstream.url, { server: { limits: { response_body: '1MiB' } } }));
});
after(() => stopAll(gateway, upstream));

// --- framings of answers --------------------------------------------------------------------------------------

const framings = {
  'chunked': httpMessage('HTTP/1.1 200 OK', { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' }, Buffer.concat([chunk(answer.slice(0, 40)), chunk(answer.slice(40)), lastChunk])),
  'chunked, with extensions and trailers': httpMessage('HTTP/1.1 200 OK', { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' }, `${answer.length.toString(16)};x=y\r\n${answer}\r\n0;z\r\nX-T: 1\r\n\r\n`),
  'until the close': httpMessage('HTTP/1.1 200 OK', { 'Content-Type': 'application/json' }, answer),
  'HTTP/1.0': httpMessage('HTTP/1.0 200 OK', { 'Content-Type': 'application/json', 'Content-Length': answer.length }, answer),
  'no reason phrase': httpMessage('HTTP/1.1 200 ', { 'Content-Type': 'application/json', 'Content-Length': answer.length }, answer),
  'early hints before it': Buffer.concat([httpMessage('HTTP/1.1 103 Early Hints', { Link: '<x>' }), jsonAnswer(200, answer)]),
  'no content type': httpMessage('HTTP/1.1 200 OK', { 'Content-Length': answer.length }, answer),
};
for (const [name, bytes] of Object.entries(framings)) {
  test(`a whole answer, ${name}`, async () => {
    upstream.answerWith(bytes, { thenClose: true });
    const response = await gateway.send(chat());
    assert.equal(response.body.toString(), edited);
    assert.equal(response.header('content-length'), String(edited.length));
    assert.equal((await gateway.recordOf(response.header('x-request-id'))).outcome, 'ok');
  });
}

test('a stream until the close', async () => {
  upstream.answerWith(httpMessage('HTTP/1.1 200 OK', { 'Content-Type': 'text/event-stream' }, `${token('a')}${finish}data: [DONE]\n\n`), { thenClose: true });
  const response = await gateway.send(chat({ stream: true }));
  assert.equal(dataEvents(response.body).length, 3);
  assert.equal((await gateway.recordOf(response.header('x-request-id'))).outcome, 'ok');
});

test('the last event without its blank line is not lost', async () => {
  upstream.answerWith(Buffer.concat([streamHead(), chunk(`${token('a')}${finish}data: [DONE]`), lastChunk]));
  const response = await gateway.send(chat({ stream: true }));
  assert.deepEqual(dataEvents(response.body).at(-1), '[DONE]');
  assert.equal((await gateway.recordOf(response.header('x-request-id'))).outcome, 'ok');
});

test('an answer larger than server.limits.response_body is a protocol fault, and costs no more memory than that', async () => {
  const before_ = gateway.memory().peak;
  upstream.answer(async (exchange) => {
    await exchange.write(httpMessage('HTTP/1.1 200 OK', { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' }));
    for (let sent = 0; sent < 40 && !exchange.gone; sent += 1) await exchange.write(chunk(' '.repeat(megabyte)));
  });
  checkRefusal(await gateway.send(chat()), { status: 502, reason: 'upstream_protocol' });
  assertMemoryBelow(16 * megabyte, gateway.memory().peak - before_, 'growth of the peak by an answer of 40 MiB');
});

// --- large requests -------------------------------------------------------------------------------------------

test('bodies of 20 MiB pass whole, and their memory does not add up', async () => {
  const body = JSON.stringify(chatBody({ messages: [{ role: 'user', content: 'w'.repeat(20 * megabyte) }] }));
  const before_ = gateway.memory().resident;
  for (let round = 0; round < 6; round += 1) {
    upstream.answerWith(jsonAnswer(200, answer));
    const response = await gateway.send({ body, key: secrets.plain }, { timeout: 20000 });
    assert.equal(response.status, 200);
    assert.ok(upstream.requests[0].request.body.equals(Buffer.from(body.replace(alias, 'harbor-mid'))));
  }
  upstream.requests = [];
  const growth = gateway.memory().resident - before_;
  console.log(`# six bodies of 20 MiB, one after another: the gateway kept ${(growth / megabyte).toFixed(0)} MiB`);
  assertMemoryBelow(64 * megabyte, growth, 'growth by six bodies of 20 MiB: no more than the copies of one');
});

test('an engine that refuses before it has read the body is heard', async () => {
  const net = await import('node:net');
  const refusal = jsonAnswer(413, { error: { message: 'too large for this engine', code: 413 } }, { Connection: 'close' });
  const engine = net.createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    socket.once('data', (bytes) => {
      if (bytes.toString('latin1').startsWith('GET')) return socket.end(jsonAnswer(200, {}, { Connection: 'close' }));
      socket.pause();
      return socket.end(refusal);   // and reads no further
    });
  });
  await new Promise((resolve) => { engine.listen(0, '127.0.0.1', resolve); });
  const other = await Gateway.start(oneAlias(`http://127.0.0.1:${engine.address().port}`, { pool: { retries: { attempts: 1 } } }));
  try {
    const response = await other.send(chat({ messages: [{ role: 'user', content: 'w'.repeat(16 * megabyte) }] }), { timeout: 15000 });
    checkRefusal(response, { status: 413, reason: 'upstream_rejected', message: /too large for this engine/ });
  } finally {
    await other.stop();
    engine.close();
  }
});

// --- bytes that are no text -----------------------------------------------------------------------------------

test('a client\'s id that is no UTF-8 does not break the access log', async () => {
  upstream.answerWith(jsonAnswer(200, answer));
  const response = await gateway.send(chat({}, { headers: { 'X-Request-Id': 'caf\u00e9 "quoted" \\ \u00ff' } }));
  assert.equal(response.status, 200);
  const record = await gateway.recordOf(response.header('x-request-id'));
  assert.ok(!JSON.stringify(record).includes('\ufffd') || record.client_request_id.includes('"quoted"'));
  const { readFileSync } = await import('node:fs');
  new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(gateway.accessLog));   // throws on bad UTF-8
});

test('an engine\'s error text that is no UTF-8 becomes an error object that is', async () => {
  const body = Buffer.concat([Buffer.from('{"error":{"message":"bad byte '), Buffer.from([0xff, 0xfe]), Buffer.from(' here","code":400}}')]);
  upstream.answerWith(httpMessage('HTTP/1.1 400 Bad Request', { 'Content-Type': 'application/json', 'Content-Length': body.length }, body));
  const response = await gateway.send(chat());
  new TextDecoder('utf-8', { fatal: true }).decode(response.body);
  checkRefusal(response, { status: 400, reason: 'upstream_rejected' });
});

test('an engine\'s error text with quotes, line ends and control characters stays one JSON object', async () => {
  upstream.answerWith(jsonAnswer(400, { error: { message: 'a "quote", a \\ and\r\na line \u0000\u001f\u2028', code: 'x"y' } }));
  const response = await gateway.send(chat());
  checkRefusal(response, { status: 400, reason: 'upstream_rejected', code: 'x"y', message: /a "quote", a \\ and/ });
  assert.ok(!response.rawHead.includes('quote'));
});

test('an error text of 1 MiB is cut', async () => {
  upstream.answerWith(jsonAnswer(400, { error: { message: 'm'.repeat(megabyte), code: 400 } }));
  const response = await gateway.send(chat());
  assert.equal(response.status, 400);
  assert.ok(response.body.length < 70000, `${response.body.length} bytes`);
});

// --- connections ----------------------------------------------------------------------------------------------

test('an engine\'s Keep-Alive: timeout is honoured', async () => {
  const connections = new Set();
  for (let round = 0; round < 3; round += 1) {
    upstream.answerWith(jsonAnswer(200, answer, { 'Keep-Alive': 'timeout=1' }));
    assert.equal((await gateway.send(chat())).status, 200);
    connections.add(upstream.requests[0].connection.number);
    await sleep(1150);
  }
  assert.equal(connections.size, 3, 'an old connection is not used again');
});

test('an engine\'s Keep-Alive: max is honoured', async () => {
  const client = await RawConnection.connect(gateway.port);   // one connection: one worker
  const uses = new Map();
  for (let round = 0; round < 8; round += 1) {
    upstream.answerWith(jsonAnswer(200, answer, { 'Keep-Alive': 'timeout=5, max=2' }));
    await client.write(requestBytes(chat()));
    assert.equal((await client.readResponse()).status, 200);
    const { number } = upstream.requests[0].connection;
    uses.set(number, (uses.get(number) ?? 0) + 1);
  }
  client.close();
  assert.ok(Math.max(...uses.values()) <= 3, `a connection was used ${Math.max(...uses.values())} times, and two more at most were offered`);
});

test('a thousand requests on one connection: served, and the memory stays', async () => {
  const connection = await RawConnection.connect(gateway.port);
  const rounds = async (count) => {
    for (let round = 0; round < count; round += 1) {
      upstream.answerWith(jsonAnswer(200, answer));
      await connection.write(requestBytes(chat()));
      assert.equal((await connection.readResponse()).status, 200);
    }
  };
  await rounds(300);
  const before_ = gateway.memory().anonymous;
  await rounds(700);
  connection.close();
  const growth = gateway.memory().anonymous - before_;
  assertMemoryBelow(2 * megabyte, growth, 'growth over 700 requests');
});

test('more connections than server.limits.connections: refused as overloaded or closed, and the others live on', async () => {
  const small = await Gateway.start(oneAlias(upstream.url, { server: { workers: 2, limits: { connections: 8 } } }));
  try {
    upstream.answerWith(jsonAnswer(200, answer));
    const held = await Promise.all(Array.from({ length: 8 }, () => small.connect()));
    for (const connection of held) {
      await connection.write(requestBytes({ method: 'GET', target: '/v1/models', key: secrets.plain }));
      assert.equal((await connection.readResponse()).status, 200);
    }
    const extra = await small.connect();
    await extra.write(requestBytes({ method: 'GET', target: '/v1/models', key: secrets.plain }));
    const outcome = await within(3000, 'the ninth connection to be answered or closed', extra.readResponse()).catch((error) => error);
    if (outcome.status !== undefined) checkRefusal(outcome, { status: 503, reason: 'overloaded' });
    else assert.ok(extra.eof || extra.error !== undefined, `neither answered nor closed: ${outcome}`);
    extra.close();
    await held[0].write(requestBytes(chat()));
    assert.equal((await held[0].readResponse()).status, 200);
    for (const connection of held) connection.close();
    await eventually('room again', async () => (await small.send({ method: 'GET', target: '/v1/models', key: secrets.plain }).catch(() => ({}))).status === 200);
  } finally {
    await small.stop();
  }
});
