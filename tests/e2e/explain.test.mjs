// weir explain: what it says is what the request path does. Real requests are sent with each cause, and the decision
// in their records is compared with the answer, offline and from the running gateway. Source: contract.md sections 1, 3.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pool, secrets, tenant } from './harness/config.mjs';
import { Gateway, run } from './harness/gateway.mjs';
import { findProgram } from './harness/paths.mjs';
import { loadRecording } from './harness/recordings.mjs';
import { Upstream, jsonAnswer } from './harness/upstream.mjs';
import { eventually, stopAll } from './harness/wait.mjs';

const answer = loadRecording('11-chat-stream-nousage-spec-eos');
const speculation = { method: 'ngram', lossless: 'declared', proposal_length: 3 };
const policy = { region: 'eu', provides: ['no-retention'] };

let upstream;
let sick;       // an engine whose health checks fail
let gateway;
before(async () => {
  upstream = await Upstream.start();
  sick = await Upstream.start();
  sick.probes['/health'] = () => jsonAnswer(503, { error: { message: 'Loading model' } });
  upstream.answer(async (exchange) => {
    await exchange.write(answer.response);
    exchange.fin();
  });
  gateway = await Gateway.start(fleet());
  await eventually('the probes to have told', async () => {
    const metrics = await gateway.metrics();
    return metrics.sum('weir_replica_state', { state: 'unknown' }) === 0 && metrics.sum('weir_replica_state', { state: 'healthy' }) > 5;
  });
});
after(() => stopAll(gateway, upstream, sick));

// One alias a cause: `plain` can always serve, the other pool cannot.
const causes = {
  'parameter_unsupported:min_p': { pool: { capabilities: { deny: ['min_p'] } }, body: { min_p: 0.1 } },
  'parameter_unreliable:min_tokens': { pool: {}, body: { min_tokens: 3 } },
  context_exceeded: { pool: { capabilities: { context: 100 } }, body: { max_tokens: 500 } },
  region_forbidden: { pool: { region: 'us' } },
  data_policy_forbidden: { pool: { provides: [] } },
  unmeasured: { pool: { speculation }, use: { admitted: true }, alias: { allow_unmeasured: false } },
  rollout_excluded: { pool: { speculation } },
  all_replicas_unhealthy: { sick: true, liveOnly: true, pool: { health: { interval: '100ms' } } },
};
const nameOf = (reason) => reason.replace(/[_:]/g, '-');

function fleet() {
  const url = upstream.url;
  const config = {
    pools: { plain: pool(url, { ...policy, engine: 'vllm' }), twin: pool(url, policy) },
    aliases: {
      both: { family: 'harbor', endpoints: ['chat.completions'], pools: ['plain', 'twin'] },
      silent: { family: 'harbor', endpoints: ['chat.completions'], pools: ['plain'], streaming: false },
      elsewhere: { family: 'harbor', endpoints: ['completions'], pools: ['plain'] },
      forbidden: { family: 'harbor', endpoints: ['chat.completions'], pools: ['plain'] },
      narrow: { family: 'harbor', endpoints: ['chat.completions'], pools: ['region-forbidden'] },
      careless: { family: 'harbor', endpoints: ['chat.completions'], pools: ['data-policy-forbidden'] },
      short: { family: 'harbor', endpoints: ['chat.completions'], pools: ['plain'], context: 50 },
      unwell: { family: 'harbor', endpoints: ['chat.completions'], pools: ['all-replicas-unhealthy'] },
    },
    tenants: {
      acme: { ...tenant(undefined), regions: ['eu'], requires_data_policies: ['no-retention'] },
      other: { aliases: [], keys: [{ name: 'poor', sha256: 'cd'.repeat(32) }] },
    },
  };
  for (const [reason, cause] of Object.entries(causes)) {
    const name = nameOf(reason);
    config.pools[name] = pool(cause.sick ? sick.url : url, { ...policy, ...cause.pool });
    config.aliases[name] = {
      family: 'harbor', endpoints: ['chat.completions'], baseline: 'plain', ...cause.alias,
      pools: [{ pool: 'plain' }, { pool: name, ...cause.use }],
    };
  }
  config.tenants.acme.aliases = Object.keys(config.aliases).filter((name) => name !== 'forbidden');
  return config;
}

