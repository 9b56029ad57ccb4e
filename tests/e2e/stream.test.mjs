// How a stream moves: at once, event by event, not before the commit; how it ends; and what a slow client does to it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { chat, oneAlias } from './harness/config.mjs';
import { checkBrokenStream } from './harness/contract.mjs';
import { Gateway } from './harness/gateway.mjs';
import { assertMemoryBelow } from './harness/memory.mjs';
import { dataEvents, splitEvents } from './harness/sse.mjs';
import { chunk, lastChunk, streamHead, Upstream } from './harness/upstream.mjs';
import { eventually, sleep, stopAll, within } from './harness/wait.mjs';

const event = (delta, finish = null) => `data: {"model":"harbor-mid","choices":[{"index":0,"delta":${JSON.stringify(delta)},"finish_reason":${JSON.stringify(finish)}}]}\n\n`;
const token = (text) => event({ content: text });
const finish = event({}, 'stop');
const done = 'data: [DONE]\n\n';

let upstream;
let gateway;
before(async () => {
  upstream = await Upstream.start();
  gateway = await Gateway.start(oneAlias(upstream.url, { server: { limits: { write_stall_timeout: '700ms' } } }));
});
after(() => stopAll(gateway, upstream));

const bodySoFar = (reader) => Buffer.concat(reader.pieces.map((piece) => piece.bytes));
const events = (reader) => splitEvents(bodySoFar(reader)).events.length;

test('an event leaves the moment it is complete', async () => {
  const delays = [];
  let arrived = () => {};
  upstream.answer(async (exchange) => {
    await exchange.write(streamHead());
    for (let index = 0; index < 20; index += 1) {
      const sentAt = performance.now();
      const seen = new Promise((resolve) => { arrived = resolve; });
      await exchange.write(chunk(token(`t${index}`)));
      await within(1000, `event ${index} at the client`, seen);
      delays.push(performance.now() - sentAt);
    }
    await exchange.write(Buffer.concat([chunk(finish), chunk(done), lastChunk]));
  });
  const connection = await gateway.open(chat({ stream: true }));
  for (let count = 1; count <= 20; count += 1) {
    await connection.readResponse({ until: (reader) => events(reader) >= count });
    arrived();
  }
  assert.equal((await connection.readResponse()).complete, true);
  connection.close();
  delays.sort((left, right) => left - right);
  console.log(`# one event, engine to client: median ${delays[10].toFixed(2)} ms, worst ${delays.at(-1).toFixed(2)} ms`);
  assert.ok(delays[10] < 25, `median ${delays[10]} ms: no 40 ms of Nagle, no buffer`);
});

test('half an event waits, whole ones before it do not', async () => {
  const gate = {};
  gate.open = new Promise((resolve) => { gate.release = resolve; });
  upstream.answer(async (exchange) => {
    const text = token('second');
    await exchange.write(Buffer.concat([streamHead(), chunk(token('first') + text.slice(0, 40))]));
    await gate.open;
    await exchange.write(Buffer.concat([chunk(text.slice(40)), chunk(finish), chunk(done), lastChunk]));
  });
  const connection = await gateway.open(chat({ stream: true }));
  await connection.readResponse({ until: (reader) => events(reader) === 1 });
  await sleep(100);
  const half = await connection.readResponse({ until: () => true });
  assert.equal(splitEvents(half.body).rest.length, 0, 'nothing of the second event');
  gate.release();
  assert.equal(dataEvents((await connection.readResponse()).body).length, 4);
  connection.close();
});

