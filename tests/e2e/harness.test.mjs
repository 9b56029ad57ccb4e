// The harness against itself: what these tests cannot see, no other test here can be trusted to see.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editedJson, editedStream, recordedFacts } from './harness/contract.mjs';
import { rootMembers, withoutMember, withValue } from './harness/json_text.mjs';
import { parseMetrics } from './harness/metrics.mjs';
import { makeRandom, randomPieces } from './harness/random.mjs';
import { requestBytes, RawConnection, send } from './harness/rawclient.mjs';
import { loadConversation, loadRecording } from './harness/recordings.mjs';
import { splitEvents } from './harness/sse.mjs';
import { chunk, jsonAnswer, lastChunk, streamHead, Upstream } from './harness/upstream.mjs';
import { sleep } from './harness/wait.mjs';
import { yamlDocument } from './harness/yaml.mjs';

async function withUpstream(body) {
  const upstream = await Upstream.start();
  try {
    await body(upstream);
  } finally {
    await upstream.stop();
  }
}

test('the scripted engine keeps request bytes and replays a recording byte by byte', () => withUpstream(async (upstream) => {
  const recording = loadRecording('10-chat-stream-usage-spec');
  upstream.answer(async (exchange) => {
    await exchange.writePieces(randomPieces(recording.response, makeRandom(7), 3));
    exchange.fin();
  });
  const request = requestBytes({ body: '{"a":1.50}', headers: { 'X-Odd': 'é' } });
  const response = await send(upstream.port, request);
  assert.deepEqual(upstream.requests[0].request.raw, request);
  assert.equal(response.complete, true);
  assert.deepEqual(response.body, recording.body);
  assert.deepEqual(response.chunkSizes, recording.chunkSizes);
}));

test('the client sees a cut stream as incomplete', () => withUpstream(async (upstream) => {
  upstream.answer(async (exchange) => {
    await exchange.write(Buffer.concat([streamHead(), chunk('data: 1\n\n')]));
    exchange.fin();
  });
  const response = await send(upstream.port, { body: '{}' });
  assert.equal(response.complete, false);
  assert.equal(response.body.toString(), 'data: 1\n\n');
}));

for (const [how, act] of [['fin', (connection) => connection.fin()], ['reset', (connection) => connection.reset()]]) {
  test(`the scripted engine sees how its peer closed: ${how}`, () => withUpstream(async (upstream) => {
    upstream.answer(async (exchange) => { await exchange.untilClosed(); });
    const connection = await RawConnection.connect(upstream.port);
    await connection.write(requestBytes({ body: '{}' }));
    const exchange = await upstream.request();
    act(connection);
    assert.equal((await exchange.untilClosed()).by, how);
    connection.close();
  }));
}

test('the client sees a reset by the engine as an error', () => withUpstream(async (upstream) => {
  upstream.answer(async (exchange) => {
    await exchange.write(streamHead());
    await sleep(20);   // libuv reports a RST that comes together with data as an end of stream
    exchange.reset();
  });
  const response = await send(upstream.port, { body: '{}' });
  assert.equal(response.error?.code, 'ECONNRESET');
}));

test('two requests on one connection and answers behind each other', () => withUpstream(async (upstream) => {
  upstream.answer((exchange) => exchange.write(jsonAnswer(200, { n: exchange.request.body.length })));
  const connection = await RawConnection.connect(upstream.port);
  await connection.write(Buffer.concat([requestBytes({ body: '{}' }), requestBytes({ body: '{ }' })]));
  assert.deepEqual((await connection.readResponse()).json(), { n: 2 });
  assert.deepEqual((await connection.readResponse()).json(), { n: 3 });
  connection.close();
}));

test('a handler that fails fails the test', async () => {
  const upstream = await Upstream.start();
  upstream.answer(async () => { throw new Error('planted'); });
  const connection = await RawConnection.connect(upstream.port);
  await connection.write(requestBytes({ body: '{}' }));
  await upstream.request();
  connection.close();
  await assert.rejects(upstream.stop(), /planted/);
});

test('root members are found and edited in place', () => {
  const text = '{ "a" : [1,{"model":"no"}], "model":"x\\"}", "z":{} }';
  assert.deepEqual(rootMembers(text).map((member) => member.name), ['a', 'model', 'z']);
  assert.equal(withValue(text, 'model', '"y"'), '{ "a" : [1,{"model":"no"}], "model":"y", "z":{} }');
  assert.equal(withoutMember('{"a":1,"b":2,"c":3}', 'b'), '{"a":1,"c":3}');
  assert.equal(withoutMember('{"a":1,"b":2}', 'a'), '{"b":2}');
  assert.equal(withoutMember('{"a":1}', 'a'), '{}');
  assert.equal(withoutMember('{"a":1}', 'b'), '{"a":1}');
});

test('events are cut at every line ending and keep their bytes', () => {
  const body = Buffer.from(':\n\ndata: a\r\n\r\nevent: x\rdata:b\rdata: c\r\rdata: half');
  const { events, rest } = splitEvents(body);
  assert.deepEqual(events.map((event) => [event.name, event.data]), [[undefined, undefined], [undefined, 'a'], ['x', 'b\nc']]);
  assert.equal(rest.toString(), 'data: half');
  assert.deepEqual(Buffer.concat([...events.map((event) => event.raw), rest]), body);
});

test('expectations hold for a recording looked at by hand', () => {
  const recording = loadRecording('11-chat-stream-nousage-spec-eos');
  assert.deepEqual(recordedFacts(recording),
    { prompt_tokens: 13, cached_tokens: 12, completion_tokens: 10, drafted: 20, accepted: 4, finish_reason: 'stop', events: 9 });
  const text = editedStream(recording.body, { alias: 'chat-test' }).toString();
  assert.ok(!/harbor-mid|timings|system_fingerprint/.test(text));
  assert.equal(text.match(/"model":"chat-test"/g).length, 11);
  assert.ok(text.endsWith('"object":"chat.completion.chunk"}\n\ndata: [DONE]\n\n'));
  assert.equal(editedJson('{"timings":{},"model":"m"}', { alias: 'a"' }), '{"model":"a\\""}');
});

test('an SDK connection is cut into its exchanges', () => {
  const exchanges = loadConversation('sdk-001');
  assert.deepEqual(exchanges.map((exchange) => exchange.status), [200, 200]);
  assert.ok(exchanges.every((exchange) => exchange.complete));
});

test('metrics and configuration text', () => {
  const metrics = parseMetrics('# TYPE a counter\na{x="1",y="q\\"\\n"} 2\na{x="2",y=""} 3\nb 1e3\n');
  assert.equal(metrics.sum('a'), 5);
  assert.equal(metrics.sum('a', { x: '1' }), 2);
  assert.equal(metrics.samples[0].labels.y, 'q"\n');
  assert.throws(() => parseMetrics('nonsense here too'));
  assert.equal(yamlDocument({ a: [1, { b: 'c' }], d: {} }), 'a:\n  - 1\n  -\n    b: "c"\nd: {}\n');
});
