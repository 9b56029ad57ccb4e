// What is known of a prompt's size: the bound is bytes and what the pool's engine adds, which is learnt from its counts.
// Only what surely does not fit is refused. Source: evidence.md section 2, docs/decisions/context.md.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { alias, chatBody, oneAlias, secrets, upstreamModel as model } from './harness/config.mjs';
import { Gateway } from './harness/gateway.mjs';
import { jsonAnswer, Upstream } from './harness/upstream.mjs';
import { eventually, stopAll } from './harness/wait.mjs';

const context = 1000;
const config = () => oneAlias(upstream.url, { pool: { engine: 'vllm' }, alias: { context, features: [], endpoints: ['chat.completions', 'completions'] } });
let upstream;
let gateway;
before(async () => { upstream = await Upstream.start(); });
after(() => stopAll(upstream));

// One request with `promptTokens` told; whether the gateway knew that it fits.
async function ask(promptTokens, body = {}, target = '/v1/chat/completions') {
  upstream.answerWith(jsonAnswer(200, `{"model":"${model}","choices":[{"index":0,"message":{"role":"assistant","content":"x"},"text":"x","finish_reason":"stop"}],`
    + `"usage":{"prompt_tokens":${promptTokens},"completion_tokens":1,"total_tokens":${promptTokens + 1}}}`));
  const response = await gateway.send({ target, body: { ...chatBody(), ...body }, key: secrets.debug });
  assert.equal(response.status, 200, response.body.toString());
  await gateway.recordOf(response.header('x-request-id'));
  return response.header('x-weir-decision').includes('context=undecided') ? 'undecided' : 'fits';
}

test('the overhead is learnt, per pool and kind of prompt, and outlives a reload of the same pool', async () => {
  gateway = await Gateway.start(config());
  try {
    const body = JSON.stringify(chatBody()).length;
    const fill = { max_tokens: context - body - 200 };   // room for 200 more tokens than bytes, less the member itself
    const long = { messages: [{ role: 'user', content: 'word '.repeat(100) }] };
    assert.equal(await ask(300, { ...fill, ...long }), 'undecided', 'nothing is known before the first report');
    assert.equal(await ask(40, fill), 'undecided', 'an overhead of up to 300 tokens may not fit');
    assert.equal(await ask(40, fill), 'fits', 'no more than 40 tokens are ever added');
    assert.equal(await ask(340, fill), 'fits', 'until a count disproves it');
    assert.equal(await ask(40, fill), 'undecided', 'more than 200 tokens beyond the bytes');
    assert.equal(await ask(40, { tools: [{ type: 'function' }] }), 'undecided', 'tools have a template of their own');
    assert.equal(await ask(40, { chat_template_kwargs: {} }), 'undecided', 'a template of the request\'s own');
    assert.equal(await ask(40, { prompt: 'x' }, '/v1/completions'), 'undecided', 'so have completions');
    assert.equal(await ask(40, { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }] }), 'undecided', 'media');
    assert.equal(await ask(40), 'fits');
    const changed = config();
    changed.aliases[alias].client_timeout = '90s';
    await reload(changed);
    assert.equal(await ask(40), 'fits', 'what was learnt stays');
    changed.pools.main.target.chat_template_sha256 = 'a'.repeat(64);
    await reload(changed);
    assert.equal(await ask(40), 'undecided', 'another template begins anew');
  } finally {
    await gateway.stop();
  }
});

async function reload(changed) {
  const version = async () => (await gateway.recordOf((await gateway.send({ body: chatBody({ model: 'nowhere' }), key: secrets.debug })).header('x-request-id'))).config_version;
  const old = await version();
  gateway.write(changed);
  gateway.signal('SIGHUP');
  await eventually('the reload', async () => ((await version()) !== old ? true : undefined));
}
