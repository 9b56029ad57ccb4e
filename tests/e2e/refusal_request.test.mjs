// Every refusal that needs no engine: the message, the caller, the body, the model, the policy.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { alias, aliasOf, chat, chatBody, oneAlias, pool, secrets, tenant } from './harness/config.mjs';
import { Gateway, sha256 } from './harness/gateway.mjs';
import { RawConnection, requestBytes } from './harness/rawclient.mjs';
import { expectRefusal } from './harness/refusals.mjs';
import { jsonAnswer, Upstream } from './harness/upstream.mjs';
import { stopAll, within } from './harness/wait.mjs';

const bodyLimit = 64 * 1024;
const headerLimit = 8 * 1024;
const european = 'sk-test-european';
const careful = 'sk-test-careful';
const expired = 'sk-test-expired';

let upstream;
let gateway;
before(async () => {
  upstream = await Upstream.start();
  upstream.answer(() => { throw new Error('a refused request reached the engine'); });
  gateway = await Gateway.start(configuration());
});
after(() => stopAll(gateway, upstream));

function configuration() {
  const config = oneAlias(upstream.url, {
    server: { limits: { body: '64KiB', header: '8KiB', header_timeout: '400ms', body_timeout: '400ms', idle_timeout: '600ms' } },
    pool: { region: 'us-east', capabilities: { deny: ['min_p'] } },
    alias: { features: [], context: 2000 },
  });
  config.pools.silent = pool(upstream.url, { capabilities: { streaming: false } });
  config.aliases['no-streams'] = aliasOf(['silent'], { streaming: false });
  config.aliases['only-completions'] = aliasOf(['main'], { endpoints: ['completions'], features: [] });
  config.aliases['of-others'] = aliasOf(['main'], { features: [] });
  config.tenants.acme.aliases.push('no-streams', 'only-completions');
  config.tenants.acme.keys.push({ name: 'expired', sha256: sha256(expired), expires: '2020-01-01' });
  config.tenants.europe = { regions: ['eu-west'], keys: [{ name: 'european', sha256: sha256(european) }] };
  config.tenants.careful = { requires_data_policies: ['no-retention'], keys: [{ name: 'careful', sha256: sha256(careful) }] };
  return config;
}

const refused = (name, expected, request) => test(name, () => expectRefusal(gateway, expected, () => gateway.send(request)));
const withKey = (body, more = {}) => ({ body, key: secrets.plain, ...more });

// --- 401: every failure the same ------------------------------------------------------------------------------

const strangers = {
  'no credential': {},
  'an unknown key': { Authorization: 'Bearer sk-unknown' },
  'an expired key': { Authorization: `Bearer ${expired}` },
  'another scheme': { Authorization: `Basic ${secrets.plain}` },
  'a scheme alone': { Authorization: 'Bearer' },
  'an empty key': { Authorization: 'Bearer ' },
  'a key with a blank in it': { Authorization: 'Bearer a b' },
  'an unknown x-api-key': { 'x-api-key': 'sk-unknown' },
  'an empty x-api-key': { 'x-api-key': '' },
  'two different credentials': { Authorization: `Bearer ${secrets.plain}`, 'x-api-key': 'sk-other' },
  'the digest instead of the key': { Authorization: `Bearer ${sha256(secrets.plain)}` },
  'a very long key': { Authorization: `Bearer ${'k'.repeat(5000)}` },
};
let first;
for (const [name, headers] of Object.entries(strangers)) {
  test(`401: ${name}`, async () => {
    const { response } = await expectRefusal(gateway, { status: 401, reason: 'invalid_api_key', recorded: false },
      () => gateway.send({ body: chatBody(), headers }));
    const seen = { body: response.body.toString(), headers: response.headers.filter(([key]) => !['x-request-id', 'date'].includes(key.toLowerCase())) };
    first ??= seen;
    assert.deepEqual(seen, first, 'every failure looks alike');
  });
}

test('401: a credential that stands there twice', () => expectRefusal(gateway, { status: 401, reason: 'invalid_api_key', recorded: false },
  () => gateway.send({ body: chatBody(), headers: [['Authorization', `Bearer ${secrets.plain}`], ['Authorization', `Bearer ${secrets.plain}`]] })));

for (const request of [{ method: 'GET', target: '/v1/models' }, { method: 'GET', target: '/v1/models/x' }, { target: '/v1/nothing', body: '{}' }, { method: 'DELETE', target: '/v1/chat/completions' }]) {
  refused(`401 comes first: ${request.method ?? 'POST'} ${request.target}`, { status: 401, reason: 'invalid_api_key', recorded: false }, request);
}

test('401 does not wait for the body', async () => {
  await expectRefusal(gateway, { status: 401, reason: 'invalid_api_key', recorded: false }, async () => {
    const connection = await gateway.connect();
    await connection.write(requestBytes({ headers: { 'Content-Length': '50000' }, body: 'x' }));
    const response = await within(300, 'a 401 before the body', connection.readResponse());
    connection.close();
    return response;
  });
});

// --- the body -------------------------------------------------------------------------------------------------

