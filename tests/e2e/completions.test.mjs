// POST /v1/completions at an engine of vLLM's shape, written by hand from its public interface (facts/engines.md
// section 2): prompts, choices, usage in every form, failures before and after the first output.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { alias, oneAlias, secrets, upstreamModel as model } from './harness/config.mjs';
import { checkBrokenStream, checkHeaders, checkRefusal, editedJson, editedStream } from './harness/contract.mjs';
import { deliveries } from './harness/deliveries.mjs';
import { Gateway } from './harness/gateway.mjs';
import { expectRefusal } from './harness/refusals.mjs';
import { chunk, jsonAnswer, lastChunk, streamHead, Upstream } from './harness/upstream.mjs';
import { stopAll } from './harness/wait.mjs';

const engine = 'vllm';
const target = '/v1/completions';
const base = `"id":"cmpl-7f","object":"text_completion","created":1790000000,"model":"${model}"`;
const event = (text) => `data: ${text}\n\n`;
const piece = (text, { index = 0, reason = 'null', more = '', root = '' } = {}) => event(`{${base},"choices":[{"index":${index},"text":${JSON.stringify(text)},`
  + `"logprobs":null,"finish_reason":${reason},"stop_reason":null${more}}]${root}}`);
const usageOf = (prompt, completion, more = '') => `"usage":{"prompt_tokens":${prompt},"total_tokens":${prompt + completion},"completion_tokens":${completion}${more}}`;
const details = ',"prompt_tokens_details":{"cached_tokens":8},"completion_tokens_details":{"reasoning_tokens":2}';
const finish = piece('', { reason: '"stop"', root: ',"system_fingerprint":"vllm-0.22.0-tp2-1a2b3c4d"' });
const usage = event(`{${base},"choices":[],${usageOf(11, 7, details)}}`);
const done = 'data: [DONE]\n\n';
const whole = [piece('Two tokens'), piece(' and three môre 🙂'), piece('!'), finish, usage, done];
const answer = `{${base},"choices":[{"index":0,"text":" storm","logprobs":{"tokens":["x"],"token_logprobs":[-0.10000000000000001]},"finish_reason":"length"}],`
  + `${usageOf(3, 5)},"system_fingerprint":"vllm-0.22.0","kv_transfer_params":null}`;

let upstream;
let second;
let gateway;
before(async () => {
  [upstream, second] = await Promise.all([Upstream.start(), Upstream.start()]);
  const config = oneAlias(upstream.url, { pool: { engine, timeouts: { first_token: '400ms', idle: '400ms' } }, alias: { endpoints: ['completions'], context: 100 } });
  config.pools.both = { ...config.pools.main, replicas: [upstream.url, second.url] };
  config.aliases['two-replicas'] = { ...config.aliases[alias], pools: ['both'] };
  config.pools.llama = { ...config.pools.main, engine: 'llamacpp' };
  config.aliases.llama = { ...config.aliases[alias], pools: ['llama'] };
  config.tenants.acme.aliases.push('two-replicas', 'llama');
  gateway = await Gateway.start(config);
});
after(() => stopAll(gateway, upstream, second));

const streamOf = (events) => Buffer.concat([streamHead(), ...events.map(chunk), lastChunk]);
const request = (body = {}, key = secrets.plain) => ({ target, body: { model: alias, prompt: 'The old', ...body }, key });

async function ask(bytes, body = {}, key = secrets.plain) {
  upstream.answerWith(bytes);
  const response = await gateway.send(request(body, key));
  return { response, sent: upstream.requests[0]?.request, record: await gateway.recordOf(response.header('x-request-id')) };
}
const stream = (events, body = {}, key) => ask(streamOf(events), { stream: true, ...body }, key);

// --- what reaches the engine, and what comes back ----------------------------------------------------------------

for (const prompt of ['"The old"', '["The old","A \\u00e9 new"]', '[791, 2362]', '[[791],[ 2362,12 ]]']) {
  test(`the prompt reaches the engine byte for byte: ${prompt}`, async () => {
    const text = `{ "prompt": ${prompt} ,"model":"${alias}", "temperature":0.70, "max_tokens":5, "user":"u" }`;
    upstream.answerWith(jsonAnswer(200, answer));
    const response = await gateway.send({ target, body: text, key: secrets.plain });
    assert.equal(response.status, 200, response.body.toString());
    assert.equal(upstream.requests[0].request.target, target);
    assert.equal(upstream.requests[0].request.body.toString(), text.replace(alias, model));
  });
}

