// Recorded traffic of a real engine through the gateway, in three ways: with the recorded read boundaries, byte by
// byte, and cut at random. What the client and the record must get is derived from the recording (harness/contract.mjs).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { alias, oneAlias, secrets, chatBody } from './harness/config.mjs';
import { checkHeaders, checkServerTiming, editedJson, editedStream, endpointOf, recordedFacts } from './harness/contract.mjs';
import { deliveries } from './harness/deliveries.mjs';
import { Gateway } from './harness/gateway.mjs';
import { seed } from './harness/random.mjs';
import { loadConversation, loadRecording } from './harness/recordings.mjs';
import { Upstream } from './harness/upstream.mjs';
import { stopAll } from './harness/wait.mjs';

const names = [
  '07-chat-nonstream-base', '08-chat-nonstream-spec', '09-chat-stream-usage-base', '10-chat-stream-usage-spec',
  '11-chat-stream-nousage-spec-eos', '13-chat-stream-logprobs-spec', '14-chat-nonstream-logprobs-spec',
  '16-chat-nonstream-n2-spec', '17-chat-stream-stopstr-spec', '19-chat-nonstream-logprobs-base',
  '20-chat-stream-tool-required-not-forced-spec', '22-chat-nonstream-tool-call-spec', '23-chat-stream-tool-call-base',
  '25-chat-stream-tool-call-parallel-spec', '26-chat-stream-tool-truncated-spec', '28-chat-stream-reasoning-spec',
  '29-chat-nonstream-reasoning-spec', '31-chat-stream-prefill-echo-spec', '37-chat-stream-sse-ping-spec',
  '38-chat-stream-ctx-limit-midgen-spec', '50-ok-unknown-field', '51-ok-wrong-model', '52-ok-no-model',
  '67-http10-chat-stream', '68-expect-100', '70-keepalive-pipelined-two', '91-auth-ok',
  '32-completions-stream-emoji-spec', '34-completions-stream-emoji-cut-midchar-spec',
  '35-completions-nonstream-emoji-cut-midchar-spec', '40-completions-stream-spec', '41-completions-nonstream-spec',
  '110-embeddings-float', '111-embeddings-base64', '112-embeddings-batch', '113-embeddings-tokens',
  '114-tokenize', '115-tokenize-pieces', '116-detokenize',
];
const recordings = [
  ...names.map(loadRecording),
  ...loadConversation('sdk-001').slice(1), ...loadConversation('sdk-003'), ...loadConversation('sdk-tool-001'),
  ...loadConversation('sdk-005').slice(0, 1),
];

let upstream;
let gateway;
before(async () => {
  console.log(`# random splits: WEIR_TEST_SEED=${seed}`);
  upstream = await Upstream.start();
  const endpoints = ['chat.completions', 'completions', 'embeddings', 'tokenize'];
  gateway = await Gateway.start(oneAlias(upstream.url, { pool: { capabilities: { endpoints } }, alias: { endpoints } }));
});
after(() => stopAll(gateway, upstream));

// The recorded request as a client of the gateway sends it, with the alias in the place of the model;
// undefined when the recording's request names no model of its own.
function recordedRequest(recording) {
  const text = recording.request.body.toString('utf8');
  const match = /"model": ?"harbor-mid"/.exec(text);
  if (match === null) return undefined;
  const named = match[0].replace('harbor-mid', alias);
  return text.slice(0, match.index) + named + text.slice(match.index + match[0].length);
}

async function replay(recording, pieces, { key }) {
  const closes = /^connection: close/im.test(recording.rawHead);
  upstream.answer(async (exchange) => {
    await exchange.writePieces(pieces);
    if (closes) exchange.fin();
  });
  const body = recordedRequest(recording) ?? JSON.stringify(chatBody({ stream: recording.stream }));
  const response = await gateway.send({ target: endpointOf(recording).path, body, key });
  return { body, response, exchange: await upstream.request() };
}