const invalidJson = {
  'cut off': '{"model": "chat-test", "messages": [',
  'no JSON at all': 'model=chat-test',
  'an array': '[]',
  'a string': '"chat-test"',
  'null': 'null',
  'empty': '',
  'blanks': '   ',
  'bytes behind': `{"model":"${alias}","messages":[]} {}`,
  'a comma behind': `{"model":"${alias}","messages":[]},`,
  'a NUL behind': `{"model":"${alias}","messages":[]}\0`,
  'model twice': `{"model":"${alias}","model":"${alias}","messages":[]}`,
  'model twice, once escaped': `{"model":"${alias}","\\u006dodel":"of-others","messages":[]}`,
  'stream twice': `{"model":"${alias}","stream":true,"stream":false,"messages":[]}`,
  'stream_options twice': `{"model":"${alias}","stream_options":{},"stream_options":{},"messages":[]}`,
  'include_usage twice': `{"model":"${alias}","stream":true,"stream_options":{"include_usage":true,"include_usage":false},"messages":[]}`,
  'single quotes': '{\'model\':\'chat-test\'}',
  'a trailing comma': `{"model":"${alias}",}`,
  'a byte-order mark in the middle': `{"model":\ufeff"${alias}"}`,
};
for (const [name, body] of Object.entries(invalidJson)) refused(`400 invalid_json: ${name}`, { status: 400, reason: 'invalid_json' }, withKey(body));

const badBytes = {
  'a lone continuation byte': [0x80], 'an overlong slash': [0xc0, 0xaf], 'a surrogate': [0xed, 0xa0, 0x80], 'cut off': [0xe2, 0x82], 'beyond U+10FFFF': [0xf5, 0x80, 0x80, 0x80],
};
for (const [name, bytes] of Object.entries(badBytes)) {
  const body = Buffer.concat([Buffer.from(`{"model":"${alias}","messages":[{"role":"user","content":"`), Buffer.from(bytes), Buffer.from('"}]}')]);
  refused(`400 invalid_json, bad UTF-8: ${name}`, { status: 400, reason: 'invalid_json' }, withKey(body));
}

const wrongTypes = {
  'model missing': [{ messages: [] }, 'model'], 'model a number': [{ model: 7 }, 'model'], 'model null': [{ model: null }, 'model'], 'model an object': [{ model: {} }, 'model'],
  'stream a string': [chatBody({ stream: 'yes' }), 'stream'], 'stream a number': [chatBody({ stream: 1 }), 'stream'],
  'stream_options an array': [chatBody({ stream: true, stream_options: [] }), 'stream_options'],
  'stream_options a boolean': [chatBody({ stream: true, stream_options: true }), 'stream_options'],
  'include_usage a string': [chatBody({ stream: true, stream_options: { include_usage: 'yes' } }), undefined],
  'max_tokens a string': [chatBody({ max_tokens: 'many' }), 'max_tokens'], 'max_tokens negative': [chatBody({ max_tokens: -1 }), 'max_tokens'],
  'n an object': [chatBody({ n: {} }), 'n'],
};
for (const [name, [body, param]] of Object.entries(wrongTypes)) refused(`400 invalid_request: ${name}`, { status: 400, reason: 'invalid_request', param }, withKey(body));

for (const field of ['previous_response_id', 'background']) {
  test(`a field that needs state is refused by name: ${field}`, async () => {
    const response = await gateway.send(withKey(chatBody({ [field]: field === 'background' ? true : 'resp_1' })));
    assert.equal(response.status, 400, response.body.toString());
    assert.equal(response.json().error.param, field);
  });
}

// --- model, endpoint, method, type ----------------------------------------------------------------------------

test('404: an unknown model and somebody else\'s look alike', async () => {
  const expected = { status: 404, reason: 'model_not_found', param: 'model' };
  const { response: unknown } = await expectRefusal(gateway, expected, () => gateway.send(withKey(chatBody({ model: 'nowhere' }))));
  const { response: foreign } = await expectRefusal(gateway, expected, () => gateway.send(withKey(chatBody({ model: 'of-others' }))));
  assert.equal(unknown.body.toString().replace('nowhere', 'of-others'), foreign.body.toString());
});
for (const model of ['', 'harbor-mid', 'CHAT-TEST', 'chat-test ', '../x', 'x'.repeat(3000)])
  refused(`404 model_not_found: ${JSON.stringify(model.slice(0, 20))}`, { status: 404, reason: 'model_not_found' }, withKey(chatBody({ model })));

refused('404 endpoint_not_supported: outside the alias\'s contract', { status: 404, reason: 'endpoint_not_supported' }, withKey(chatBody({ model: 'only-completions' })));
for (const target of ['/', '/v1/nothing', '/v1/chat/completions/', '/v1/chat/completion', '/V1/chat/completions', '//v1/chat/completions', '/v1/chat/completions%00'])
  refused(`404 endpoint_not_supported: ${target}`, { status: 404, reason: 'endpoint_not_supported' }, withKey(chatBody(), { target }));