for (const [who, key] of Object.entries(secrets)) {
  test(`a whole answer for ${who}: number spelling stays, the model is the alias`, async () => {
    const { response, record } = await ask(jsonAnswer(200, answer), {}, key);
    assert.equal(response.body.toString(), editedJson(answer, { alias, engine, debug: who === 'debug' }).replace(who === 'debug' ? '' : ',"kv_transfer_params":null', ''));
    checkHeaders(response, { debug: who === 'debug' });
    assert.deepEqual([record.endpoint, record.outcome, record.usage_source, record.prompt_tokens, record.completion_tokens, record.delivered_tokens, record.finish_reason],
      ['completions', 'ok', 'engine', 3, 5, 5, 'length']);
  });
}

for (const [way, cut] of Object.entries(deliveries)) {
  test(`a stream, ${way}: usage is asked for and hidden, characters stay whole`, async () => {
    const response_ = streamOf(whole);
    upstream.answer((exchange) => exchange.writePieces(cut({ response: response_, pieces: [response_] })));
    const response = await gateway.send(request({ stream: true }));
    const record = await gateway.recordOf(response.header('x-request-id'));
    assert.deepEqual(JSON.parse(upstream.requests[0].request.body).stream_options, { include_usage: true });
    assert.equal(response.body.toString(), editedStream(Buffer.from(whole.join('')), { alias, engine, hideUsage: true }).toString());
    assert.deepEqual([record.outcome, record.prompt_tokens, record.completion_tokens, record.cached_tokens, record.reasoning_tokens, record.delivered_tokens, record.events],
      ['ok', 11, 7, 8, 2, 7, 3]);
    assert.ok(record.ttft_ms > 0 && record.first_visible_ms > 0);
  });
}

test('metrics carry the endpoint\'s name', async () => {
  const labels = { endpoint: 'completions', stream: 'true', status: '200' };
  const before_ = (await gateway.metrics()).sum('weir_requests_total', labels);
  await stream(whole);
  assert.equal((await gateway.metrics()).sum('weir_requests_total', labels), before_ + 1);
  assert.ok((await gateway.metrics()).sum('weir_tokens_total', { endpoint: 'completions', kind: 'completion' }) >= 7);
});

// --- usage in every form ------------------------------------------------------------------------------------------

const counted = (text, n, reason) => piece(text, { reason, root: `,${usageOf(5, n)}` });
const usageForms = [
  { name: 'in its own event', events: [piece('a'), finish, event(`{${base},"choices":[],${usageOf(5, 4)}}`), done], told: [5, 4, 'engine'] },
  { name: 'in the last content event', events: [piece('a'), counted('b', 4, '"stop"'), done], told: [5, 4, 'engine'] },
  { name: 'in every event: the last one counts', events: [counted('a', 1), counted('b', 3), counted('', 4, '"length"'), done], told: [5, 4, 'engine'] },
  { name: 'null in every event but the last', events: [piece('a', { root: ',"usage":null' }), piece('', { reason: '"stop"', root: ',"usage":null' }), event(`{${base},"choices":[],${usageOf(5, 4)}}`), done], told: [5, 4, 'engine'] },
  { name: 'behind null again', events: [counted('a', 4), piece('', { reason: '"stop"', root: ',"usage":null' }), done], told: [5, 4, 'engine'] },
  { name: 'missing: estimated from what was sent', events: [piece('four'), piece('four'), finish, done], told: [undefined, 2, 'estimate'] },
  { name: 'missing, and no text either: nothing is known', events: [finish, done], told: [undefined, undefined, 'none'] },
  { name: 'of wrong types: as missing', events: [piece('four'), finish, event(`{${base},"choices":[],"usage":{"prompt_tokens":"5","completion_tokens":-4,"total_tokens":null}}`), done], told: [undefined, 1, 'estimate'] },
  { name: 'an array: as missing', events: [piece('four'), finish, event(`{${base},"choices":[],"usage":[5,4]}`), done], told: [undefined, 1, 'estimate'] },
  { name: 'of the prompt alone', events: [piece('four'), finish, event(`{${base},"choices":[],"usage":{"prompt_tokens":5}}`), done], told: [5, 1, 'estimate'] },
];
for (const { name, events, told } of usageForms) {
  test(`usage ${name}`, async () => {
    const { response, record } = await stream(events);
    assert.equal(response.complete, true);
    assert.deepEqual([record.prompt_tokens, record.completion_tokens, record.usage_source], told);
    assert.equal(record.outcome, 'ok');
  });
}

