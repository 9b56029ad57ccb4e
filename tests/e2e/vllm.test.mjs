// An engine of vLLM's shape, written by hand from its public interface: several tokens in one event, usage only when
// asked, integer error codes, flat and stringly errors. Source: facts/engines.md section 2 (HTTP API).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { alias, chat, chatBody, oneAlias, secrets } from './harness/config.mjs';
import { checkBrokenStream, checkRefusal, editedStream, editedJson } from './harness/contract.mjs';
import { Gateway } from './harness/gateway.mjs';
import { dataEvents } from './harness/sse.mjs';
import { chunk, jsonAnswer, lastChunk, streamHead, Upstream } from './harness/upstream.mjs';
import { stopAll } from './harness/wait.mjs';

const model = 'harbor-mid';
const engine = 'vllm';
const base = `"id":"chatcmpl-7f","object":"chat.completion.chunk","created":1790000000,"model":"${model}"`;
const event = (text) => `data: ${text}\n\n`;
const delta = (content) => event(`{${base},"choices":[{"index":0,"delta":{"content":${JSON.stringify(content)}},"logprobs":null,"finish_reason":null}]}`);
const role = event(`{${base},"choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"prompt_token_ids":null}`);
const finish = event(`{${base},"system_fingerprint":"vllm-0.22.0-tp2-1a2b3c4d","choices":[{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"stop","stop_reason":null}]}`);
const usage = event(`{${base},"choices":[],"usage":{"prompt_tokens":11,"total_tokens":18,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":8}}}`);
const done = 'data: [DONE]\n\n';

let upstream;
let gateway;
before(async () => {
  upstream = await Upstream.start();
  gateway = await Gateway.start(oneAlias(upstream.url, { pool: { engine } }));
});
after(() => stopAll(gateway, upstream));

const streamOf = (events) => Buffer.concat([streamHead(), ...events.map(chunk), lastChunk]);
const whole = [role, delta('Two tokens'), delta(' and three more'), delta('!'), finish, usage, done];

async function stream(events, body = {}, key = secrets.plain) {
  upstream.answerWith(streamOf(events));
  const response = await gateway.send(chat({ stream: true, ...body }, { key }));
  return { response, sent: upstream.requests[0].request, record: await gateway.recordOf(response.header('x-request-id')) };
}

const asked = [
  { name: 'no stream_options', options: undefined, sent: { include_usage: true }, hidden: true },
  { name: 'an explicit false', options: { include_usage: false }, sent: { include_usage: true }, hidden: true },
  { name: 'empty options', options: {}, sent: { include_usage: true }, hidden: true },
  { name: 'null options', options: null, sent: { include_usage: true }, hidden: true },
  { name: 'other options only', options: { continuous_usage_stats: false }, sent: { continuous_usage_stats: false, include_usage: true }, hidden: true },
  { name: 'true', options: { include_usage: true }, sent: { include_usage: true }, hidden: false },
];
for (const { name, options, sent: expected, hidden } of asked) {
  test(`usage is asked for upstream and ${hidden ? 'hidden from' : 'shown to'} the client: ${name}`, async () => {
    const body = options === undefined ? {} : { stream_options: options };
    const { response, sent, record } = await stream(whole, body);
    const forwarded = JSON.parse(sent.body);
    assert.deepEqual(forwarded.stream_options, expected);
    assert.deepEqual({ ...forwarded, stream_options: undefined }, { ...chatBody({ stream: true, model }), stream_options: undefined });
    assert.equal(response.body.toString(), editedStream(Buffer.from(whole.join('')), { alias, engine, hideUsage: hidden }).toString());
    assert.deepEqual([record.prompt_tokens, record.completion_tokens, record.cached_tokens, record.usage_source, record.outcome],
      [11, 7, 8, 'engine', 'ok']);
  });
}

test('a request that already asks for usage is forwarded without any added byte', async () => {
  const text = `{"model": "${alias}" ,"stream" : true, "messages":[], "stream_options":{ "include_usage" :true }}`;
  upstream.answerWith(streamOf(whole));
  await gateway.send({ body: text, key: secrets.plain });
  assert.equal(upstream.requests[0].request.body.toString(), text.replace(alias, model));
});

