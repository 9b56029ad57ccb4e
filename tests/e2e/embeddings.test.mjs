// POST /v1/embeddings and /tokenize: bytes both ways, what engines would ignore, counts, refusals, failures. Shapes of
// the engines: facts/engines.md sections 2.2 and 5.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { aliasOf, pool, secrets, tenant, upstreamModel as model } from './harness/config.mjs';
import { checkHeaders, checkServerTiming, editedJson } from './harness/contract.mjs';
import { deliveries } from './harness/deliveries.mjs';
import { Gateway } from './harness/gateway.mjs';
import { makeRandom } from './harness/random.mjs';
import { expectRefusal } from './harness/refusals.mjs';
import { chunk, httpMessage, jsonAnswer, lastChunk, Upstream } from './harness/upstream.mjs';
import { stopAll } from './harness/wait.mjs';

const endpoints = ['embeddings', 'tokenize'];
const engines = ['vllm', 'sglang', 'llamacpp', 'openai'];
const random = makeRandom();
let upstream;
let gateway;
before(async () => {
  upstream = await Upstream.start();
  const config = { pools: {}, aliases: {}, tenants: {} };
  for (const engine of engines) {
    config.pools[engine] = pool(upstream.url, { engine, capabilities: { endpoints, context: 500 }, timeouts: { idle: '400ms' } });
    config.aliases[engine] = aliasOf([engine], { endpoints, features: [], context: 500 });
  }
  config.aliases.any = aliasOf(engines, { endpoints, features: [] });
  config.pools.generating = pool(upstream.url);
  config.aliases.chat = aliasOf(['generating'], { features: [] });
  config.tenants.acme = tenant([...engines, 'any', 'chat']);
  gateway = await Gateway.start(config);
});
after(() => stopAll(gateway, upstream));

const vector = (length) => Array.from({ length }, () => (random.next() * 2 - 1).toExponential(6));
const listOf = (embeddings, more = `"usage":{"prompt_tokens":6,"total_tokens":6,"completion_tokens":0,"prompt_tokens_details":null}`) => `{"id":"embd-1","object":"list",`
  + `"created":1790000000,"model":"${model}","data":[${embeddings.map((embedding, index) => `{"index":${index},"object":"embedding","embedding":${embedding}}`)}],${more}}`;
const floats = listOf([`[${vector(64)}]`, '[ 1e-7,-0.0, 0.10000000000000001]']);
const base64 = listOf([JSON.stringify(Buffer.from(new Float32Array([0.5, -1, 3e-9]).buffer).toString('base64')), '"AACAPw\\/\\u003d="']);

async function ask(target, body, { engine = 'vllm', bytes, key = secrets.plain } = {}) {
  upstream.answer(bytes instanceof Function ? bytes : (exchange) => exchange.write(bytes));
  const text = typeof body === 'string' ? body : JSON.stringify({ model: engine, ...body });
  const response = await gateway.send({ target, body: text, key });
  return { text, response, record: await gateway.recordOf(response.header('x-request-id')), sent: upstream.requests };
}

// --- embeddings ---------------------------------------------------------------------------------------------------

const inputs = ['"x"', '["x", "naïve \\ud83d\\ude42"]', '[1, 2,3]', '[[1,2],[3]]'];
for (const input of inputs) {
  test(`the input reaches the engine byte for byte: ${input}`, async () => {
    const text = `{"input" : ${input}, "dimensions":1.0e2,"model" :"vllm", "user":"u", "stream":"what is that?"}`;
    const { response, sent } = await ask('/v1/embeddings', text, { bytes: jsonAnswer(200, floats) });
    assert.equal(response.status, 200, response.body.toString());
    assert.equal(sent[0].request.body.toString(), text.replace('"vllm"', `"${model}"`));
    assert.deepEqual([sent[0].request.target, sent[0].request.header('accept')], ['/v1/embeddings', 'application/json']);
  });
}

for (const [form, text] of Object.entries({ floats, base64 })) {
  for (const [way, cut] of Object.entries(deliveries)) {
    test(`${form}, ${way}: every byte but the model's name is the engine's`, async () => {
      for (const response_ of [jsonAnswer(200, text), chunked(text)]) {
        const pieces = cut({ response: response_, pieces: [response_] });
        const { response, record } = await ask('/v1/embeddings', { input: ['a', 'b'], encoding_format: form === 'base64' ? 'base64' : 'float' },
          { bytes: (exchange) => exchange.writePieces(pieces) });
        assert.equal(response.body.toString(), editedJson(text, { alias: 'vllm', engine: 'vllm' }));
        assert.equal(response.header('content-length'), String(response.body.length));
        checkHeaders(response);
        checkServerTiming(response);
        assert.deepEqual([record.endpoint, record.outcome, record.stream, record.usage_source, record.prompt_tokens, record.completion_tokens],
          ['embeddings', 'ok', false, 'engine', 6, 0]);
        assert.deepEqual([record.ttft_ms, record.tpot_ms, record.events, record.finish_reason], [undefined, undefined, undefined, undefined]);
      }
    });
  }
}

