// The admin listener: who gets in, by which name, with what; hostile messages; reload. Source: contract.md section 4.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { oneAlias, secrets } from './harness/config.mjs';
import { checkErrorObject } from './harness/contract.mjs';
import { Gateway, run, sha256 } from './harness/gateway.mjs';
import { findProgram } from './harness/paths.mjs';
import { RawConnection, requestBytes, send } from './harness/rawclient.mjs';
import { Upstream } from './harness/upstream.mjs';
import { eventually, stopAll } from './harness/wait.mjs';

const tokens = { viewer: 'token-of-a-viewer', operator: 'token-of-an-operator', approver: 'token-of-an-approver', admin: 'token-of-an-admin' };
const adminTokens = Object.entries(tokens).map(([role, token]) => ({ name: `the-${role}`, sha256: sha256(token), role }));

let upstream;
let gateway;    // without tokens, on loopback
let guarded;    // with tokens
let open_;      // bound to every address, with tokens
before(async () => {
  upstream = await Upstream.start();
  gateway = await Gateway.start(oneAlias([upstream.url]));
  guarded = await Gateway.start(oneAlias([upstream.url], { server: { admin_tokens: adminTokens, admin_hosts: ['weir-admin.example'] } }));
  open_ = await Gateway.start(oneAlias([upstream.url], { server: { admin_listen: '0.0.0.0:0', admin_tokens: adminTokens } }));
});
after(() => stopAll(gateway, guarded, open_, upstream));

const local = { Host: 'localhost:8081' };
const config = (headers = {}, more = {}) => ({ method: 'GET', target: '/admin/v1/config', headers: { ...local, ...headers }, ...more });
const explain = (changes = {}) => ({ target: '/admin/v1/explain', headers: local, body: { model: 'chat-test' }, ...changes });

function checkError(response, status, code, message) {
  assert.equal(response.status, status, response.body.toString());
  assert.equal(response.complete, true);
  assert.equal(response.header('x-weir-reason'), code);
  assert.match(response.header('content-type'), /^application\/json/);
  checkErrorObject(response.json().error, { code, message });
}

test('config: what is in force, and since when', async () => {
  const response = await send(gateway.adminPort, config());
  assert.equal(response.status, 200);
  const told = response.json();
  assert.deepEqual(Object.keys(told), ['version', 'file', 'loaded_at', 'last_reload']);
  assert.match(told.version, /^[0-9a-f]{12}$/);
  assert.equal(told.version, sha256(readFileSync(gateway.configFile)).slice(0, 12));
  assert.deepEqual(told.last_reload, { successful: true, at: told.loaded_at, problems: null });
  assert.equal(response.header('cache-control'), 'no-store');
  assert.equal(response.header('x-content-type-options'), 'nosniff');
});

test('HEAD is GET without the body', async () => {
  const response = await send(gateway.adminPort, config({}, { method: 'HEAD' }));
  assert.equal(response.status, 200);
  assert.equal(response.body.length, 0);
});

test('what is not there, and what cannot be done', async () => {
  checkError(await send(gateway.adminPort, config({}, { target: '/admin/v1/nothing' })), 404, 'not_found');
  checkError(await send(gateway.adminPort, config({}, { target: '/v1/chat/completions', method: 'POST', body: {} })), 404, 'not_found');
  checkError(await send(gateway.adminPort, config({}, { target: '/metrics' })), 404, 'not_found');
  const wrong = await send(gateway.adminPort, explain({ method: 'GET', body: undefined }));
  checkError(wrong, 405, 'method_not_allowed');
  assert.equal(wrong.header('allow'), 'POST');
});

test('no page of another site gets in by a name that resolves to this machine', async () => {
  for (const host of ['evil.example', 'evil.example:8081', 'localhost.evil.example', '10.1.2.3:8081', ':8081'])
    checkError(await send(gateway.adminPort, config({ Host: host })), 403, 'host_not_allowed');
  for (const host of ['127.0.0.1', '127.0.0.1:9', 'LocalHost', '[::1]:8081'])
    assert.equal((await send(gateway.adminPort, config({ Host: host }))).status, 200, host);
  assert.equal((await send(guarded.adminPort, config({ Host: 'Weir-Admin.example:80' }, { key: tokens.viewer }))).status, 200);
  checkError(await send(gateway.adminPort, Buffer.from('GET /admin/v1/config HTTP/1.0\r\n\r\n')), 403, 'host_not_allowed');
});