for (const [method, target, allow] of [['GET', '/v1/chat/completions', 'POST'], ['PUT', '/v1/chat/completions', 'POST'], ['OPTIONS', '/v1/chat/completions', 'POST'], ['POST', '/v1/models', 'GET'], ['DELETE', '/v1/models/x', 'GET'], ['FROBNICATE', '/v1/models', 'GET']]) {
  test(`405: ${method} ${target}`, async () => {
    const { response } = await expectRefusal(gateway, { status: 405, reason: 'method_not_allowed' }, () => gateway.send({ method, target, key: secrets.plain }));
    assert.ok((response.header('allow') ?? '').split(/, ?/).includes(allow), `allow: ${response.header('allow')}`);
  });
}

for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/jsonp', 'json'])
  refused(`415: ${type}`, { status: 415, reason: 'unsupported_media_type' }, withKey(chatBody(), { headers: { 'Content-Type': type } }));

// --- capabilities and policy ----------------------------------------------------------------------------------

refused('400 unsupported_parameter: the pool denies it, and it is named', { status: 400, reason: 'unsupported_parameter', param: 'min_p' }, withKey(chatBody({ min_p: 0.1 })));
refused('400 unsupported_parameter: streaming', { status: 400, reason: 'unsupported_parameter', param: 'stream' }, withKey(chatBody({ model: 'no-streams', stream: true })));
refused('400 context_length_exceeded', { status: 400, reason: 'context_length_exceeded' }, withKey(chatBody({ max_tokens: 5000 })));
refused('403 region_not_allowed', { status: 403, reason: 'region_not_allowed' }, { body: chatBody(), key: european });
refused('403 data_policy_not_allowed', { status: 403, reason: 'data_policy_not_allowed' }, { body: chatBody(), key: careful });

// --- size and time --------------------------------------------------------------------------------------------

refused('413 by Content-Length, before the body', { status: 413, reason: 'request_too_large' },
  requestBytes({ headers: { 'Content-Length': String(bodyLimit + 1) }, body: '{', key: secrets.plain }));
test('413 by Content-Length, for a client that sends it all first', () => expectRefusal(gateway, { status: 413, reason: 'request_too_large' },
  () => gateway.send(withKey('x'.repeat(4 * bodyLimit)))));
test('413 in chunks', () => expectRefusal(gateway, { status: 413, reason: 'request_too_large' }, async () => {
  const connection = await gateway.connect();
  await connection.write(requestBytes({ headers: { 'Transfer-Encoding': 'chunked' }, body: '', key: secrets.plain }));
  const part = `2000\r\n${'x'.repeat(0x2000)}\r\n`;
  for (let sent = 0; sent <= 2 * bodyLimit; sent += 0x2000) await connection.write(part);
  const response = await connection.readResponse();
  connection.close();
  return response;
}));
test('a body of exactly the limit is read', async () => {
  upstream.answerWith(jsonAnswer(200, { model: 'harbor-mid', choices: [] }));
  const frame = JSON.stringify(chatBody({ pad: '' })).length;
  const response = await gateway.send(withKey(chatBody({ pad: 'x'.repeat(bodyLimit - frame) }, {})));
  upstream.answer(() => { throw new Error('a refused request reached the engine'); });
  assert.notEqual(response.status, 413, response.body.toString());
});

refused('431: one large header', { status: 431, reason: 'header_too_large', recorded: false }, withKey(chatBody(), { headers: { 'X-Large': 'x'.repeat(headerLimit) } }));
refused('431: many small ones', { status: 431, reason: 'header_too_large', recorded: false }, withKey(chatBody(), { headers: Array.from({ length: 2000 }, (_, index) => [`X-${index}`, '1']) }));
refused('431: a long target', { status: 431, reason: 'header_too_large', recorded: false }, withKey(chatBody(), { target: `/v1/chat/completions?${'x'.repeat(headerLimit)}` }));

async function slowly(...parts) {
  const connection = await gateway.connect();
  const began = performance.now();
  for (const part of parts) await connection.write(part);
  const response = await connection.readResponse({ timeout: 3000 });
  const waited = performance.now() - began;
  connection.close();
  assert.ok(waited > 300 && waited < 1500, `answered after ${waited} ms`);
  return response;
}
test('408: a head that does not end', () => expectRefusal(gateway, { status: 408, reason: 'request_timeout', recorded: false },
  () => slowly('POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n')));
test('408: a body that does not come', () => expectRefusal(gateway, { status: 408, reason: 'request_timeout' },
  () => slowly(requestBytes({ headers: { 'Content-Length': '100' }, body: '{"model"', key: secrets.plain }))));
test('408: a chunked body that stops', () => expectRefusal(gateway, { status: 408, reason: 'request_timeout' },
  () => slowly(requestBytes({ headers: { 'Transfer-Encoding': 'chunked' }, body: '', key: secrets.plain }), '5\r\n{"mod')));
test('an idle connection is closed without a word', async () => {
  const connection = await RawConnection.connect(gateway.port);
  await within(3000, 'the idle connection to be closed', connection.closed);
  assert.equal(connection.received, 0);
  connection.close();
});
