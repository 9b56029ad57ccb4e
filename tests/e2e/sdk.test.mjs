// The official OpenAI SDK as a client, without retries: answers, streams, tools, errors as its own classes, models.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import OpenAI from 'openai';
import { alias, aliasOf, oneAlias, secrets } from './harness/config.mjs';
import { requestIdPattern } from './harness/contract.mjs';
import { Gateway } from './harness/gateway.mjs';
import { loadConversation, loadRecording } from './harness/recordings.mjs';
import { Simulator } from './harness/sim.mjs';
import { chunk, jsonAnswer, lastChunk, streamHead, Upstream } from './harness/upstream.mjs';
import { stopAll } from './harness/wait.mjs';

let upstream;
let simulator;
let gateway;
before(async () => {
  upstream = await Upstream.start();
  simulator = await Simulator.start({ preset: 'tiny-fast-k2' });
  const config = oneAlias(upstream.url, { pool: { timeouts: { first_token: '300ms', idle: '300ms' } } });
  config.aliases[alias].endpoints.push('completions');
  config.pools.simulated = { ...config.pools.main, engine: 'vllm', replicas: [simulator.url], target: { model: simulator.model }, timeouts: undefined,
    capabilities: { endpoints: ['chat.completions', 'completions', 'embeddings', 'tokenize'] } };
  config.aliases['chat-simulated'] = aliasOf(['simulated'], { context: 4096, endpoints: ['chat.completions', 'completions', 'embeddings', 'tokenize'] });
  config.tenants.acme.aliases.push('chat-simulated');
  gateway = await Gateway.start(config);
});
after(() => stopAll(gateway, simulator, upstream));

const client = (apiKey = secrets.plain) => new OpenAI({ apiKey, baseURL: `http://127.0.0.1:${gateway.port}/v1`, maxRetries: 0 });
const messages = [{ role: 'user', content: 'Tell me a story about the harbor — s’il vous plaît 🙂' }];
const tools = [{ type: 'function', function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } } }];

function replay(name) {
  const recording = loadRecording(name);
  upstream.answer(async (exchange) => {
    await exchange.writePieces(recording.pieces);
    if (/^connection: close/im.test(recording.rawHead)) exchange.fin();
  });
  return recording;
}

test('a whole answer', async () => {
  const recording = replay('08-chat-nonstream-spec');
  const { data, response, request_id: id } = await client().chat.completions.create({ model: alias, messages }).withResponse();
  assert.equal(data.model, alias);
  assert.equal(data.choices[0].message.content, recording.json().choices[0].message.content);
  assert.equal(data.usage.completion_tokens, 48);
  assert.match(id, requestIdPattern);
  assert.equal(response.headers.get('x-request-id'), id);
});

test('a stream, with usage', async () => {
  const recording = replay('10-chat-stream-usage-spec');
  const stream = await client().chat.completions.create({ model: alias, messages, stream: true, stream_options: { include_usage: true } });
  let text = '';
  let usage;
  for await (const part of stream) {
    assert.equal(part.model, alias);
    text += part.choices[0]?.delta.content ?? '';
    usage = part.usage ?? usage;
  }
  assert.ok(text.length > 100 && recording.body.includes('slow'));
  assert.equal(usage.total_tokens, 61);
});

test('the stream helper', async () => {
  replay('11-chat-stream-nousage-spec-eos');
  const final = await client().chat.completions.stream({ model: alias, messages }).finalChatCompletion();
  assert.equal(final.choices[0].finish_reason, 'stop');
  assert.match(final.choices[0].message.content, /^The quiet letter\./);
});

test('tools, streamed and whole: the call arrives entire', async () => {
  replay('23-chat-stream-tool-call-base');
  const final = await client().chat.completions.stream({ model: alias, messages, tools }).finalChatCompletion();
  const streamed = final.choices[0].message.tool_calls[0];
  assert.equal(streamed.function.name, 'get_weather');
  assert.equal(typeof JSON.parse(streamed.function.arguments), 'object');
  replay('22-chat-nonstream-tool-call-spec');
  const whole = (await client().chat.completions.create({ model: alias, messages, tools })).choices[0];
  assert.equal(whole.finish_reason, 'tool_calls');
  assert.equal(typeof JSON.parse(whole.message.tool_calls[0].function.arguments), 'object');
});

test('a recorded SDK connection, again through the SDK', async () => {
  const [exchange] = loadConversation('sdk-tool-001').filter((candidate) => candidate.request.startLine.includes('chat'));
  upstream.answer(async (forwarded) => { await forwarded.write(exchange.response); });
  const recorded = JSON.parse(exchange.request.body);
  const final = await client().chat.completions.stream({ ...recorded, model: alias }).finalChatCompletion();
  assert.equal(final.model, alias);
  assert.ok(final.choices[0].message.tool_calls?.length > 0 || final.choices[0].message.content?.length > 0);
});