test('bound to every address, any address of the machine names it, but no other name', async () => {
  assert.equal((await send(open_.adminPort, config({ Host: '10.1.2.3:8081' }, { key: tokens.viewer }))).status, 200);
  checkError(await send(open_.adminPort, config({ Host: 'evil.example' }, { key: tokens.viewer })), 403, 'host_not_allowed');
  checkError(await send(open_.adminPort, config()), 401, 'invalid_admin_token');
});

test('a request that a form of another site could send is turned away', async () => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', '', 'application/jsonx'])
    checkError(await send(gateway.adminPort, explain({ headers: { ...local, 'Content-Type': type } })), 415, 'unsupported_media_type');
  const none = await send(gateway.adminPort, Buffer.from('POST /admin/v1/explain HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}'));
  checkError(none, 415, 'unsupported_media_type');
  const preflight = await send(gateway.adminPort, { method: 'OPTIONS', target: '/admin/v1/explain', headers: { ...local, Origin: 'http://evil.example', 'Access-Control-Request-Method': 'POST' } });
  checkError(preflight, 405, 'method_not_allowed');
  assert.equal(preflight.header('access-control-allow-origin'), undefined);
});

test('tokens: every role may look, nobody without one', async () => {
  for (const token of Object.values(tokens)) {
    assert.equal((await send(guarded.adminPort, config({}, { key: token }))).status, 200);
    assert.equal((await send(guarded.adminPort, explain({ key: token }))).status, 200);
  }
  const wrong = [config(), config({}, { key: 'nonsense' }), config({}, { key: secrets.plain }), config({ 'x-api-key': tokens.admin }),
    config({ Authorization: `Basic ${Buffer.from(`:${tokens.admin}`).toString('base64')}` }), config({ Authorization: 'Bearer' }), config({ Cookie: `token=${tokens.admin}` }),
    config({}, { target: `/admin/v1/config?token=${tokens.admin}` }), config({}, { target: '/admin/v1/nothing' }),
    { ...config(), headers: [['Host', 'localhost'], ['Authorization', `Bearer ${tokens.admin}`], ['Authorization', `Bearer ${tokens.admin}`]] }];
  const bodies = new Set();
  for (const request of wrong) {
    const response = await send(guarded.adminPort, request);
    checkError(response, 401, 'invalid_admin_token');
    assert.match(response.header('www-authenticate'), /^Bearer/);
    bodies.add(response.body.toString());
  }
  assert.equal(bodies.size, 1, 'all failures look alike');
});

test('weir explain sends WEIR_ADMIN_TOKEN', async () => {
  const ask = (env) => run(findProgram('weir'), ['explain', '--admin', `http://localhost:${guarded.adminPort}`, '--request', '-', '--key', 'plain'],
    { env, input: '{"model":"chat-test","messages":[]}' });
  const good = await ask({ WEIR_ADMIN_TOKEN: tokens.viewer });
  assert.equal(good.code, 0, good.stderr);
  assert.match(good.stdout, /^Would be served by pool main/);
  const bad = await ask({ WEIR_ADMIN_TOKEN: 'nonsense' });
  assert.equal(bad.code, 3);
  assert.match(bad.stderr, /answers 401: The admin token is missing or not valid/);
  assert.ok(!bad.stderr.includes('nonsense'), 'no token in messages');
  const odd = await ask({ WEIR_ADMIN_TOKEN: 'two\r\nHost: evil' });
  assert.equal(odd.code, 2);
});

