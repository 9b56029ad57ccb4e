// What is left of a request when it is over: the row in the store, the line in the access log, the metrics. All three
// must tell the same. Source: contract.md sections 5 and 6; pitfalls P008, P025, P077.
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { alias, chat, oneAlias, secrets } from './harness/config.mjs';
import { Gateway, run } from './harness/gateway.mjs';
import { send } from './harness/rawclient.mjs';
import { loadRecording } from './harness/recordings.mjs';
import { jsonAnswer, Upstream } from './harness/upstream.mjs';
import { eventually, stopAll } from './harness/wait.mjs';

let upstream;
let gateway;
const ids = {};
before(async () => {
  upstream = await Upstream.start();
  const config = oneAlias(upstream.url, { tenant: { teams: { search: { applications: { autocomplete: { workload: 'code' } } } } } });
  config.tenants.acme.keys[0].team = 'search';
  config.tenants.acme.keys[0].application = 'autocomplete';
  gateway = await Gateway.start(config);
  await traffic();
});
after(() => stopAll(gateway, upstream));

async function one(name, request, bytes) {
  upstream.answerWith(bytes, { thenClose: true });
  const response = await gateway.send(request);
  ids[name] = response.header('x-request-id');
  await gateway.recordOf(ids[name]);
}

async function traffic() {
  await one('stream', chat({ stream: true }), loadRecording('10-chat-stream-usage-spec').response);
  await one('whole', chat(), loadRecording('08-chat-nonstream-spec').response);
  await one('unknown model', chat({ model: 'made-up-by-a-caller' }), '');
  await one('refused by the engine', chat(), jsonAnswer(400, { error: { message: 'no' } }));
  await one('failed', chat(), jsonAnswer(500, { error: { message: 'x' } }));
  await one('truncated', chat({ stream: true }), loadRecording('86-sigkill-midstream-spec').response);
  await gateway.send({ body: '{}', key: 'nobody' });
}

async function rows(sql, file = gateway.storeFile) {
  const { code, stdout, stderr } = await run('sqlite3', ['-json', '-readonly', file, sql]);
  assert.equal(code, 0, stderr);
  return stdout.trim() === '' ? [] : JSON.parse(stdout);
}

test('each request is one row, and the row says what the access log says', async () => {
  const stored = await eventually('six rows', async () => {
    const found = await rows('select * from requests');
    return found.length >= 6 ? found : undefined;
  });
  assert.equal(stored.length, 6, 'the caller without a key left none');
  for (const [name, id] of Object.entries(ids)) {
    const row = stored.find((candidate) => candidate.request_id === id);
    const line = await gateway.recordOf(id);
    for (const field of ['status', 'outcome', 'reason', 'tenant', 'team', 'application', 'workload', 'key', 'alias', 'pool', 'replica', 'prompt_tokens', 'completion_tokens', 'cached_tokens', 'finish_reason', 'usage_source', 'config_version'])
      assert.equal(row[field] ?? undefined, line[field], `${name}: ${field}`);
  }
});

test('what was asked of each', async () => {
  const outcome = async (name) => {
    const { status, outcome: came, reason } = await gateway.recordOf(ids[name]);
    return [status, came, reason];
  };
  assert.deepEqual(await outcome('stream'), [200, 'ok', undefined]);
  assert.deepEqual(await outcome('whole'), [200, 'ok', undefined]);
  assert.deepEqual(await outcome('unknown model'), [404, 'refused', 'model_not_found']);
  assert.deepEqual(await outcome('refused by the engine'), [400, 'refused', 'upstream_rejected']);
  assert.deepEqual(await outcome('failed'), [502, 'upstream_failed', 'upstream_error']);
  assert.equal((await outcome('truncated'))[1], 'truncated');
});

test('the store file is for its owner only', () => {
  assert.equal(statSync(gateway.storeFile).mode & 0o077, 0);
});

test('the labels come from the configuration, whatever callers say', async () => {
  const metrics = await gateway.metrics();
  assert.ok(!metrics.text.includes('made-up-by-a-caller'));
  const labels = { tenant: 'acme', team: 'search', application: 'autocomplete', workload: 'code', alias, pool: 'main', endpoint: 'chat.completions' };
  assert.equal(metrics.sum('weir_requests_total', { ...labels, stream: 'true', status: '200' }), 2);
  assert.equal(metrics.sum('weir_requests_total', { ...labels, stream: 'false', status: '200' }), 1);
  assert.equal(metrics.sum('weir_requests_total', { status: '404', reason: 'model_not_found' }), 1);
  assert.equal(metrics.sum('weir_requests_total', { status: '502', reason: 'upstream_error' }), 1);
  assert.equal(metrics.sum('weir_requests_total', { status: '401' }), 0, 'no series for strangers');
  assert.equal(metrics.sum('weir_rejections_total', { reason: 'invalid_api_key' }), 1);
});

