// The client's connection: keep-alive, pipelining, HEAD, Expect, HTTP/1.0, many workers.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { chat, chatBody, oneAlias, secrets } from './harness/config.mjs';
import { Gateway } from './harness/gateway.mjs';
import { RawConnection, requestBytes } from './harness/rawclient.mjs';
import { dataEvents } from './harness/sse.mjs';
import { chunk, jsonAnswer, lastChunk, streamHead, Upstream } from './harness/upstream.mjs';
import { eventually, sleep, stopAll, within } from './harness/wait.mjs';

const token = (text) => `data: {"model":"harbor-mid","choices":[{"index":0,"delta":{"content":${JSON.stringify(text)}},"finish_reason":null}]}\n\n`;
const finish = 'data: {"model":"harbor-mid","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n';
const done = 'data: [DONE]\n\n';

let upstream;
let gateway;
before(async () => {
  upstream = await Upstream.start();
  gateway = await Gateway.start(oneAlias(upstream.url, { server: { workers: 8 } }));
});
after(() => stopAll(gateway, upstream));

// The engine says back what was said to it, so that answers cannot be mixed up unseen.
async function echo(exchange) {
  const { messages, stream, wait = 0 } = JSON.parse(exchange.request.body);
  const said = messages[0].content;
  if (wait > 0) await sleep(wait);
  if (!stream) return exchange.write(jsonAnswer(200, { model: 'harbor-mid', choices: [{ index: 0, message: { role: 'assistant', content: said }, finish_reason: 'stop' }] }));
  await exchange.write(streamHead());
  for (const word of said.split(' ')) await exchange.write(chunk(token(word)));
  return exchange.write(Buffer.concat([chunk(finish), chunk(done), lastChunk]));
}
const say = (text, more = {}, request = {}) => chat({ messages: [{ role: 'user', content: text }], ...more }, request);
const said = (response) => (response.header('content-type').startsWith('application/json') ? response.json().choices[0].message.content
  : dataEvents(response.body).filter((data) => data !== '[DONE]').map((data) => JSON.parse(data).choices[0].delta.content).filter((text) => text !== undefined).join(' '));

test('keep-alive: requests, refusals and streams one after another on one connection', async () => {
  upstream.answer(echo);
  const connection = await RawConnection.connect(gateway.port);
  for (const [request, expected] of [[say('one'), 'one'], [say('two words', { stream: true }), 'two words'], [say('x', { model: 'nowhere' }), undefined], [say('three'), 'three']]) {
    await connection.write(requestBytes(request));
    const response = await connection.readResponse();
    if (expected === undefined) assert.equal(response.status, 404);
    else assert.equal(said(response), expected);
  }
  assert.equal(connection.eof, false);
  connection.close();
});

test('401 keeps the connection usable, too', async () => {
  upstream.answer(echo);
  const connection = await RawConnection.connect(gateway.port);
  await connection.write(requestBytes({ body: chatBody(), key: 'wrong' }));
  assert.equal((await connection.readResponse()).status, 401);
  await connection.write(requestBytes(say('after')));
  const response = await connection.readResponse();
  assert.ok(response.status === 200 || connection.eof, 'served, or closed as announced');
  connection.close();
});

test('pipelined requests are answered in order', async () => {
  upstream.answer(echo);
  const connection = await RawConnection.connect(gateway.port);
  const texts = ['slow first', 'b', 'c c', 'd'];
  await connection.write(Buffer.concat(texts.map((text, index) => requestBytes(say(text, { stream: index % 2 === 1, wait: index === 0 ? 80 : 0 })))));
  for (const text of texts) assert.equal(said(await connection.readResponse()), text);
  connection.close();
});

test('Connection: close is honoured and announced', async () => {
  upstream.answer(echo);
  const connection = await RawConnection.connect(gateway.port);
  await connection.write(requestBytes(say('bye', {}, { headers: { Connection: 'close' } })));
  const response = await connection.readResponse();
  assert.equal(said(response), 'bye');
  assert.equal((response.header('connection') ?? '').toLowerCase(), 'close');
  await within(1000, 'the connection to close', connection.closed);
  connection.close();
});