const wholeUsage = [
  { name: 'missing: estimated', more: '', told: [undefined, 2, 'estimate'] },
  { name: 'null: estimated', more: ',"usage":null', told: [undefined, 2, 'estimate'] },
  { name: 'of floats: estimated', more: ',"usage":{"prompt_tokens":5.0,"completion_tokens":4.5}', told: [undefined, 2, 'estimate'] },
  { name: 'with details', more: `,${usageOf(9, 4, details)}`, told: [9, 4, 'engine', 8, 2] },
];
for (const { name, more, told } of wholeUsage) {
  test(`usage of a whole answer ${name}`, async () => {
    const { record } = await ask(jsonAnswer(200, `{${base},"choices":[{"index":0,"text":"eightchr","finish_reason":"stop"}]${more}}`));
    const [prompt, completion, source, cached, reasoning] = told;
    assert.deepEqual([record.prompt_tokens, record.completion_tokens, record.usage_source, record.cached_tokens, record.reasoning_tokens],
      [prompt, completion, source, cached, reasoning]);
  });
}

test('continuous_usage_stats is the client\'s: the option is joined, every event\'s usage passes', async () => {
  const events = [counted('a', 2), counted('b', 4, '"stop"'), event(`{${base},"choices":[],${usageOf(5, 4)}}`), done];
  const { response, sent, record } = await stream(events, { stream_options: { include_usage: true, continuous_usage_stats: true } });
  assert.equal(sent.body.toString(), JSON.stringify({ ...request({ stream: true, stream_options: { include_usage: true, continuous_usage_stats: true } }).body, prompt: 'The old' })
    .replace(alias, model));
  assert.equal(response.body.toString(), editedStream(Buffer.from(events.join('')), { alias, engine }).toString());
  assert.equal(record.completion_tokens, 4);
});

// --- several choices ----------------------------------------------------------------------------------------------

const choice = (index, reason = 'null') => piece('x', { index, reason });
test('n = 2 and two prompts: complete only when all four choices have finished', async () => {
  const body = { prompt: ['a', 'b'], n: 2 };
  const three = [0, 1, 2].map((index) => choice(index, '"stop"'));
  const cut = await stream(three, body);
  checkBrokenStream(cut.response);
  assert.equal(cut.record.outcome, 'truncated');
  const all = await stream([...three, choice(3, '"length"')], body);
  assert.deepEqual([all.record.outcome, all.record.finish_reason], ['ok', 'length']);
});

test('a hundred prompts: the last choice still counts', async () => {
  const body = { prompt: Array.from({ length: 100 }, (_, index) => `p${index}`) };
  const finished = body.prompt.map((_, index) => choice(index, '"stop"'));
  const cut = await stream(finished.slice(0, 99), body);
  checkBrokenStream(cut.response);
  assert.equal((await stream(finished, body)).record.outcome, 'ok');
});

