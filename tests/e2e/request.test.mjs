// What reaches the engine: the client's bytes apart from the few edits the contract names, a head from an allow-list,
// ids of our own, the trace continued.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { alias, chat, credential, oneAlias, secrets, upstreamModel } from './harness/config.mjs';
import { requestIdPattern } from './harness/contract.mjs';
import { Gateway } from './harness/gateway.mjs';
import { requestBytes } from './harness/rawclient.mjs';
import { loadRecording } from './harness/recordings.mjs';
import { Upstream } from './harness/upstream.mjs';
import { stopAll } from './harness/wait.mjs';

const answer = loadRecording('70-keepalive-pipelined-two').response;
let upstream;
let gateway;
before(async () => {
  upstream = await Upstream.start();
  const config = oneAlias(upstream.url, { alias: { names: ['chat-synonym'] }, tenant: { limits: undefined } });
  config.pools.bare = { ...config.pools.main, credential: undefined };
  config.aliases['chat-bare'] = { ...config.aliases[alias], pools: ['bare'], names: undefined };
  config.tenants.acme.aliases.push('chat-bare');
  gateway = await Gateway.start(config);
});
after(() => stopAll(gateway, upstream));

async function forward(request) {
  upstream.answerWith(answer);
  const response = await gateway.send({ key: secrets.plain, ...request });
  assert.equal(response.status, 200, response.body.toString());
  return { response, sent: upstream.requests[0].request };
}

// --- the body -------------------------------------------------------------------------------------------------

const bodies = {
  'unknown fields, order and nesting': `{"zeta":[1,{"model":"inner","stream":true}],"model":"${alias}","alpha":{"model":"deep"},"messages":[]}`,
  'number spelling': `{"model":"${alias}","temperature":0.70,"top_p":1.0e0,"seed":12345678901234567890,"big":1E400,"minus":-0,"messages":[]}`,
  'whitespace of every kind': ` \t{\r\n  "model"\t: \n"${alias}"  ,\r\n"messages" : [ ]\n} \r\n`,
  'escapes and raw UTF-8': `{"model":"${alias}","messages":[{"role":"user","content":"\\u00e9\\ud83d\\ude42 é🙂 \\/ \\\\ \\" \\u0000"}]}`,
  'lone surrogate escapes': `{"model":"${alias}","messages":[{"role":"user","content":"\\ud800 \\udc00"}]}`,
  'an escaped model and an escaped key': `{"\\u006dodel":"chat\\u002dtest","messages":[]}`,
  'a key spelt like model in another case': `{"Model":"other","model":"${alias}","messages":[]}`,
  'duplicates of keys that nobody reads': `{"x":1,"model":"${alias}","x":2,"messages":[]}`,
  'model at the end, behind a large body': `{"messages":[{"role":"user","content":"${'word '.repeat(40000)}"}],"model":"${alias}"}`,
  'harmless fields': `{"model":"${alias}","user":"u","store":true,"metadata":{"a":"b"},"service_tier":"auto","parallel_tool_calls":false,"messages":[]}`,
  'null where nothing is asked': `{"model":"${alias}","stream":null,"tools":null,"max_tokens":null,"stream_options":null,"messages":[]}`,
  'deep nesting': `{"model":"${alias}","deep":${'['.repeat(200)}${']'.repeat(200)},"messages":[]}`,
};
for (const [name, body] of Object.entries(bodies)) {
  test(`the body is not re-serialised: ${name}`, async () => {
    const { sent } = await forward({ body });
    const spelt = name === 'an escaped model and an escaped key' ? '"chat\\u002dtest"' : `"${alias}"`;
    assert.equal(sent.body.toString(), body.replace(spelt, `"${upstreamModel}"`));
    assert.equal(sent.header('content-length'), String(sent.body.length));
  });
}