test('nothing leaves before the first output: no head, no role', async () => {
  const gate = {};
  gate.open = new Promise((resolve) => { gate.release = resolve; });
  upstream.answer(async (exchange) => {
    await exchange.write(Buffer.concat([streamHead(), chunk(': ping\n\n'), chunk(event({ role: 'assistant', content: null })), chunk(event({ role: 'assistant', content: '' }))]));
    await gate.open;
    await exchange.write(Buffer.concat([chunk(token('out')), chunk(finish), chunk(done), lastChunk]));
  });
  const connection = await gateway.open(chat({ stream: true }));
  await upstream.request();
  await sleep(150);
  assert.equal(connection.received, 0, 'held back until the commit');
  gate.release();
  const response = await connection.readResponse();
  connection.close();
  assert.equal(dataEvents(response.body).length, 5, 'and nothing of it is lost');
  const record = await gateway.recordOf(response.header('x-request-id'));
  assert.ok(record.ttft_ms >= 140, `TTFT runs to the first output, not to the role: ${record.ttft_ms}`);
  assert.ok(record.upstream_ttft_ms >= 140, `${record.upstream_ttft_ms}`);
});

// First output of each kind commits; TTFT and first_visible_ms differ for what clients do not show.
for (const [name, delta, visible] of [['content', { content: 'x' }, true], ['reasoning', { reasoning_content: 'x' }, false], ['reasoning of newer engines', { reasoning: 'x' }, false],
  ['a tool call', { tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }] }, false], ['a refusal', { refusal: 'no' }, true]]) {
  test(`commit by ${name}`, async () => {
    upstream.answer(async (exchange) => {
      await exchange.write(Buffer.concat([streamHead(), chunk(event(delta))]));
      await sleep(60);
      await exchange.write(Buffer.concat([chunk(token('y')), chunk(finish), chunk(done), lastChunk]));
    });
    const connection = await gateway.open(chat({ stream: true }));
    const early = await connection.readResponse({ until: (reader) => reader.pieces.length > 0 });
    assert.equal(dataEvents(early.body).length, 1);
    const response = await connection.readResponse();
    connection.close();
    const record = await gateway.recordOf(response.header('x-request-id'));
    assert.equal(record.first_visible_ms - record.ttft_ms >= 50, !visible, `ttft ${record.ttft_ms}, visible ${record.first_visible_ms}`);
  });
}

// Once the terminal has been relayed the stream is complete, whatever the framing does next.
const endings = {
  'reset behind [DONE]': async (exchange) => { await exchange.write(chunk(done)); await sleep(10); exchange.reset(); },
  'closed behind [DONE], no last chunk': async (exchange) => { await exchange.write(chunk(done)); exchange.fin(); },
  'reset behind the finish reason': async (exchange) => { await sleep(10); exchange.reset(); },
  'garbage behind [DONE]': async (exchange) => { await exchange.write(Buffer.concat([chunk(done), Buffer.from('zz\r\n')])); exchange.fin(); },
};
for (const [name, end] of Object.entries(endings)) {
  test(`complete all the same: ${name}`, async () => {
    upstream.answer(async (exchange) => {
      await exchange.write(Buffer.concat([streamHead(), chunk(token('x')), chunk(finish)]));
      await end(exchange);
    });
    const response = await gateway.send(chat({ stream: true }));
    assert.equal(response.complete, true);
    assert.ok(!response.body.includes('"error"'), response.body.toString());
    assert.equal((await gateway.recordOf(response.header('x-request-id'))).outcome, 'ok');
    await upstream.requests[0].untilClosed(1000);
  });
}

// The same with everything in one segment: what came whole before the fault counts, whatever shares its read with it.
const behind = { 'a bad chunk': 'zz\r\n', 'another response': 'HTTP/1.1 200 OK\r\n\r\n', 'a chunk that stops': '40\r\nabc' };
for (const [name, bytes] of Object.entries(behind)) {
  test(`one segment, complete all the same: ${name} behind [DONE]`, async () => {
    upstream.answer(async (exchange) => {
      await exchange.write(Buffer.concat([streamHead(), chunk(token('x')), chunk(finish), chunk(done), Buffer.from(bytes)]));
      exchange.fin();
    });
    const response = await gateway.send(chat({ stream: true }));
    assert.equal(response.status, 200, response.body.toString());
    assert.deepEqual(dataEvents(response.body).length, 3);
    assert.equal((await gateway.recordOf(response.header('x-request-id'))).outcome, 'ok');
  });

  test(`one segment, the events before ${name} are delivered, then the error`, async () => {
    upstream.answer(async (exchange) => {
      await exchange.write(Buffer.concat([streamHead(), chunk(token('one')), chunk(token('two')), Buffer.from(bytes)]));
      exchange.fin();
    });
    const response = await gateway.send(chat({ stream: true }));
    const before_ = checkBrokenStream(response);
    assert.equal(dataEvents(before_).length, 2);
    assert.equal((await gateway.recordOf(response.header('x-request-id'))).delivered_tokens, 2);
  });
}