test('several sequences side by side have no time per output token', async () => {
  const paced = async (events, body) => {
    upstream.answer(async (exchange) => {
      await exchange.write(Buffer.concat([streamHead(), chunk(events[0])]));
      await new Promise((resolve) => { setTimeout(resolve, 15); });
      await exchange.write(Buffer.concat([...events.slice(1).map(chunk), lastChunk]));
    });
    const response = await gateway.send(request({ stream: true, ...body }));
    return gateway.recordOf(response.header('x-request-id'));
  };
  const one = await paced(whole, {});
  assert.ok(one.tpot_ms > 1, `${one.tpot_ms}`);
  const two = await paced([choice(0), choice(1), choice(0, '"stop"'), choice(1, '"stop"'), usage, done], { n: 2 });
  assert.deepEqual([two.tpot_ms, two.completion_tokens, two.delivered_tokens], [undefined, 7, 7]);
  // As told in the events: four of the seven tokens came first.
  const told = await paced([counted('a', 4), counted('b', 7, '"stop"'), event(`{${base},"choices":[],${usageOf(5, 7)}}`), done], {});
  const plain = (told.tpot_ms * 3);
  assert.ok(plain > 10, `three tokens in at least 10 ms, not six: ${told.tpot_ms}`);
  const ids = await paced([piece('', { more: ',"token_ids":[1,2,3]' }), piece('', { more: ',"token_ids":[4]' }), finish, usage, done], {});
  assert.deepEqual([ids.events, ids.first_visible_ms], [2, undefined], 'ids without text are output that nobody sees');
  assert.ok(ids.ttft_ms > 0 && ids.tpot_ms * 4 > 10, `${ids.tpot_ms}`);
});

test('best_of: candidates that nobody gets are not delivered', async () => {
  const text = `{${base},"choices":[{"index":0,"text":"eightchr","finish_reason":"stop"}],${usageOf(3, 50)}}`;
  const { record } = await ask(jsonAnswer(200, text), { best_of: 5 });
  assert.deepEqual([record.completion_tokens, record.delivered_tokens, record.features], [50, 2, ['best_of']]);
});

test('two choices at llama.cpp, whose usage is that of one: every event was delivered', async () => {
  const timings = ',"timings":{"cache_n":1,"prompt_n":2,"predicted_n":3,"draft_n":4,"draft_n_accepted":2}';
  const events = [0, 1, 0, 1].map((index) => choice(index)).concat(piece('y', { index: 0, reason: '"stop"' }), piece('y', { index: 1, reason: '"stop"', root: timings }), done);
  const { response, record } = await stream(events, { model: 'llama', n: 2 });
  assert.equal(response.body.toString(), editedStream(Buffer.from(events.join('')), { alias: 'llama' }).toString(), 'timings are the engine\'s own');
  assert.deepEqual([record.completion_tokens, record.delivered_tokens, record.events, record.prompt_tokens, record.cached_tokens, record.spec.accepted],
    [3, 6, 6, 3, 1, 2]);
  assert.equal(JSON.parse(upstream.requests[0].request.body).stream_options, undefined, 'llama.cpp is not asked for usage');
});

// --- refusals -----------------------------------------------------------------------------------------------------

const refusals = [
  { name: 'a prompt that is a number', body: { prompt: 7 }, expected: { status: 400, reason: 'invalid_request', param: 'prompt' } },
  { name: 'prompts of a wrong kind', body: { prompt: ['x', null] }, expected: { status: 400, reason: 'invalid_request', param: 'prompt' } },
  { name: 'more ids than the alias has room for', body: { prompt: Array(101).fill(5) }, expected: { status: 400, reason: 'context_length_exceeded' } },
  { name: 'ids and output that do not fit together', body: { prompt: [[1], Array(60).fill(5)], max_tokens: 41 }, expected: { status: 400, reason: 'context_length_exceeded' } },
  { name: 'an unknown model', body: { model: 'nowhere' }, expected: { status: 404, reason: 'model_not_found', param: 'model' } },
];
for (const { name, body, expected } of refusals) {
  test(`refused: ${name}`, async () => {
    upstream.answerWith(jsonAnswer(200, answer));
    await expectRefusal(gateway, expected, () => gateway.send(request(body)));
    assert.equal(upstream.requests.length, 0, 'nothing reached an engine');
  });
}

test('ids that just fit, and ids that the engine is asked to cut, are admitted', async () => {
  assert.equal((await ask(jsonAnswer(200, answer), { prompt: Array(60).fill(5), max_tokens: 40 })).response.status, 200);
  assert.equal((await ask(jsonAnswer(200, answer), { prompt: Array(500).fill(5), truncate_prompt_tokens: 50 })).response.status, 200);
});

test('an alias that does not name an endpoint does not answer it', async () => {
  for (const other of ['/v1/chat/completions', '/v1/embeddings', '/tokenize'])
    await expectRefusal(gateway, { status: 404, reason: 'endpoint_not_supported', param: 'model' },
      () => gateway.send({ target: other, body: { model: alias, messages: [], input: 'x', prompt: 'x' }, key: secrets.plain }));
});