function bodyFile(body) {
  const file = path.join(gateway.directory, 'body.json');
  writeFileSync(file, typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
  return file;
}

const weir = (args, options) => run(findProgram('weir'), args, options);
const adminUrl = () => `http://127.0.0.1:${gateway.adminPort}`;
const offline = (body, ...args) => weir(['explain', '--config', gateway.configFile, '--request', bodyFile(body), ...args]);
const live = (body, ...args) => weir(['explain', '--admin', adminUrl(), '--request', bodyFile(body), ...args]);

async function explained(ask, body, { key = 'plain' } = {}) {
  const { code, stdout, stderr } = await ask(body, '--key', key, '--format', 'json');
  assert.equal(stderr, '');
  const told = JSON.parse(stdout);
  checkShape(told);
  assert.equal(code, told.outcome === 'served' ? 0 : 1);
  return told;
}

// The members that docs/explain.md promises, and no others.
function checkShape(told) {
  const keys = (value, expected) => assert.deepEqual(Object.keys(value), expected);
  keys(told, ['outcome', 'signals', 'config_version', 'caller', 'request', 'alias', 'policy_outcome', 'refusal', 'choice', 'decision', 'pools', 'notes']);
  assert.ok(['served', 'refused'].includes(told.outcome) && ['live', 'none'].includes(told.signals));
  if (told.caller !== null) keys(told.caller, ['tenant', 'key', 'team', 'application', 'workload', 'permissions']);
  assert.equal(told.outcome === 'refused', told.refusal !== null);
  if (told.refusal !== null) keys(told.refusal, ['status', 'reason', 'message', 'param', 'advice']);
  assert.equal(told.outcome === 'served', told.choice !== null);
  if (told.choice !== null) keys(told.choice, ['chosen_by', 'order', 'over_limit', 'arms', 'why']);
  let shares = 0;
  for (const each of told.pools) {
    keys(each, ['pool', 'arm', 'order', 'eligible', 'reason', 'advice', 'share', 'replicas']);
    assert.equal(each.eligible, each.reason === null);
    assert.equal(each.eligible, each.advice === null);
    shares += each.share;
    for (const replica of each.replicas) keys(replica, ['url', 'state', 'usable', 'in_flight', 'limit', 'share']);
  }
  assert.ok(Math.abs(shares - (told.outcome === 'served' ? 1 : 0)) < 1e-9, `shares sum to ${shares}`);
  assert.ok(told.notes.every((note) => typeof note === 'string'));
}

const request = (model, more = {}) => ({ model, messages: [{ role: 'user', content: 'Hi' }], stream: true, ...more });

async function served(body, key = secrets.plain) {
  const response = await gateway.send({ body: JSON.stringify(body), key });
  assert.equal(response.status, 200, response.body.toString());
  return gateway.recordOf(response.header('x-request-id'));
}

for (const [reason, cause] of Object.entries(causes)) {
  test(`the record's decision and both explanations agree: ${reason}`, async () => {
    const body = request(nameOf(reason), cause.body);
    const { decision, pool: servedBy, assigned_arm: arm } = await served(body);
    assert.deepEqual(decision.eligible, ['plain']);
    assert.deepEqual(decision.excluded, { [nameOf(reason)]: reason });
    for (const ask of cause.liveOnly ? [live] : [live, offline]) {
      const told = await explained(ask, body);
      assert.deepEqual(told.decision, { eligible: decision.eligible, excluded: decision.excluded, chosen_by: decision.chosen_by, score: 0 });
      assert.deepEqual(told.pools.map((each) => [each.pool, each.share]), [[servedBy, 1], [nameOf(reason), 0]]);
      assert.equal(told.choice.arms[arm], 1);
      assert.match(told.pools[1].advice, /\.$/);
    }
  });
}

test('offline a sick replica counts as usable, and the answer says so', async () => {
  const told = await explained(offline, request('all-replicas-unhealthy'));
  assert.equal(told.signals, 'none');
  assert.equal(told.decision.chosen_by, 'power_of_two');
  assert.deepEqual(told.pools.map((each) => each.share), [0.5, 0.5]);
  assert.match(told.notes.join(), /no signals offline/);
  const seen = await explained(live, request('all-replicas-unhealthy'));
  assert.equal(seen.pools[1].replicas[0].state, 'loading');
  assert.deepEqual(seen.notes, []);
});

test('where two replicas share an order, the one that served is among those with a share', async () => {
  const record = await served(request('both'));
  const told = await explained(live, request('both'));
  assert.equal(told.decision.chosen_by, record.decision.chosen_by);
  assert.deepEqual(told.pools.map((each) => [each.pool, each.share]), [['plain', 0.5], ['twin', 0.5]]);
  assert.ok(told.pools.some((each) => each.pool === record.pool && each.replicas[0].url === record.replica));
});

test('what is in flight weighs in at once', async () => {
  let release;
  const held = new Promise((resolve) => { release = resolve; });
  const before = upstream.handler;
  upstream.answer(async (exchange) => { await held; await before(exchange); });
  const pending = gateway.send({ body: JSON.stringify(request('both')), key: secrets.plain });
  try {
    const told = await eventually('the request to be in flight', async () => {
      const now = await explained(live, request('both'));
      return now.pools.some((each) => each.replicas[0].in_flight === 1) ? now : undefined;
    });
    const busy = told.pools.find((each) => each.replicas[0].in_flight === 1);
    assert.equal(busy.share, 0);
    assert.equal(told.decision.score, 0);
  } finally {
    release();
    await pending;
    upstream.answer(before);
  }
});

const refusals = {
  'not JSON': '{"model": "both", ',
  'no object': '[1]',
  'nothing at all': '',
  'invalid UTF-8': Buffer.from('{"model":"both","user":"\xff"}', 'latin1'),
  'a duplicate': '{"model":"both","model":"twin"}',
  'deep nesting': `{"messages":${'['.repeat(100000)}`,
  'no model': '{}',
  'a wrong type': { model: 'both', stream: 'yes' },
  'state that is not held': { model: 'both', previous_response_id: 'r-1' },
  'an unknown alias': request('bth'),
  'an alias of others': request('forbidden'),
  'an endpoint outside the contract': request('elsewhere'),
  'no streaming': request('silent'),
  'too much context': request('short', { max_tokens: 60 }),
  'a parameter that no pool honours': request('unwell', { min_tokens: 3 }),
  'a region that is not allowed': request('narrow'),
  'a data policy that nobody keeps': request('careless'),
  'no healthy replica': { body: request('unwell'), liveOnly: true },
};
for (const [name, given] of Object.entries(refusals)) {
  test(`a refusal is explained as it is sent: ${name}`, async () => {
    const body = given.body ?? given;
    const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const response = await gateway.send({ body: text, key: secrets.plain });
    const { message, param } = response.json().error;
    const record = await gateway.recordOf(response.header('x-request-id'));
    for (const ask of given.liveOnly ? [live] : [live, offline]) {
      const { refusal, decision, policy_outcome: policyOutcome, alias } = await explained(ask, text);
      assert.deepEqual({ ...refusal, advice: undefined },
        { status: response.status, reason: response.header('x-weir-reason'), message, param, advice: undefined });
      assert.ok(refusal.advice.length > 10, 'what an operator can do');
      assert.deepEqual(decision, record.decision);
      assert.equal(policyOutcome ?? undefined, record.policy_outcome);
      assert.equal(alias ?? undefined, record.alias);
    }
  });
}

test('the debug headers of a refusal are the decision', async () => {
  const refused = await gateway.send({ body: JSON.stringify(request('narrow')), key: secrets.debug });
  assert.equal(refused.status, 403);
  assert.equal(refused.header('x-weir-decision'), 'region-forbidden=region_forbidden');
  assert.equal(refused.header('x-weir-pool'), undefined, 'no pool was chosen');
  const plain = await gateway.send({ body: JSON.stringify(request('narrow')), key: secrets.plain });
  assert.equal(plain.header('x-weir-decision'), undefined);
});

test('operators learn what callers must not: whether the alias exists', async () => {
  const unknown = await explained(live, request('bth'));
  const forbidden = await explained(live, request('forbidden'));
  assert.equal(unknown.refusal.message, forbidden.refusal.message);
  assert.match(unknown.refusal.advice, /did you mean both\?/);
  assert.match(forbidden.refusal.advice, /tenants\.acme\.aliases/);
});

test('the table says the answer first, aligned, without colour', async () => {
  const { code, stdout } = await offline(request('region-forbidden'), '--key', 'acme/plain');
  assert.equal(code, 0);
  assert.match(stdout, /^Would be served by pool plain, arm baseline, because it is the only eligible pool\.\n/);
  assert.match(stdout, /\nPOOL +ARM +ORDER +SHARE +VERDICT\n/);
  assert.match(stdout, /\nregion-forbidden +baseline +1 +- +region_forbidden\n/);
  assert.ok(!stdout.includes('\x1b'));
  assert.ok(!/ \n/.test(stdout), 'no blanks at line ends');
  const refused = await live(request('narrow'), '--key', 'plain');
  assert.equal(refused.code, 1);
  assert.match(refused.stdout, /^Would be refused with 403 region_not_allowed: /);
});

test('the body may come from standard input', async () => {
  const { code, stdout } = await weir(['explain', '--config', gateway.configFile, '--request', '-', '--key', 'plain'],
    { input: JSON.stringify(request('both')) });
  assert.equal(code, 0, stdout);
});

test('without a key, nobody in particular asks, and the answer says so', async () => {
  const { code, stdout } = await offline(request('forbidden'), '--format', 'json');
  assert.equal(code, 0, 'no tenant forbids the alias');
  const told = JSON.parse(stdout);
  assert.equal(told.caller, null);
  assert.match(told.notes.join(), /No key is named, and there is not just one/);
});

test('exit codes: usage is 2, the environment 3', async () => {
  const body = request('both');
  const expectExit = async (promise, code, pattern) => {
    const ended = await promise;
    assert.equal(ended.code, code, ended.stdout + ended.stderr);
    assert.match(ended.stderr + ended.stdout, pattern);
  };
  await expectExit(offline(body, '--key', 'plian'), 2, /no key 'plian'; did you mean plain\?/);
  await expectExit(live(body, '--key', 'plian'), 2, /no key 'plian'; did you mean plain\?/);
  await expectExit(offline(body, '--endpoint', 'chat'), 2, /--endpoint/);
  await expectExit(offline(body, '--format', 'xml'), 2, /--format/);
  await expectExit(offline(body, '--nonsense'), 2, /nonsense/);
  await expectExit(weir(['explain', '--config', gateway.configFile]), 2, /--request/);
  await expectExit(weir(['explain', '--request', bodyFile(body)]), 2, /--config FILE or --admin URL/);
  await expectExit(offline(body, '--admin', adminUrl()), 2, /either/);
  await expectExit(weir(['explain', '--config', 'nowhere.yaml', '--request', '-'], { input: '' }), 3, /nowhere\.yaml/);
  await expectExit(weir(['explain', '--config', gateway.configFile, '--request', 'nowhere.json']), 3, /nowhere\.json/);
  await expectExit(weir(['explain', '--admin', 'http://127.0.0.1:1', '--request', bodyFile(body)]), 3, /is weir serve running/);
  await expectExit(weir(['explain', '--admin', `http://127.0.0.1:${gateway.port}`, '--request', bodyFile(body)]), 3, /admin_listen/);
  await expectExit(weir(['explain', '--admin', 'ftp://127.0.0.1', '--request', bodyFile(body)]), 2, /http:\/\/HOST:PORT/);
  await expectExit(weir(['explain', '--help']), 0, /--request/);
});

test('other endpoints are explained by their own rules', async () => {
  const body = { model: 'elsewhere', prompt: 'Hi', echo: true };
  const response = await gateway.send({ target: '/v1/completions', body: JSON.stringify(body), key: secrets.plain });
  const { decision } = await gateway.recordOf(response.header('x-request-id'));
  for (const ask of [live, offline]) {
    const { stdout } = await ask(body, '--endpoint', 'completions', '--format', 'json', '--key', 'plain');
    const told = JSON.parse(stdout);
    checkShape(told);
    assert.deepEqual([told.outcome, told.request.endpoint, told.request.features], ['served', 'completions', ['echo']]);
    assert.deepEqual([told.decision.eligible, told.decision.excluded], [decision.eligible, decision.excluded]);
    const chat = JSON.parse((await ask(body, '--format', 'json', '--key', 'plain')).stdout);
    assert.equal(chat.refusal.reason, 'endpoint_not_supported');
  }
});

test('an endpoint that this version does not walk is refused as its requests are', async () => {
  const body = JSON.stringify({ model: 'both', input: 'x' });
  const response = await gateway.send({ target: '/v1/rerank', body, key: secrets.plain });
  assert.equal(response.status, 404);
  for (const ask of [live, offline]) {
    const { code, stdout } = await ask(body, '--endpoint', 'rerank', '--format', 'json', '--key', 'plain');
    assert.equal(code, 1);
    const { refusal } = JSON.parse(stdout);
    assert.equal(refusal.reason, response.header('x-weir-reason'));
    assert.equal(refusal.message, response.json().error.message);
  }
});

test('a body over the limit is explained without being read', async () => {
  const body = Buffer.alloc(33 << 20, 0x20);
  for (const ask of [live, offline]) {
    const { code, stdout } = await ask(body, '--format', 'json');
    assert.equal(code, 1);
    const told = JSON.parse(stdout);
    assert.deepEqual([told.refusal.status, told.refusal.reason], [413, 'request_too_large']);
  }
});

test('nothing of all this reached an engine, a record or a metric', async () => {
  upstream.requests = [];
  const records = gateway.records().length;
  const before = await gateway.metrics();
  await explained(live, request('both'));
  await explained(live, request('narrow'));
  const now = await gateway.metrics();
  assert.equal(upstream.requests.length, 0);
  assert.equal(gateway.records().length, records);
  for (const family of ['weir_requests_total', 'weir_rejections_total', 'weir_ineligible_total'])
    assert.equal(now.sum(family), before.sum(family), family);
});