test('an engine that leaves its connection open behind [DONE] does not keep the client waiting', async () => {
  upstream.answer(async (exchange) => {
    await exchange.write(Buffer.concat([streamHead(), chunk(token('x')), chunk(finish), chunk(done)]));
    await exchange.untilClosed(8000).catch(() => {});
  });
  const began = performance.now();
  const response = await gateway.send(chat({ stream: true }));
  assert.equal(response.complete, true);
  assert.ok(performance.now() - began < 2000, `the response ended after ${(performance.now() - began).toFixed(0)} ms`);
});

// --- a client slower than the engine --------------------------------------------------------------------------

const megabyte = 1024 * 1024;

// Writes `total` bytes of events as fast as the gateway takes them; `progress` tells how many it has taken.
function flood(total, progress) {
  const block = Buffer.concat(Array.from({ length: 64 }, () => chunk(token('x'.repeat(900)))));
  return async (exchange) => {
    await exchange.write(streamHead());
    while (progress.bytes < total && !exchange.gone) {
      await exchange.write(block);
      progress.bytes += block.length;
    }
    await exchange.write(Buffer.concat([chunk(finish), chunk(done), lastChunk]));
  };
}

test('a client that reads slowly slows the engine down; memory stays bounded; nothing is lost', async () => {
  const total = 48 * megabyte;
  const progress = { bytes: 0 };
  upstream.answer(flood(total, progress));
  const connection = await gateway.open(chat({ stream: true }));
  await connection.readResponse({ until: (reader) => reader.pieces.length > 0 });
  const before_ = gateway.memory().resident;
  connection.pause();
  let last = -1;
  await eventually('the engine to be held up', async () => {
    const unchanged = progress.bytes === last;
    last = progress.bytes;
    await sleep(100);
    return unchanged;
  });
  const growth = gateway.memory().resident - before_;
  console.log(`# held up after ${(progress.bytes / megabyte).toFixed(1)} MiB, the gateway grew by ${(growth / 1024).toFixed(0)} KiB`);
  assert.ok(progress.bytes < total / 2, 'the kernel\'s buffers, not the gateway\'s');
  assertMemoryBelow(8 * megabyte, growth, 'growth behind a client that does not read');
  connection.resume();
  const response = await connection.readResponse({ timeout: 30000 });
  connection.close();
  assert.equal(response.complete, true);
  assert.ok(response.body.length > total * 0.9);
  assert.ok(response.body.subarray(-done.length).equals(Buffer.from(done)));
});

test('a client that takes nothing at all for write_stall_timeout is given up, and the engine with it', async () => {
  const progress = { bytes: 0 };
  upstream.answer(flood(48 * megabyte, progress));
  const connection = await gateway.open(chat({ stream: true }));
  const begun = await connection.readResponse({ until: (reader) => reader.pieces.length > 0 });
  connection.pause();
  const exchange = await upstream.request();
  const { at } = await exchange.untilClosed(5000);
  const record = await gateway.recordOf(begun.header('x-request-id'));
  assert.ok(at - exchange.at > 500, `given up after ${at - exchange.at} ms`);
  assert.equal(record.status, 200);
  assert.notEqual(record.outcome, 'ok');
  connection.close();
});
