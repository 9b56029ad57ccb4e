// GET /v1/models and /v1/models/{id}: the aliases that this caller may use, from configuration alone.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { alias, aliasOf, oneAlias, secrets } from './harness/config.mjs';
import { checkHeaders, checkRefusal } from './harness/contract.mjs';
import { Gateway, sha256 } from './harness/gateway.mjs';
import { stopAll } from './harness/wait.mjs';

const everything = 'sk-test-everything';
const nothing = 'sk-test-nothing';

let gateway;
before(async () => {
  // No engine is there: the answer must not need one.
  const config = oneAlias('http://127.0.0.1:9', { alias: { context: 4096, names: ['chat-synonym'] } });
  config.aliases['org/with-slash'] = aliasOf(['main']);
  config.aliases['of-others'] = aliasOf(['main']);
  config.tenants.acme.aliases.push('org/with-slash');
  config.tenants.all = { keys: [{ name: 'everything', sha256: sha256(everything) }] };
  config.tenants.none = { aliases: [], keys: [{ name: 'nothing', sha256: sha256(nothing) }] };
  gateway = await Gateway.start(config);
});
after(() => stopAll(gateway));

const get = (target, key = secrets.plain, headers = {}) => gateway.send({ method: 'GET', target, key, headers });

test('the list has this caller\'s aliases, in the OpenAI shape', async () => {
  const response = await get('/v1/models');
  assert.equal(response.status, 200);
  checkHeaders(response);
  assert.match(response.header('content-type'), /^application\/json/);
  const { object, data } = response.json();
  assert.equal(object, 'list');
  assert.deepEqual(data.map((model) => model.id).filter((id) => id !== 'chat-synonym').sort(), [alias, 'org/with-slash'].sort());
  for (const model of data) {
    assert.equal(model.object, 'model');
    assert.equal(typeof model.created, 'number');
    assert.equal(typeof model.owned_by, 'string');
  }
  assert.equal(data.find((model) => model.id === alias).max_model_len, 4096);
  assert.ok(!response.body.includes('harbor'), 'neither family nor target leaks');
});

test('a tenant without a list may use every alias; with an empty one, none', async () => {
  const ids = async (key) => (await get('/v1/models', key)).json().data.map((model) => model.id);
  assert.ok((await ids(everything)).includes('of-others'));
  assert.deepEqual(await ids(nothing), []);
});

test('x-api-key and a query string are taken', async () => {
  assert.equal((await gateway.send({ method: 'GET', target: '/v1/models?limit=5', headers: { 'x-api-key': secrets.plain } })).status, 200);
});

for (const id of [alias, 'chat-synonym', 'org%2Fwith-slash', 'org/with-slash']) {
  test(`one model by id: ${id}`, async () => {
    const response = await get(`/v1/models/${id}`);
    assert.equal(response.status, 200, response.body.toString());
    const model = response.json();
    assert.equal(model.object, 'model');
    assert.ok([decodeURIComponent(id), alias].includes(model.id));
  });
}

for (const id of ['nowhere', 'of-others', 'harbor-mid', '%00', '%', '..%2f..']) {
  test(`404 for one that is not there or not the caller's: ${id}`, async () => {
    checkRefusal(await get(`/v1/models/${id}`), { status: 404, reason: 'model_not_found' });
  });
}