test('a key that weir key made is known by its name, and refused when its tenant is not configured', async () => {
  const made = await run(findProgram('weir'), ['key', 'create', '--config', gateway.configFile, '--name', 'stored', '--tenant', 'acme'], { cwd: gateway.directory });
  assert.equal(made.code, 0, made.stderr);
  const ask = () => send(gateway.adminPort, explain({ target: '/admin/v1/explain?key=stored' }));
  const told = await eventually('the gateway to know the key', async () => {
    const response = await ask();
    return response.status === 200 ? response.json() : undefined;
  });
  assert.deepEqual([told.caller.tenant, told.caller.key, told.outcome], ['acme', 'stored', 'served']);
  const text = readFileSync(gateway.configFile, 'utf8');
  writeFileSync(gateway.configFile, text.replace('\n  acme:', '\n  other:'));
  gateway.signal('SIGHUP');
  const refused = await eventually('the tenant to be gone', async () => {
    const answer = (await ask()).json();
    return answer.outcome === 'refused' ? answer : undefined;
  });
  assert.equal(refused.refusal.reason, 'invalid_api_key');
  assert.match(refused.refusal.advice, /does not know the tenant/);
  writeFileSync(gateway.configFile, text);
  gateway.signal('SIGHUP');
  await eventually('the tenant to be back', async () => (await ask()).json().outcome === 'served');
});

test('explain: parameters are checked by name', async () => {
  const ask = (query) => send(gateway.adminPort, explain({ target: `/admin/v1/explain?${query}` }));
  assert.equal((await ask('key=acme%2Fplain&endpoint=chat.completions')).status, 200);
  for (const [query, param, message] of [['kye=plain', 'kye', /did you mean key/], ['endpoint=chat', 'endpoint', /no endpoint 'chat'/], ['key=plian', 'key', /did you mean plain/], ['%ff=1', '\ufffd', /no parameter/]]) {
    const response = await ask(query);
    checkError(response, 400, 'invalid_request', message);
    assert.equal(response.json().error.param, param);
  }
});

test('explain: hostile bodies are answered, and the gateway stays', async () => {
  const bodies = { empty: '', 'not JSON': 'x', 'deep nesting': '['.repeat(1 << 20), 'deep objects': '{"a":'.repeat(1 << 18), 'invalid UTF-8': Buffer.from([0x7b, 0x22, 0xff, 0x22]), nul: Buffer.alloc(100), 'a long name': JSON.stringify({ model: 'm'.repeat(1 << 20) }) };
  for (const [name, body] of Object.entries(bodies)) {
    const response = await send(gateway.adminPort, explain({ body: Buffer.from(body) }));
    assert.equal(response.status, 200, name);
    assert.equal(response.json().outcome, 'refused', name);
    assert.ok(response.body.length < 10_000, `${name}: the answer is short`);
  }
  const big = Buffer.concat([Buffer.from('{"model":"chat-test","messages":[{"role":"user","content":"'), Buffer.alloc((32 << 20) - 100, 0x61), Buffer.from('"}]}')]);
  const whole = await send(gateway.adminPort, explain({ body: big }));
  assert.equal(whole.json().outcome, 'served');
  checkError(await send(gateway.adminPort, explain({ body: Buffer.alloc((32 << 20) + 1, 0x20) })), 413, 'request_too_large');
  assert.equal((await send(gateway.adminPort, config())).status, 200);
});

test('only so many bodies are held at once', async () => {
  const head = requestBytes({ ...explain({ body: undefined }), headers: { ...local, 'Content-Type': 'application/json', 'Content-Length': '1000' } });
  const held = await Promise.all([1, 2, 3, 4].map(async () => {
    const connection = await RawConnection.connect(gateway.adminPort);
    await connection.write(head);
    return connection;
  }));
  try {
    const refused = await eventually('a body to be one too many', async () => {
      const response = await send(gateway.adminPort, explain());
      return response.status === 503 ? response : undefined;
    });
    checkError(refused, 503, 'overloaded');
    assert.match(refused.header('retry-after'), /^\d+$/);
    assert.equal((await send(gateway.adminPort, config())).status, 200, 'what has no body is answered');
  } finally {
    held.forEach((connection) => connection.close());
  }
  await eventually('the places to be free again', async () => (await send(gateway.adminPort, explain())).status === 200);
});