test('a non-streamed request gets no stream_options', async () => {
  upstream.answerWith(jsonAnswer(200, `{"id":"x","object":"chat.completion","model":"${model}","system_fingerprint":"vllm-0.22.0","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}`));
  const response = await gateway.send(chat());
  assert.equal(upstream.requests[0].request.body.toString(), JSON.stringify(chatBody({ model })));
  assert.equal(response.json().model, alias);
  assert.ok(!('system_fingerprint' in response.json()));
});

test('several tokens in one event: counted from usage, events counted apart', async () => {
  const { record } = await stream(whole);
  assert.deepEqual([record.completion_tokens, record.events], [7, 3]);
  assert.equal(record.delivered_tokens, 7, 'everything was delivered');
});

test('usage in the finish chunk and in every chunk: the last one counts, never the sum', async () => {
  const counted = (n) => event(`{${base},"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null}],"usage":{"prompt_tokens":5,"completion_tokens":${n},"total_tokens":${5 + n}}}`);
  const last = event(`{${base},"choices":[{"index":0,"delta":{},"finish_reason":"length"}],"usage":{"prompt_tokens":5,"completion_tokens":4,"total_tokens":9}}`);
  const events = [role, counted(1), counted(3), last, done];
  const { response, record } = await stream(events);
  assert.deepEqual([record.prompt_tokens, record.completion_tokens, record.finish_reason], [5, 4, 'length']);
  assert.equal(response.body.toString(), editedStream(Buffer.from(events.join('')), { alias, engine }).toString(), 'usage beside choices is no usage event');
});

test('usage: null beside choices is no usage, and a first event without choices is no usage event', async () => {
  const filter = event(`{${base},"choices":[],"prompt_filter_results":[]}`);
  const withNull = event(`{${base},"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null}],"usage":null}`);
  const nothing = event(`{${base},"choices":[],"usage":null}`);
  const events = [filter, withNull, nothing, finish, usage, done];
  const { response, record } = await stream(events);
  assert.equal(response.body.toString(), editedStream(Buffer.from(events.join('')), { alias, engine, hideUsage: true }).toString());
  assert.deepEqual([record.prompt_tokens, record.completion_tokens], [11, 7]);
});

test('complete without [DONE]: passes as end of stream, and none is invented', async () => {
  const { response, record } = await stream([role, delta('a'), finish, usage]);
  assert.ok(!response.body.includes('[DONE]'));
  assert.equal(response.complete, true);
  assert.deepEqual([record.outcome, record.completion_tokens], ['ok', 7]);
});

test('[DONE] without a finish reason: complete', async () => {
  const { record } = await stream([role, delta('a'), done]);
  assert.equal(record.outcome, 'ok');
});

test('neither finish reason nor [DONE]: truncated, although the framing is clean', async () => {
  const { response, record } = await stream([role, delta('a')]);
  checkBrokenStream(response);
  assert.equal(record.outcome, 'truncated');
});

test('n = 2: the stream is complete only when both choices have finished', async () => {
  const of = (index, reason) => event(`{${base},"choices":[{"index":${index},"delta":{"content":"x"},"finish_reason":${reason}}]}`);
  const { response, record } = await stream([of(0, 'null'), of(1, 'null'), of(0, '"stop"')], { n: 2 });
  checkBrokenStream(response);
  assert.equal(record.outcome, 'truncated');
  const both = await stream([of(0, 'null'), of(1, 'null'), of(0, '"stop"'), of(1, '"stop"')], { n: 2 });
  assert.equal(both.record.outcome, 'ok');
});

const midStreamError = event('{"error":{"message":"EngineCore encountered an issue.","type":"InternalServerError","param":null,"code":500}}');
test('an error event after output: ours follows, the engine\'s [DONE] is dropped', async () => {
  const { response, record } = await stream([role, delta('a'), midStreamError, done]);
  checkBrokenStream(response);
  assert.equal(dataEvents(response.body).filter((data) => data.includes('"error"')).length, 1, 'one error, not two');
  assert.notEqual(record.outcome, 'ok');
});