test('a body in chunks arrives as one of known length', async () => {
  const body = Buffer.from(JSON.stringify(chat().body));
  const chunked = Buffer.concat([...[3, 1, 40].reduce(({ at, parts }, size) => ({ at: at + size, parts: [...parts, body.subarray(at, at + size)] }),
    { at: 0, parts: [] }).parts, body.subarray(44)].filter((part) => part.length > 0)
    .map((part) => Buffer.concat([Buffer.from(`${part.length.toString(16)};note="x"\r\n`), part, Buffer.from('\r\n')])));
  const { sent } = await forward({ body: Buffer.concat([chunked, Buffer.from('0\r\nX-Trailer: y\r\n\r\n')]), headers: { 'Transfer-Encoding': 'chunked' } });
  assert.equal(sent.body.toString(), body.toString().replace(alias, upstreamModel));
  assert.equal(sent.header('x-trailer'), undefined);
});

test('a synonym is an alias, and the answer names the alias', async () => {
  const { response, sent } = await forward({ body: { ...chat().body, model: 'chat-synonym' } });
  assert.equal(JSON.parse(sent.body).model, upstreamModel);
  assert.ok([alias, 'chat-synonym'].includes(response.json().model));
  assert.equal((await gateway.recordOf(response.header('x-request-id'))).alias, alias);
});

// --- the head -------------------------------------------------------------------------------------------------

test('headers of the caller never pass, allowed ones do', async () => {
  const { sent } = await forward(chat({}, {
    headers: {
      'Cookie': 'a=b', 'X-Conversation-Id': 'c1', 'Proxy-Authorization': 'Basic x', 'X-Forwarded-For': '10.0.0.9', 'Forwarded': 'for=10.0.0.9',
      'Connection': 'keep-alive, X-Hop', 'X-Hop': '1', 'Keep-Alive': 'timeout=9', 'TE': 'trailers', 'Upgrade': 'h2c', 'X-Random': 'r',
      'OpenAI-Organization': 'org', 'X-Stainless-Lang': 'js', 'X-Data-Parallel-Rank': '3', 'X-Request-Id': 'mine', 'Accept-Encoding': 'gzip, deflate',
      'Range': 'bytes=0-1', 'Accept-Language': 'pt', 'anthropic-version': '2023-06-01', 'User-Agent': 'OpenAI/JS 6.49.0',
    },
  }));
  const names = sent.headers.map(([name]) => name.toLowerCase());
  const allowed = ['host', 'content-type', 'content-length', 'accept', 'accept-encoding', 'accept-language', 'authorization', 'x-request-id',
    'user-agent', 'anthropic-version', 'anthropic-beta', 'traceparent', 'tracestate', 'connection'];
  assert.deepEqual(names.filter((name) => !allowed.includes(name)), []);
  assert.equal(new Set(names).size, names.length, 'no header twice');
  assert.equal(sent.header('authorization'), `Bearer ${credential}`, 'our own credential');
  assert.equal(sent.header('host'), new URL(upstream.url).host);
  assert.ok([undefined, 'identity'].includes(sent.header('accept-encoding')), 'a compressed stream could not be edited');
  assert.equal(sent.header('content-type'), 'application/json');
  assert.equal(sent.header('accept-language'), 'pt');
  assert.equal(sent.header('anthropic-version'), '2023-06-01');
  assert.ok(!sent.raw.includes(secrets.plain) && !sent.raw.includes('OpenAI/JS'));
  assert.equal(sent.target, '/v1/chat/completions');
});

test('x-api-key is a credential like Bearer, and does not pass either', async () => {
  const { sent } = await forward({ ...chat(), key: undefined, headers: { 'X-Api-Key': secrets.plain } });
  assert.ok(!sent.raw.includes(secrets.plain));
  assert.equal(sent.header('x-api-key'), undefined);
});

test('without a credential of the pool none is sent', async () => {
  const { sent } = await forward({ body: { ...chat().body, model: 'chat-bare' } });
  assert.equal(sent.header('authorization'), undefined);
});

test('the query string is tolerated and does not pass', async () => {
  const { sent } = await forward(chat({}, { target: '/v1/chat/completions?beta=true&x=%20' }));
  assert.equal(sent.target, '/v1/chat/completions');
});

// --- ids ------------------------------------------------------------------------------------------------------