test('breaking off a stream closes it at the engine', async () => {
  upstream.answer(async (exchange) => {
    await exchange.write(Buffer.concat([streamHead(), chunk('data: {"model":"harbor-mid","choices":[{"index":0,"delta":{"content":"x"}}]}\n\n')]));
    await exchange.untilClosed();
  });
  for await (const part of await client().chat.completions.create({ model: alias, messages, stream: true })) {
    assert.equal(part.choices[0].delta.content, 'x');
    break;
  }
  await upstream.requests[0].untilClosed(1000);
});

// --- errors ---------------------------------------------------------------------------------------------------

const refusals = [
  { name: 'a wrong key', type: OpenAI.AuthenticationError, status: 401, code: 'invalid_api_key', key: 'sk-wrong' },
  { name: 'an unknown model', type: OpenAI.NotFoundError, status: 404, code: 'model_not_found', param: 'model', body: { model: 'nowhere' } },
  { name: 'a wrong type', type: OpenAI.BadRequestError, status: 400, code: 'invalid_request', body: { max_tokens: 'many' } },
  { name: 'the engine\'s 400', type: OpenAI.BadRequestError, status: 400, code: 'context_length_exceeded', recording: '48-err-context-overflow' },
  { name: 'the engine\'s 422', type: OpenAI.UnprocessableEntityError, status: 422, answer: jsonAnswer(422, { detail: 'no' }) },
  { name: 'the engine\'s 409', type: OpenAI.ConflictError, status: 409, answer: jsonAnswer(409, { error: { message: 'no' } }) },
  { name: 'the engine is full', type: OpenAI.RateLimitError, status: 429, code: 'upstream_saturated', answer: jsonAnswer(429, { error: { message: 'full' } }) },
  { name: 'the engine loads', type: OpenAI.InternalServerError, status: 503, code: 'upstream_saturated', recording: '82-loading-chat' },
  { name: 'the engine fails', type: OpenAI.InternalServerError, status: 502, code: 'upstream_error', answer: jsonAnswer(500, { error: { message: 'x' } }) },
];
for (const { name, type, status, code, param, key, body = {}, recording, answer } of refusals) {
  for (const stream of [false, true]) {
    test(`${type.name}: ${name}${stream ? ', streaming' : ''}`, async () => {
      if (recording !== undefined) replay(recording);
      else if (answer !== undefined) upstream.answerWith(answer);
      const failure = await client(key).chat.completions.create({ model: alias, messages, stream, ...body }).then(() => undefined, (error) => error);
      assert.ok(failure instanceof type, `${failure}`);
      assert.equal(failure.status, status);
      if (code !== undefined) assert.equal(failure.code, code);
      if (param !== undefined) assert.equal(failure.param, param);
      assert.match(failure.requestID, requestIdPattern);
      assert.ok(failure.message.length > 5);
    });
  }
}

test('an engine that breaks off in mid-stream is an error, not the end of an answer', async () => {
  replay('86-sigkill-midstream-spec');
  const parts = [];
  await assert.rejects(async () => {
    for await (const part of await client().chat.completions.create({ model: alias, messages, stream: true })) parts.push(part);
  }, (error) => error instanceof OpenAI.APIError && error.code === 'upstream_error');
  assert.ok(parts.length > 50, `${parts.length} parts came before it`);
});

test('a stall in mid-stream likewise', async () => {
  upstream.answer(async (exchange) => {
    await exchange.write(Buffer.concat([streamHead(), chunk('data: {"model":"harbor-mid","choices":[{"index":0,"delta":{"content":"x"}}]}\n\n')]));
    await exchange.untilClosed();
  });
  await assert.rejects(async () => {
    for await (const part of await client().chat.completions.create({ model: alias, messages, stream: true })) assert.ok(part);
  }, (error) => error instanceof OpenAI.APIError && error.code === 'upstream_timeout_idle');
});

// --- models, and a simulated engine ---------------------------------------------------------------------------

test('models.list and models.retrieve', async () => {
  const ids = [];
  for await (const model of client().models.list()) ids.push(model.id);
  assert.deepEqual(ids.sort(), [alias, 'chat-simulated'].sort());
  assert.equal((await client().models.retrieve(alias)).id, alias);
  await assert.rejects(client().models.retrieve('nowhere'), OpenAI.NotFoundError);
  await assert.rejects(client('sk-wrong').models.list(), OpenAI.AuthenticationError);
});

test('weir-sim: whole and streamed, with the usage it tells', async () => {
  const model = 'chat-simulated';
  const whole = await client().chat.completions.create({ model, messages, max_tokens: 20, ignore_eos: true });
  assert.equal(whole.model, model);
  assert.equal(whole.usage.completion_tokens, 20);
  const stream = await client().chat.completions.create({ model, messages, max_tokens: 20, ignore_eos: true, stream: true });
  const seen = { parts: 0, usage: 0, text: '' };
  for await (const part of stream) {
    assert.equal(part.model, model);
    seen.parts += 1;
    if (part.usage) seen.usage += 1;
    seen.text += part.choices[0]?.delta.content ?? '';
  }
  assert.equal(seen.usage, 0, 'the usage event that only the gateway asked for is hidden');
  assert.ok(seen.text.length > 20);
  const record = await gateway.recordWhere('the simulated stream', (candidate) => candidate.alias === model && candidate.stream);
  assert.deepEqual([record.completion_tokens, record.usage_source, record.outcome], [20, 'engine', 'ok']);
});