test('an engine\'s own 400 passes, once', async () => {
  upstream.answerWith(jsonAnswer(400, { error: { message: 'suffix is not currently supported', type: 'BadRequestError', param: null, code: 400 } }));
  await expectRefusal(gateway, { status: 400, reason: 'upstream_rejected', message: /suffix/ }, () => gateway.send(request({ suffix: 'end' })));
  assert.equal(upstream.requests.length, 1);
});

// --- failures -----------------------------------------------------------------------------------------------------

const failures = {
  'a reset': async (exchange) => { exchange.reset(); },
  'a 500': async (exchange) => { await exchange.write(jsonAnswer(500, { error: { message: 'x' } })); },
  'an error as the first event': async (exchange) => { await exchange.write(streamOf([event('{"error":{"message":"boom","code":500}}'), done])); },
  'an empty first text, then the end': async (exchange) => { await exchange.write(Buffer.concat([streamHead(), chunk(piece(''))])); exchange.fin(); },
  'an answer that is no stream': async (exchange) => { await exchange.write(jsonAnswer(200, answer)); },
};
for (const [name, failure] of Object.entries(failures)) {
  test(`another replica answers after ${name}`, async () => {
    let asked = 0;
    for (const replica of [upstream, second])
      replica.answer((exchange) => { asked += 1; return asked === 1 ? failure(exchange) : exchange.write(streamOf(whole)); });
    const response = await gateway.send(request({ model: 'two-replicas', stream: true }));
    assert.equal(response.body.toString(), editedStream(Buffer.from(whole.join('')), { alias: 'two-replicas', engine, hideUsage: true }).toString());
    const record = await gateway.recordOf(response.header('x-request-id'));
    assert.deepEqual([record.outcome, record.attempts.length, asked], ['ok', 2, 2]);
  });
}

test('nothing is repeated once text has left: an error event, truncated', async () => {
  let asked = 0;
  for (const replica of [upstream, second])
    replica.answer(async (exchange) => { asked += 1; await exchange.write(Buffer.concat([streamHead(), chunk(piece('a'))])); exchange.fin(); });
  const response = await gateway.send(request({ model: 'two-replicas', stream: true }));
  checkBrokenStream(response, { reason: 'upstream_error' });
  const record = await gateway.recordOf(response.header('x-request-id'));
  assert.deepEqual([record.outcome, record.usage_source, record.delivered_tokens, asked], ['truncated', 'estimate', 1, 1]);
});

test('an error event after text: ours follows, the engine\'s [DONE] is dropped', async () => {
  const { response, record } = await stream([piece('a'), event('{"error":{"message":"EngineCore died","code":500}}'), done]);
  checkBrokenStream(response, { reason: 'upstream_error' });
  assert.equal(record.outcome, 'upstream_failed');
});

test('a stall after text: the idle timer\'s error event', async () => {
  upstream.answer(async (exchange) => {
    await exchange.write(Buffer.concat([streamHead(), chunk(piece('a'))]));
    await exchange.untilClosed();
  });
  checkBrokenStream(await gateway.send(request({ stream: true })), { reason: 'upstream_timeout_idle' });
});

test('no text in time: 504', async () => {
  upstream.answer(async (exchange) => {
    await exchange.write(Buffer.concat([streamHead(), chunk(piece(''))]));
    await exchange.untilClosed();
  });
  checkRefusal(await gateway.send(request({ stream: true })), { status: 504, reason: 'upstream_timeout_first_token' });
});

test('a client that leaves in mid-stream: the engine is told at once', async () => {
  upstream.answer(async (exchange) => {
    await exchange.write(Buffer.concat([streamHead(), chunk(piece('a'))]));
    await exchange.untilClosed();
  });
  const connection = await gateway.open(request({ stream: true }));
  await connection.readResponse({ method: 'POST', until: (reader) => reader.pieces.length > 0 });
  connection.close();
  await upstream.requests[0].untilClosed(1000);
  const id = upstream.requests[0].request.header('x-request-id').replace(/-1$/, '');
  const record = await gateway.recordOf(id);
  assert.deepEqual([record.outcome, record.endpoint, record.delivered_tokens], ['client_closed', 'completions', 1]);
});