test('Expect: 100-continue gets its 100 before the body, and its answer after', async () => {
  upstream.answer(echo);
  const connection = await RawConnection.connect(gateway.port);
  const whole = requestBytes(say('expected', {}, { headers: { Expect: '100-continue' } }));
  const end = whole.indexOf('\r\n\r\n') + 4;
  await connection.write(whole.subarray(0, end));
  await connection.readResponse({ until: (reader) => reader.interim.length > 0, timeout: 2000 });
  await connection.write(whole.subarray(end));
  const response = await connection.readResponse();
  assert.equal(said(response), 'expected');
  assert.deepEqual(response.interim, ['HTTP/1.1 100 Continue']);
  connection.close();
});

test('Expect without a valid key: refused at once, no 100', async () => {
  const connection = await RawConnection.connect(gateway.port);
  const whole = requestBytes({ body: chatBody(), key: 'wrong', headers: { Expect: '100-continue' } });
  await connection.write(whole.subarray(0, whole.indexOf('\r\n\r\n') + 4));
  const response = await connection.readResponse({ timeout: 2000 });
  assert.deepEqual([response.status, response.interim], [401, []]);
  connection.close();
});

test('HTTP/1.0: a stream without chunks, ended by the close', async () => {
  upstream.answer(echo);
  const response = await gateway.send({ ...say('old client', { stream: true }), version: 'HTTP/1.0' });
  assert.equal(response.framing, 'until-close');
  assert.equal(response.complete, true);
  assert.equal(said(response), 'old client');
});

test('HTTP/1.0: a whole answer, with its length', async () => {
  upstream.answer(echo);
  const response = await gateway.send({ ...say('old client'), version: 'HTTP/1.0' });
  assert.equal(response.framing, 'content-length');
  assert.equal(said(response), 'old client');
});

test('HEAD is answered like GET, without the body', async () => {
  const connection = await RawConnection.connect(gateway.port);
  await connection.write(requestBytes({ method: 'HEAD', target: '/v1/models', key: secrets.plain }));
  const head = await connection.readResponse({ method: 'HEAD' });
  await connection.write(requestBytes({ method: 'GET', target: '/v1/models', key: secrets.plain }));
  const get = await connection.readResponse();
  assert.equal(head.status, 200);
  assert.equal(head.header('content-length'), String(get.body.length));
  assert.equal(connection.leftover.length, 0);
  connection.close();
});

test('HEAD refused: no body either', async () => {
  const connection = await RawConnection.connect(gateway.port);
  await connection.write(requestBytes({ method: 'HEAD', target: '/v1/models', key: 'wrong' }));
  assert.equal((await connection.readResponse({ method: 'HEAD' })).status, 401);
  await sleep(50);
  assert.equal(connection.leftover.length, 0);
  connection.close();
});

test('eight workers, two hundred clients, mixed: everybody gets the own answer', async () => {
  upstream.answer(echo);
  const talk = async (client) => {
    const connection = await RawConnection.connect(gateway.port);
    for (let round = 0; round < 5; round += 1) {
      const text = `client ${client} round ${round}`;
      await connection.write(requestBytes(say(text, { stream: (client + round) % 2 === 0 })));
      const response = await connection.readResponse({ timeout: 20000 });
      assert.equal(response.status, 200, response.body.toString());
      assert.equal(said(response), text);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: 200 }, (_, client) => talk(client)));
  const ids = upstream.requests.map((exchange) => exchange.request.header('x-request-id'));
  assert.equal(new Set(ids).size, 1000, 'ids are unique over all workers');
});

test('every request has exactly one record, and the counters agree', async () => {
  await eventually('requests to be settled', async () => (await gateway.metrics()).sum('weir_inflight_requests') === 0);
  const total = (await gateway.metrics()).sum('weir_requests_total');
  await eventually('all of them to be recorded', () => gateway.records().length >= total);
  const records = gateway.records();
  assert.equal(records.length, total, 'weir_requests_total counts what is recorded');
  assert.equal(new Set(records.map((record) => record.request_id)).size, records.length);
});