// --- completions, embeddings, tokens ------------------------------------------------------------------------------

test('completions: a recorded answer and a recorded stream', async () => {
  const recording = replay('41-completions-nonstream-spec');
  const whole = await client().completions.create({ model: alias, prompt: 'The old', max_tokens: 16 });
  assert.deepEqual([whole.model, whole.choices[0].text, whole.usage.completion_tokens], [alias, recording.json().choices[0].text, 16]);
  replay('40-completions-stream-spec');
  let text = '';
  let usage;
  for await (const part of await client().completions.create({ model: alias, prompt: 'The old', max_tokens: 16, stream: true })) {
    assert.equal(part.model, alias);
    text += part.choices[0]?.text ?? '';
    usage = part.usage ?? usage;
  }
  assert.equal(text, whole.choices[0].text);
  assert.equal(usage.completion_tokens, 16);
});

test('completions at weir-sim: whole and streamed, n = 2, ids', async () => {
  const model = 'chat-simulated';
  const whole = await client().completions.create({ model, prompt: 'The old harbor', max_tokens: 12, n: 2, ignore_eos: true });
  assert.deepEqual(whole.choices.map(({ index, finish_reason: reason }) => [index, reason]), [[0, 'length'], [1, 'length']]);
  assert.equal(whole.usage.completion_tokens, 24);
  const ids = await client().completions.create({ model, prompt: [5, 6, 7], max_tokens: 4, ignore_eos: true });
  assert.equal(ids.usage.prompt_tokens, 3);
  const texts = ['', ''];
  const options = { model, prompt: 'The old harbor', max_tokens: 12, n: 2, ignore_eos: true, stream: true, stream_options: { include_usage: true } };
  let usage;
  for await (const part of await client().completions.create(options)) {
    for (const choice of part.choices) texts[choice.index] += choice.text;
    usage = part.usage ?? usage;
  }
  assert.deepEqual(texts, whole.choices.map(({ text }) => text), 'the same words as in the whole answer');
  assert.equal(usage.completion_tokens, 24);
  await assert.rejects(client().completions.create({ model, prompt: 7 }), (error) => error instanceof OpenAI.BadRequestError && error.param === 'prompt');
});

test('an engine that breaks off a completion in mid-stream is an error', async () => {
  upstream.answer(async (exchange) => {
    await exchange.write(Buffer.concat([streamHead(), chunk('data: {"model":"harbor-mid","choices":[{"index":0,"text":"x"}]}\n\n')]));
    exchange.fin();
  });
  await assert.rejects(async () => {
    for await (const part of await client().completions.create({ model: alias, prompt: 'x', stream: true })) assert.ok(part);
  }, (error) => error instanceof OpenAI.APIError && error.code === 'upstream_error');
});

test('embeddings: floats, and the base64 that the SDK asks for by itself, are the same vectors', async () => {
  const model = 'chat-simulated';
  const input = ['The old harbor', 'naïve 🙂', 'The old harbor'];
  const { data: own } = await client().embeddings.create({ model, input });
  const floats = await client().embeddings.create({ model, input, encoding_format: 'float' });
  assert.equal(floats.model, model);
  assert.equal(own[0].embedding.length, 32);
  floats.data.forEach(({ embedding }, index) => embedding.forEach((value, at) => {
    assert.ok(Math.abs(value - own[index].embedding[at]) < 1e-6, `${index}, ${at}`);
  }));
  assert.deepEqual(own[0].embedding, own[2].embedding);
  const raw = await client().embeddings.create({ model, input: 'x', encoding_format: 'base64', dimensions: 8 });
  assert.equal(Buffer.from(raw.data[0].embedding, 'base64').length, 32);
  const record = await gateway.recordWhere('the vectors', (candidate) => candidate.endpoint === 'embeddings' && candidate.features?.includes('dimensions'));
  assert.deepEqual([record.usage_source, record.prompt_tokens, record.outcome], ['engine', 1, 'ok']);
  await assert.rejects(client().embeddings.create({ model: alias, input: 'x' }),
    (error) => error instanceof OpenAI.NotFoundError && error.code === 'endpoint_not_supported');
});

test('tokenize agrees with the usage of a chat', async () => {
  const model = 'chat-simulated';
  const ask = (body) => gateway.send({ target: '/tokenize', body: { model, ...body }, key: secrets.plain });
  const counted = (await ask({ messages })).json();
  const { usage } = await client().chat.completions.create({ model, messages, max_tokens: 1 });
  assert.deepEqual([counted.count, counted.tokens.length], [usage.prompt_tokens, usage.prompt_tokens]);
  assert.equal((await ask({ prompt: 'eight ch' })).json().count, 2);
});