test('an error event before any output is a failed attempt: 502, not an empty success', async () => {
  const { response, record } = await stream([role, midStreamError, done]);
  checkRefusal(response, { status: 502, reason: 'upstream_error' });
  assert.equal(record.outcome, 'upstream_failed');
});

// Error bodies of its releases, at statuses that are kept.
const errors = [
  { name: 'nested, integer code', status: 400, body: { error: { message: 'temperature must be non-negative', type: 'BadRequestError', param: 'temperature', code: 400 } }, message: /temperature must be/, param: 'temperature' },
  { name: 'flat, before 0.10.1', status: 400, body: { object: 'error', message: 'top_p must be in (0, 1]', type: 'BadRequestError', param: null, code: 400 }, message: /top_p must be/, param: null },
  { name: 'error is a string', status: 422, body: { error: 'unprocessable' }, message: /unprocessable/ },
  { name: 'FastAPI detail', status: 422, body: { detail: 'field required' }, message: /field required/ },
  { name: 'no JSON', status: 400, body: '<html>nope</html>', message: /.+/ },
  { name: 'empty', status: 400, body: '', message: /.+/ },
  { name: 'context overflow', status: 400, body: { error: { message: 'This model\'s maximum context length is 4096 tokens. However, you requested 16 output tokens and your prompt contains at least 4097 input tokens, for a total of at least 4113 tokens.', type: 'BadRequestError', param: 'input_tokens', code: 400 } }, message: /4096 tokens/, code: 'context_length_exceeded' },
  { name: 'min_p under speculation', status: 400, body: { error: { message: 'The min_p and logit_bias sampling parameters are not yet supported with speculative decoding.', type: 'BadRequestError', param: null, code: 400 } }, message: /min_p/ },
];
for (const { name, status, body, message, param, code } of errors) {
  test(`error body: ${name}`, async () => {
    upstream.answerWith(jsonAnswer(status, body));
    const response = await gateway.send(chat());
    checkRefusal(response, { status, reason: 'upstream_rejected', code, message, param });
    assert.equal(upstream.requests.length, 1, 'never retried');
  });
}

test('a caller with debug sees the fingerprint', async () => {
  const { response } = await stream(whole, {}, secrets.debug);
  assert.ok(response.body.includes('vllm-0.22.0-tp2-1a2b3c4d'));
  const finishEvent = dataEvents(response.body).find((data) => data.includes('stop_reason'));
  assert.equal(finishEvent, editedJson(finish.slice(6, -2), { alias, engine, debug: true }));
});

// The same stream with every line ending and odd spacing that a parser of events must take.
const spellings = {
  'CRLF': (text) => text.replaceAll('\n', '\r\n'),
  'CR': (text) => text.replaceAll('\n', '\r'),
  'no blank behind data:': (text) => text.replaceAll('data: ', 'data:'),
  'comments between': (text) => `: ping\n\n: ping\n\n${text}`,
  'other fields': (text) => text.replaceAll('data: {', 'id: 7\nevent: message\ndata: {'),
};
for (const [name, spell] of Object.entries(spellings)) {
  test(`events spelt otherwise: ${name}`, async () => {
    const events = whole.map(spell);
    const { response, record } = await stream(events);
    assert.equal(response.body.toString(), editedStream(Buffer.from(events.join('')), { alias, engine, hideUsage: true }).toString());
    assert.deepEqual([record.outcome, record.completion_tokens], ['ok', 7]);
  });
}

test('an event of data over several lines keeps its meaning', async () => {
  const split = `data: {${base},\ndata: "choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\n\n`;
  const { response, record } = await stream([split, finish, done]);
  const first = JSON.parse(dataEvents(response.body)[0]);
  assert.equal(first.model, alias);
  assert.equal(first.choices[0].delta.content, 'a');
  assert.equal(record.outcome, 'ok');
});