test('tokens are counted by kind', async () => {
  const metrics = await gateway.metrics();
  const kind = (name) => metrics.sum('weir_tokens_total', { kind: name });
  assert.equal(kind('prompt'), 26);
  assert.equal(kind('cached'), 24);
  assert.ok(kind('completion') >= 96, 'two engine counts, and the estimate of the truncated one');
});

test('every family of this traffic has samples, and the text is well-formed', async () => {
  const metrics = await gateway.metrics();
  const families = ['weir_requests_total', 'weir_inflight_requests', 'weir_queue_seconds', 'weir_time_to_first_token_seconds', 'weir_time_per_output_token_seconds',
    'weir_inter_chunk_seconds', 'weir_request_duration_seconds', 'weir_gateway_overhead_seconds', 'weir_tokens_total', 'weir_rejections_total', 'weir_attempts_total',
    'weir_replica_state', 'weir_replica_signal_age_seconds', 'weir_pool_info', 'weir_config_last_reload_successful', 'weir_ledger_lag_seconds'];
  for (const family of families) {
    assert.ok(family in metrics.types, `# TYPE ${family}`);
    const sample = metrics.types[family] === 'histogram' ? `${family}_count` : family;
    assert.ok(metrics.samples.some(({ name }) => name === sample), `${sample} has a sample`);
  }
  checkHistograms(metrics);
  assert.equal(metrics.sum('weir_time_to_first_token_seconds_count'), 2, 'streams only');
  assert.equal(metrics.sum('weir_request_duration_seconds_count'), 6);
});

function checkHistograms({ types, samples }) {
  const seriesOf = ({ labels }) => JSON.stringify(Object.entries(labels).filter(([name]) => name !== 'le').sort());
  for (const [family] of Object.entries(types).filter(([, type]) => type === 'histogram')) {
    const counts = new Map(samples.filter(({ name }) => name === `${family}_count`).map((sample) => [seriesOf(sample), sample.value]));
    const last = new Map();
    for (const sample of samples.filter(({ name }) => name === `${family}_bucket`)) {
      const series = seriesOf(sample);
      assert.ok(sample.value >= (last.get(series) ?? 0), `${family}: buckets are cumulative`);
      last.set(series, sample.value);
      if (sample.labels.le === '+Inf') assert.equal(sample.value, counts.get(series), `${family}: +Inf is the count`);
    }
  }
}

test('the metrics listener offers these paths and nothing else', async () => {
  const get = (target) => send(gateway.metricsPort, { method: 'GET', target });
  assert.equal((await get('/livez')).status, 200);
  assert.equal((await get('/readyz')).status, 200);
  assert.match((await get('/metrics')).header('content-type'), /^text\/plain; version=0\.0\.4/);
  for (const target of ['/', '/v1/models', '/admin/v1/config', '/metrics/x']) assert.equal((await get(target)).status, 404, target);
  assert.equal((await gateway.send({ method: 'GET', target: '/metrics', key: secrets.plain })).status, 404, 'and the data listener has none of them');
});

test('a new process goes on with the store of the old one', async () => {
  const first = await Gateway.start(oneAlias(upstream.url));
  const second = new Gateway(oneAlias(upstream.url, { more: { store: { url: `sqlite:${first.storeFile}` } } }));
  try {
    upstream.answerWith(loadRecording('08-chat-nonstream-spec').response, { thenClose: true });
    await first.send(chat());
    first.signal('SIGTERM');
    assert.equal((await first.exited).code, 0);
    assert.equal((await rows('select request_id from requests', first.storeFile)).length, 1, 'what was answered is stored before the exit');
    second.launch({});
    await second.untilReady(15000);
    upstream.answerWith(loadRecording('08-chat-nonstream-spec').response, { thenClose: true });
    await second.send(chat());
    await second.stop();
    assert.equal((await rows('select request_id from requests', first.storeFile)).length, 2);
  } finally {
    if (second.child !== undefined) await second.kill();
    await first.kill();
  }
});