test('a fresh request id each time, sent upstream with the attempt, kept in the record', async () => {
  const ids = [];
  for (let round = 0; round < 5; round += 1) {
    const { response, sent } = await forward(chat({}, { headers: { 'X-Request-Id': 'client-chosen' } }));
    const id = response.header('x-request-id');
    assert.match(id, requestIdPattern);
    assert.equal(sent.header('x-request-id'), `${id}-1`);
    const record = await gateway.recordOf(id);
    assert.equal(record.client_request_id, 'client-chosen');
    assert.equal(record.attempts[0].engine_request_id, `${id}-1`);
    ids.push(id);
  }
  assert.equal(new Set(ids).size, ids.length);
});

test('the client\'s id is cut at 128 bytes, absent when there is none', async () => {
  const long = await forward(chat({}, { headers: { 'X-Request-Id': 'x'.repeat(5000) } }));
  assert.equal((await gateway.recordOf(long.response.header('x-request-id'))).client_request_id, 'x'.repeat(128));
  const none = await forward(chat());
  assert.equal((await gateway.recordOf(none.response.header('x-request-id'))).client_request_id, undefined);
});

test('traceparent is continued: same trace, another span, the same flags', async () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
  const { response, sent } = await forward(chat({}, { headers: { traceparent: `00-${trace}-00f067aa0ba902b7-01`, tracestate: 'vendor=1' } }));
  assert.match(sent.header('traceparent'), new RegExp(`^00-${trace}-(?!00f067aa0ba902b7)(?!0{16})[0-9a-f]{16}-01$`));
  assert.equal(sent.header('tracestate'), 'vendor=1');
  assert.equal((await gateway.recordOf(response.header('x-request-id'))).trace_id, trace);
});

for (const bad of ['00-00000000000000000000000000000000-00f067aa0ba902b7-01', 'nonsense', '00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01', `ff-${'a'.repeat(32)}-${'b'.repeat(16)}-01`]) {
  test(`a traceparent that is none is not passed on: ${bad.slice(0, 20)}`, async () => {
    const { sent } = await forward(chat({}, { headers: { traceparent: bad, tracestate: 'vendor=1' } }));
    assert.notEqual(sent.header('traceparent'), bad);
    assert.equal(sent.header('tracestate'), undefined);
  });
}

test('what the record says of the request', async () => {
  const { response } = await forward(chat({ max_tokens: 77, temperature: 0, tools: [{ type: 'function', function: { name: 'f' } }] }));
  const record = await gateway.recordOf(response.header('x-request-id'));
  assert.deepEqual([record.max_tokens, record.temperature_class, record.stream, record.alias, record.pool, record.replica, record.tenant, record.key],
    [77, 'greedy', false, alias, 'main', upstream.url, 'acme', 'plain']);
  assert.deepEqual(record.features, ['tools']);
  assert.equal(record.prompt_bytes > 0, true);
  assert.match(record.config_version, /^[0-9a-f]{12}$/);
  assert.ok(Math.abs(Date.parse(record.time) - Date.now()) < 60000, `time ${record.time}`);
  assert.deepEqual(record.decision.eligible, ['main']);
  const text = JSON.stringify(record);
  for (const secret of ['Tell me a story', secrets.plain, credential, 'slow storm']) assert.ok(!text.includes(secret), `${secret} is in the record`);
});

test('upstream connections are reused', async () => {
  const seen = new Set();
  for (let round = 0; round < 4; round += 1) {
    upstream.answerWith(answer);
    const connection = await gateway.open(chat());
    await connection.readResponse();
    connection.close();
    seen.add(upstream.requests[0].connection.number);
  }
  assert.ok(seen.size <= 2, `${seen.size} connections for four requests, one after another, on two workers`);
});

test('a connection that the engine had closed is replaced without the client noticing', async () => {
  upstream.answer(async (exchange) => {
    await exchange.write(answer);
    setTimeout(() => exchange.fin(), 5);   // keep-alive was promised, and broken
  });
  for (let round = 0; round < 4; round += 1) {
    const response = await gateway.send(requestBytes(chat()));
    assert.equal(response.status, 200, response.body.toString());
  }
});
