// Recorded failures of a real engine: errors before an answer, answers that end in the middle, no answer at all.
// Each case has a gateway of its own, so that no case can spoil a replica's health for another.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { alias, chat, oneAlias, secrets } from './harness/config.mjs';
import { checkBrokenStream, checkHeaders, checkRefusal, editedStream, recordedFacts } from './harness/contract.mjs';
import { Gateway } from './harness/gateway.mjs';
import { loadConversation, loadRecording } from './harness/recordings.mjs';
import { Upstream } from './harness/upstream.mjs';
import { stopAll } from './harness/wait.mjs';

let upstream;
before(async () => { upstream = await Upstream.start(); });
after(() => stopAll(upstream));

async function withReplay(recording, stream, body, configuration = {}, request = (stream_) => chat({ stream: stream_ })) {
  upstream.answer(async (exchange) => {
    await exchange.writePieces(recording.pieces);
    exchange.fin();
  });
  const gateway = await Gateway.start(oneAlias(upstream.url, configuration));
  try {
    const response = await gateway.send(request(stream));
    const record = await gateway.recordOf(response.header('x-request-id'));
    await body(response, record, gateway);
  } finally {
    await gateway.stop();
  }
}

// The engine's own refusals: its status and its words, in the OpenAI shape. Never retried.
const rejections = [
  { name: '48-err-context-overflow', status: 400, code: 'context_length_exceeded', message: /6004 tokens.*1024/ },
  { name: '49-err-context-overflow-stream', status: 400, code: 'context_length_exceeded', message: /6004 tokens.*1024/, stream: true },
  { name: '55-err-no-messages', status: 400, message: /'messages' is required/ },
  { name: '56-err-bad-role-type', status: 400, message: /Expected 'content' to be a string or an array/ },
  { name: '58-err-bad-max-tokens', status: 400, message: /type must be number, but is string/ },
  { name: '59-err-bad-n', status: 400, message: /Value must be between 1 <= value <= 4/ },
  { name: '61-err-method', status: 404, message: /File Not Found/ },
];
for (const { name, status, code, message, stream = false } of rejections) {
  test(`${name}: status and message are kept`, () => withReplay(loadRecording(name), stream, async (response, record) => {
    checkRefusal(response, { status, reason: 'upstream_rejected', code, message });
    checkHeaders(response);
    assert.equal(upstream.requests.length, 1, 'never retried');
    assert.deepEqual([record.status, record.outcome, record.reason, record.attempts.length, record.attempts[0].outcome],
      [status, 'refused', 'upstream_rejected', 1, 'rejected']);
    assert.equal(record.completion_tokens, undefined);
    assert.equal(record.usage_source, 'none');
  }));
}

const embeddingsPool = { pool: { capabilities: { endpoints: ['embeddings'] } }, alias: { endpoints: ['embeddings'], features: [] } };
const embeddingsRequest = () => ({ target: '/v1/embeddings', body: `{"model": "${alias}", "input": "x"}`, key: secrets.plain });
for (const [name, expected] of Object.entries({
  '62-err-embeddings-off': { status: 501, message: /does not support embeddings/ },
  '117-err-embeddings-too-long': { status: 400, code: 'context_length_exceeded', message: /1802 tokens.*batch size: 512/ },   // the engine says 500
  '118-err-embeddings-no-input': { status: 400, message: /"input" or "content" must be provided/ },
  '119-err-embeddings-format': { status: 400, message: /Can be either float or base64/ },
}))
  test(`${name}: the engine's words reach the client, once`, () => withReplay(loadRecording(name), false, async (response, record) => {
    checkRefusal(response, { reason: 'upstream_rejected', ...expected });
    checkHeaders(response);
    assert.equal(upstream.requests.length, 1, 'never retried');
    assert.equal(upstream.requests[0].request.body.toString(), embeddingsRequest().body.replace(alias, 'harbor-mid'));
    assert.deepEqual([record.endpoint, record.outcome, record.usage_source], ['embeddings', 'refused', 'none']);
  }, embeddingsPool, embeddingsRequest));

// What a caller must not see as its own fault: the engine's trouble, after the attempts are used up.
const failures = [
  { name: '53-err-bad-json', status: 502, reason: 'upstream_error' },
  { name: '54-err-empty-body', status: 502, reason: 'upstream_error' },
  { name: '71-half-close-chat-stream', status: 502, reason: 'upstream_error', stream: true },
  { name: '82-loading-chat', status: 503, reason: 'upstream_saturated' },
  { name: '88-sigkill-nonstream-spec', status: 502, reason: 'upstream_error' },
  { name: '89-auth-missing', status: 502, reason: 'upstream_error' },
];
for (const { name, status, reason, stream = false } of failures) {
  test(`${name}: ${status} ${reason}`, () => withReplay(loadRecording(name), stream, async (response, record, gateway) => {
    checkRefusal(response, { status, reason });
    checkHeaders(response);
    assert.ok(!/Invalid API Key|json\.exception/.test(response.body.toString()), 'the engine\'s internals stay inside');
    assert.deepEqual([record.status, record.outcome, record.reason], [status, 'upstream_failed', reason]);
    assert.ok(record.attempts.length >= 1 && record.attempts.every((attempt) => attempt.outcome !== 'ok'));
    assert.equal((await gateway.metrics()).sum('weir_rejections_total', { reason }), 1);
  }));
}

test('sdk-007: 200 with an empty body, as llama.cpp answers an abandoned request, is a protocol fault', () => withReplay(
  loadConversation('sdk-007')[0], false, async (response, record) => {
    checkRefusal(response, { status: 502, reason: 'upstream_protocol' });
    assert.equal(record.outcome, 'upstream_failed');
  }));

// A stream that ends without its terminal: everything that came, then one error event; never a silent success.
for (const name of ['85-sigterm-midstream-spec', '86-sigkill-midstream-spec']) {
  test(`${name}: an error event, no [DONE], truncated`, async () => {
    const recording = loadRecording(name);
    await withReplay(recording, true, async (response, record) => {
      const before_ = checkBrokenStream(response);
      assert.equal(before_.toString(), editedStream(recording.body, { alias }).toString());
      checkHeaders(response);
      assert.equal(upstream.requests.length, 1, 'nothing is repeated once output has left');
      assert.deepEqual([record.status, record.outcome, record.events], [200, 'truncated', recordedFacts(recording).events]);
      assert.notEqual(record.usage_source, 'engine', 'the engine never told its usage');
      assert.equal(record.delivered_tokens, recordedFacts(recording).events, 'llama.cpp sends one event a token');
      assert.equal(record.finish_reason, undefined);
      assert.notEqual(record.attempts[0].outcome, 'ok');
    });
  });
}