function chunked(text) {
  const half = Math.floor(text.length / 2);
  return Buffer.concat([httpMessage('HTTP/1.1 200 OK', { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' }),
    chunk(text.slice(0, half)), chunk(text.slice(half)), lastChunk]);
}

test('a large batch comes whole', async () => {
  const large = listOf(Array.from({ length: 64 }, () => `[${vector(2048)}]`));
  assert.ok(large.length > 1.5e6);
  const { response } = await ask('/v1/embeddings', { input: Array(64).fill('text') }, { bytes: jsonAnswer(200, large) });
  assert.equal(response.body.toString(), editedJson(large, { alias: 'vllm', engine: 'vllm' }));
});

const usages = [
  { name: 'of the prompt alone', more: '"usage":{"prompt_tokens":6,"total_tokens":6}', told: [6, undefined, 'engine'] },
  { name: 'null', more: '"usage":null', told: [undefined, undefined, 'none'] },
  { name: 'missing', more: '"n":1', told: [undefined, undefined, 'none'] },
  { name: 'of a wrong type', more: '"usage":{"prompt_tokens":"6"}', told: [undefined, undefined, 'none'] },
];
for (const { name, more, told } of usages) {
  test(`usage ${name}: what is not told is absent, and nothing is estimated`, async () => {
    const { response, record } = await ask('/v1/embeddings', { input: 'x' }, { bytes: jsonAnswer(200, listOf(['[1,2]'], more)) });
    assert.equal(response.status, 200);
    assert.deepEqual([record.prompt_tokens, record.completion_tokens, record.usage_source], told);
    assert.equal(record.delivered_tokens, undefined);
  });
}

// --- tokenize -----------------------------------------------------------------------------------------------------

const counts = '{"count":4,"max_model_len":500,"tokens":[1,2,3,4],"token_strs":null}';
const forms = { prompt: { prompt: 'four tokens' }, messages: { messages: [{ role: 'user', content: 'x' }] }, content: { content: 'four tokens' } };
const formsOf = { vllm: ['prompt', 'messages'], sglang: ['prompt'], llamacpp: ['content'], openai: ['prompt', 'messages', 'content'] };
for (const engine of engines) {
  for (const [form, body] of Object.entries(forms)) {
    const taken = formsOf[engine].includes(form);
    test(`tokenize by ${form} at ${engine}: ${taken ? 'passes' : 'refused, as it would not be honoured'}`, async () => {
      if (!taken) {
        upstream.answerWith(jsonAnswer(200, '{"tokens":[]}'));
        await expectRefusal(gateway, { status: 400, reason: 'unsupported_parameter', param: `tokenize.${form}` },
          () => gateway.send({ target: '/tokenize', body: { model: engine, ...body }, key: secrets.plain }));
        assert.equal(upstream.requests.length, 0);
        return;
      }
      const { response, record, sent, text } = await ask('/tokenize', body, { engine, bytes: jsonAnswer(200, counts) });
      assert.equal(response.body.toString(), counts, 'the answer names no model: it passes as it is');
      assert.equal(sent[0].request.body.toString(), text.replace(`"${engine}"`, `"${model}"`));
      assert.equal(sent[0].request.target, '/tokenize');
      assert.deepEqual([record.endpoint, record.outcome, record.usage_source, record.prompt_tokens, record.completion_tokens, record.pool],
        ['tokenize', 'ok', 'none', undefined, undefined, engine]);
    });
  }
}

test('detokenize belongs to tokenize: any engine, byte for byte', async () => {
  for (const engine of engines) {
    const { response, record, sent, text } = await ask('/detokenize', { tokens: [1, 22, 333] }, { engine, bytes: jsonAnswer(200, '{"prompt":"four tokens"}') });
    assert.equal(response.body.toString(), '{"prompt":"four tokens"}');
    assert.deepEqual([sent[0].request.target, sent[0].request.body.toString()], ['/detokenize', text.replace(`"${engine}"`, `"${model}"`)]);
    assert.deepEqual([record.endpoint, record.outcome, record.features ?? []], ['tokenize', 'ok', []]);
  }
  await expectRefusal(gateway, { status: 404, reason: 'endpoint_not_supported', param: 'model' },
    () => gateway.send({ target: '/detokenize', body: { model: 'chat', tokens: [1] }, key: secrets.plain }));
});

test('of several engines one that knows the form is chosen', async () => {
  for (let i = 0; i < 8; i += 1) {
    const { record } = await ask('/tokenize', forms.content, { engine: 'any', bytes: jsonAnswer(200, counts) });
    assert.ok(['llamacpp', 'openai'].includes(record.pool), record.pool);
    assert.deepEqual(record.decision.excluded, { vllm: 'parameter_unsupported:tokenize.content', sglang: 'parameter_unsupported:tokenize.content' });
  }
});

// --- features -----------------------------------------------------------------------------------------------------

const features = [
  { body: { encoding_format: 'base64' }, name: 'encoding_format', not: ['sglang'] },
  { body: { dimensions: 256 }, name: 'dimensions', not: ['llamacpp'] },
];
for (const { body, name, not } of features) {
  for (const engine of engines) {
    test(`${name} at ${engine}: ${not.includes(engine) ? 'refused, as it would be ignored' : 'passes'}`, async () => {
      upstream.answerWith(jsonAnswer(200, floats));
      const act = () => gateway.send({ target: '/v1/embeddings', body: { model: engine, input: 'x', ...body }, key: secrets.plain });
      if (!not.includes(engine)) return assert.equal((await act()).status, 200);
      return expectRefusal(gateway, { status: 400, reason: 'unsupported_parameter', param: name }, act);
    });
  }
}

// --- refusals and failures ----------------------------------------------------------------------------------------

const refusals = [
  { name: 'an input of a wrong type', body: { model: 'vllm', input: 7 }, expected: { status: 400, reason: 'invalid_request', param: 'input' } },
  { name: 'an encoding that is bytes, not JSON', body: { model: 'vllm', input: 'x', encoding_format: 'bytes' }, expected: { status: 400, reason: 'invalid_request', param: 'encoding_format' } },
  { name: 'two inputs', body: '{"model":"vllm","input":"x","input":"y"}', expected: { status: 400, reason: 'invalid_json' } },
  { name: 'more ids than fit', body: { model: 'vllm', input: [[1], Array(501).fill(2)] }, expected: { status: 400, reason: 'context_length_exceeded' } },
  { name: 'an alias that only chats', body: { model: 'chat', input: 'x' }, expected: { status: 404, reason: 'endpoint_not_supported', param: 'model' } },
  { name: 'an unknown model', body: { model: 'nowhere', input: 'x' }, expected: { status: 404, reason: 'model_not_found', param: 'model' } },
];
for (const { name, body, expected } of refusals) {
  test(`refused: ${name}`, async () => {
    upstream.answerWith(jsonAnswer(200, floats));
    await expectRefusal(gateway, expected, () => gateway.send({ target: '/v1/embeddings', body, key: secrets.plain }));
    assert.equal(upstream.requests.length, 0, 'nothing reached an engine');
  });
}

test('no key, no embeddings', async () => {
  await expectRefusal(gateway, { status: 401, reason: 'invalid_api_key', recorded: false },
    () => gateway.send({ target: '/v1/embeddings', body: { model: 'vllm', input: 'x' } }));
  await expectRefusal(gateway, { status: 401, reason: 'invalid_api_key', recorded: false },
    () => gateway.send({ target: '/tokenize', body: { model: 'vllm', prompt: 'x' } }));
});

const failures = [
  { name: 'an answer that is no object', bytes: jsonAnswer(200, '[1,2]'), expected: { status: 502, reason: 'upstream_protocol' } },
  { name: 'an answer cut short', bytes: async (exchange) => { await exchange.write(jsonAnswer(200, floats).subarray(0, 300)); exchange.fin(); }, expected: { status: 502, reason: 'upstream_error' } },
  { name: 'an error in a 200', bytes: jsonAnswer(200, { error: { message: 'boom' } }), expected: { status: 502, reason: 'upstream_error' } },
  { name: 'a full engine', bytes: jsonAnswer(429, { error: { message: 'full' } }), expected: { status: 429, reason: 'upstream_saturated' } },
];
for (const { name, bytes, expected } of failures) {
  test(`failed: ${name}`, async () => {
    upstream.answer(bytes instanceof Function ? bytes : async (exchange) => { await exchange.write(bytes); });
    await expectRefusal(gateway, { ...expected, outcome: 'upstream_failed' },
      () => gateway.send({ target: '/v1/embeddings', body: { model: 'vllm', input: 'x' }, key: secrets.plain }));
  });
}

test('a client that leaves while the engine works: the engine is told', async () => {
  upstream.answer((exchange) => exchange.untilClosed());
  const connection = await gateway.open({ target: '/v1/embeddings', body: { model: 'vllm', input: 'x' }, key: secrets.plain });
  while (upstream.requests.length === 0) await new Promise(setImmediate);
  connection.close();
  await upstream.requests[0].untilClosed(1000);
  const record = await gateway.recordOf(upstream.requests[0].request.header('x-request-id').replace(/-1$/, ''));
  assert.deepEqual([record.outcome, record.status], ['client_closed', 499]);
});
