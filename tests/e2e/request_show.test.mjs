// weir request show and GET /admin/v1/requests/{id}: one request in full, from the store of a running gateway.
import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { chat, oneAlias } from './harness/config.mjs';
import { checkErrorObject } from './harness/contract.mjs';
import { Gateway, run, sha256 } from './harness/gateway.mjs';
import { findProgram } from './harness/paths.mjs';
import { send } from './harness/rawclient.mjs';
import { jsonAnswer, Upstream } from './harness/upstream.mjs';
import { eventually, stopAll } from './harness/wait.mjs';

const token = 'token-of-a-viewer';
let upstream;
let gateway;
before(async () => {
  upstream = await Upstream.start();
  gateway = await Gateway.start(oneAlias(upstream.url, { server: { admin_tokens: [{ name: 'ann', sha256: sha256(token), role: 'viewer' }] } }));
});
after(() => stopAll(gateway, upstream));

const show = (id, { args = [], env = { WEIR_ADMIN_TOKEN: token } } = {}) => run(findProgram('weir'),
  ['request', 'show', id, '--admin', `http://127.0.0.1:${gateway.adminPort}`, ...args], { env });
const ask = (target, key = token) => send(gateway.adminPort, { method: 'GET', target, headers: { Host: 'localhost' }, key });

async function answered() {
  upstream.answerWith(jsonAnswer(200, { model: 'harbor-mid', usage: { prompt_tokens: 9, completion_tokens: 3 }, choices: [{ index: 0, message: { role: 'assistant', content: 'a secret word' }, finish_reason: 'stop' }] }));
  const response = await gateway.send(chat());
  const id = response.header('x-request-id');
  const record = await gateway.recordOf(id);
  await eventually('the record in the store', async () => (await ask(`/admin/v1/requests/${id}`)).status === 200);
  return { id, record };
}

test('the API gives the record, as in the access log', async () => {
  const { id, record } = await answered();
  const response = await ask(`/admin/v1/requests/${id}`);
  assert.match(response.header('content-type'), /^application\/json/);
  assert.deepEqual(response.json(), record);
});

test('the command shows every member, and what was tried; JSON on demand', async () => {
  const { id, record } = await answered();
  const shown = await show(id);
  assert.equal(shown.code, 0, shown.stderr);
  assert.match(shown.stdout, new RegExp(`^request_id +${id}$`, 'm'));
  assert.match(shown.stdout, /^outcome +ok$/m);
  assert.match(shown.stdout, /^decision\.eligible +main$/m);
  assert.match(shown.stdout, /^attempts\npool +replica .*outcome/m);
  for (const name of Object.keys(record)) assert.ok(shown.stdout.includes(name), `${name} is not shown`);
  assert.ok(!shown.stdout.includes('secret word'));
  const json = await show(id, { args: ['--format', 'json'] });
  assert.deepEqual(JSON.parse(json.stdout), record);
});

test('a refused request is shown with its reason', async () => {
  const response = await gateway.send(chat({ model: 'nobody' }));
  const id = response.header('x-request-id');
  await gateway.recordOf(id);
  const shown = await eventually('it to be stored', async () => { const told = await show(id); return told.code === 0 ? told : undefined; });
  assert.match(shown.stdout, /^reason +model_not_found$/m);
});

test('an unknown id: 404, exit 1, and what to do', async () => {
  for (const id of ['nobody-knows-this-one', "x'%20OR%201%20--", '%00', 'a'.repeat(4000)]) {
    const response = await ask(`/admin/v1/requests/${id}`);
    assert.equal(response.status, 404, response.body.toString());
    checkErrorObject(response.json().error, { code: 'not_found', message: /no record of this request/ });
  }
  const { code, stdout, stderr } = await show('nobody/knows?this=one');
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, /the id is what x-request-id says/);
});

test('only with a token, and only this path', async () => {
  const { id } = await answered();
  assert.equal((await ask(`/admin/v1/requests/${id}`, 'wrong')).status, 401);
  for (const target of ['/admin/v1/requests', '/admin/v1/requests/', `/admin/v1/requests/${id}/`, `/admin/v1/requests/${id}/x`])
    assert.equal((await ask(target)).status, 404, target);
  const refused = await show(id, { env: { WEIR_ADMIN_TOKEN: 'wrong' } });
  assert.equal(refused.code, 3);
  assert.match(refused.stderr, /admin token/);
});

test('a store that is gone is told; when it is back, it answers', async () => {
  const { id } = await answered();
  renameSync(gateway.storeFile, `${gateway.storeFile}.away`);
  const response = await ask(`/admin/v1/requests/${id}`);
  assert.equal(response.status, 503);
  checkErrorObject(response.json().error, { code: 'store_unavailable', message: /the file is gone/ });
  assert.equal((await show(id)).code, 3);
  renameSync(`${gateway.storeFile}.away`, gateway.storeFile);
  assert.equal((await ask(`/admin/v1/requests/${id}`)).status, 200);
});