test('only so many connections are kept', async () => {
  const many = await Promise.all(Array.from({ length: 64 }, () => RawConnection.connect(gateway.adminPort)));
  try {
    const refused = await eventually('a connection to be one too many', async () => {
      const response = await send(gateway.adminPort, config()).catch(() => undefined);
      return response?.status === 503 ? response : undefined;
    });
    assert.equal(refused.header('x-weir-reason'), 'overloaded');
  } finally {
    many.forEach((connection) => connection.close());
  }
  await eventually('connections to be free again', async () => (await send(gateway.adminPort, config()).catch(() => ({}))).status === 200);
});

test('malformed messages get the error object', async () => {
  for (const [bytes, status, code] of [['NONSENSE\r\n\r\n', 400, 'invalid_http'], ['GET /admin/v1/config HTTP/1.1\r\n\r\n', 400, 'invalid_http'],
    [`GET /admin/v1/config HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20000)}\r\n\r\n`, 431, 'header_too_large']])
    checkError(await send(gateway.adminPort, Buffer.from(bytes)), status, code);
});

test('without a token it binds to loopback only', async () => {
  const lone = new Gateway(oneAlias([upstream.url], { server: { admin_listen: '0.0.0.0:0' } }));
  try {
    for (const command of ['check', 'serve']) {
      const { code, stdout, stderr } = await run(findProgram('weir'), [command, '--config', lone.configFile], { cwd: lone.directory });
      assert.equal(code, 1, `${command}: ${stdout}${stderr}`);
      assert.match(stdout + stderr, /server\.admin_listen: without admin_tokens the admin API listens on a loopback address only/);
    }
  } finally {
    lone.exited = Promise.resolve();
    lone.exit = { code: 1 };
    await lone.kill();
  }
});

test('a reload: new tokens are in force, a broken file is told and changes nothing', async () => {
  const lone = await Gateway.start(oneAlias([upstream.url], { server: { admin_tokens: adminTokens } }));
  try {
    const ask = async (key) => send(lone.adminPort, config({}, { key }));
    const { version } = (await ask(tokens.viewer)).json();
    const text = readFileSync(lone.configFile, 'utf8');
    writeFileSync(lone.configFile, `${text}\nnonsense: 1\n`);
    lone.signal('SIGHUP');
    const failed = await eventually('the reload to fail', async () => {
      const told = (await ask(tokens.viewer)).json();
      return told.last_reload.successful ? undefined : told;
    });
    assert.equal(failed.version, version);
    assert.match(failed.last_reload.problems, /nonsense/);
    assert.ok(failed.last_reload.at >= failed.loaded_at);
    writeFileSync(lone.configFile, text.replace(sha256(tokens.viewer), sha256('another-token')));
    lone.signal('SIGHUP');
    await eventually('the new token to be in force', async () => (await ask('another-token')).status === 200);
    assert.equal((await ask(tokens.viewer)).status, 401);
    const told = (await ask('another-token')).json();
    assert.notEqual(told.version, version);
    assert.deepEqual([told.last_reload.successful, told.last_reload.problems], [true, null]);
  } finally {
    await lone.stop();
  }
});

test('a reload that takes the tokens away closes the door of a port that is bound elsewhere', async () => {
  const lone = await Gateway.start(oneAlias([upstream.url], { server: { admin_listen: '0.0.0.0:0', admin_tokens: adminTokens } }));
  try {
    const ask = async (key) => send(lone.adminPort, config({}, { key }));
    assert.equal((await ask(tokens.admin)).status, 200);
    lone.write(oneAlias([upstream.url]));
    lone.signal('SIGHUP');
    await eventually('the tokens to be gone', async () => (await ask(tokens.admin)).status === 401);
    assert.equal((await ask(undefined)).status, 401);
  } finally {
    await lone.stop();
  }
});

test('while it drains, the gateway says so', async () => {
  const lone = await Gateway.start(oneAlias([upstream.url], { server: { drain: { delay: '1s', timeout: '2s' } } }));
  lone.signal('SIGTERM');
  const told = await eventually('the drain to be told', async () => {
    const answer = (await send(lone.adminPort, explain())).json();
    return answer.outcome === 'refused' ? answer : undefined;
  });
  assert.equal(told.refusal.reason, 'draining');
  await lone.stop();
});