function checkAnswer(recording, response, { debug }) {
  assert.equal(response.status, recording.status, response.body.toString());
  assert.equal(response.complete, true);
  checkHeaders(response, { debug });
  checkServerTiming(response);
  const mediaType = (message) => message.header('content-type').split(';')[0];
  assert.equal(mediaType(response), mediaType(recording));
  const expected = recording.stream ? editedStream(recording.body, { alias, debug })
    : Buffer.from(editedJson(recording.body.toString('utf8'), { alias, debug }));
  assert.equal(response.body.toString('utf8'), expected.toString('utf8'));
  assert.deepEqual(response.body, expected);
  if (!recording.stream) assert.equal(response.header('content-length'), String(expected.length));
}

async function checkRecord(recording, response, exchange) {
  const record = await gateway.recordOf(response.header('x-request-id'));
  const facts = recordedFacts(recording);
  const told = {
    prompt_tokens: record.prompt_tokens, completion_tokens: record.completion_tokens, cached_tokens: record.cached_tokens,
    finish_reason: record.finish_reason, drafted: record.spec?.drafted, accepted: record.spec?.accepted, events: record.events,
  };
  if (!recording.stream) delete told.events;
  const unknown = Object.fromEntries(Object.keys(told).map((name) => [name, undefined]));   // absent, never 0
  assert.deepEqual(told, { ...unknown, ...facts });
  assert.equal(record.spec?.source, facts.drafted === undefined ? undefined : 'engine');
  const { status, outcome, usage_source, stream, endpoint, tenant, key, pool } = record;
  assert.deepEqual({ status, outcome, usage_source, stream, endpoint, tenant, pool },
    { status: 200, outcome: 'ok', usage_source: facts.prompt_tokens === undefined ? 'none' : 'engine', stream: recording.stream, endpoint: endpointOf(recording).name, tenant: 'acme', pool: 'main' });
  assert.ok(['plain', 'debug'].includes(key));
  assert.equal(record.attempts.length, 1);
  assert.equal(record.attempts[0].outcome, 'ok');
  assert.equal(record.attempts[0].engine_request_id, exchange.request.header('x-request-id'));
  assert.equal(record.reason, undefined, 'a success has no reason');
  checkTimes(recording, record, facts);
}

function checkTimes(recording, record, facts) {
  assert.ok(record.duration_ms > 0);
  const timed = recording.stream && facts.events > 0;
  for (const name of ['ttft_ms', 'upstream_ttft_ms']) assert.equal(record[name] !== undefined, timed, `${name} is there exactly for streams`);
  if (!timed) return;
  assert.ok(record.ttft_ms > 0 && record.ttft_ms <= record.duration_ms, `ttft ${record.ttft_ms} of ${record.duration_ms}`);
  assert.ok(record.upstream_ttft_ms <= record.ttft_ms + 0.001, 'the engine\'s part is no more than the whole');
}

for (const [way, cut] of Object.entries(deliveries)) {
  for (const recording of recordings) {
    const pieces = cut(recording);
    if (pieces === undefined) continue;
    test(`${recording.name}, ${way}`, async () => {
      const { body, response, exchange } = await replay(recording, pieces, { key: secrets.plain });
      checkAnswer(recording, response, { debug: false });
      assert.equal(exchange.request.target, endpointOf(recording).path);
      assert.equal(exchange.request.body.toString(), body.replace(alias, 'harbor-mid'), 'the engine gets the recorded request, byte for byte');
      assert.equal(upstream.requests.length, 1, 'one attempt');
      await checkRecord(recording, response, exchange);
    });
  }
}

for (const recording of recordings) {
  test(`${recording.name}, for a caller with debug: private members stay`, async () => {
    const { response, exchange } = await replay(recording, [recording.response], { key: secrets.debug });
    checkAnswer(recording, response, { debug: true });
    await checkRecord(recording, response, exchange);
  });
}
