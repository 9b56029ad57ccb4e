// Two thousand streams at once through one gateway: no error of ours, and what an idle stream costs in memory.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { alias, chat, oneAlias } from './harness/config.mjs';
import { Gateway } from './harness/gateway.mjs';
import { assertMemoryBelow } from './harness/memory.mjs';
import { e2eRoot } from './harness/paths.mjs';
import { Simulator } from './harness/sim.mjs';
import { dataEvents } from './harness/sse.mjs';
import { eventually, sleep, stopAll, within } from './harness/wait.mjs';

const streams = 2000;
const batch = 100;   // connections opened together: the listen queue is not under test

async function startEngine() {
  const child = fork(path.join(e2eRoot, 'harness/engine_process.mjs'), { stdio: 'inherit' });
  const answers = [];
  child.on('message', (message) => answers.push(message));
  const next = (what) => eventually(what, () => answers.shift(), { timeout: 20000 });
  const { url } = await next('the engine to listen');
  const exited = new Promise((resolve) => { child.on('exit', resolve); });
  const count = async () => {
    child.send({ count: true });
    return (await next('a count')).open;
  };
  const stop = async () => {
    child.disconnect();
    await within(5000, 'the engine to end', exited).finally(() => child.kill('SIGKILL'));
  };
  return { url, send: (message) => child.send(message), count, stop };
}

async function openStreams(gateway, count, request) {
  const connections = [];
  while (connections.length < count) {
    const opened = await Promise.all(Array.from({ length: Math.min(batch, count - connections.length) }, async () => {
      const connection = await gateway.open(request);
      await connection.readResponse({ until: (reader) => reader.pieces.length > 0, timeout: 30000 });
      return connection;
    }));
    connections.push(...opened);
  }
  return connections;
}

async function finish(connections) {
  const responses = await Promise.all(connections.map((connection) => connection.readResponse({ timeout: 40000 })));
  for (const connection of connections) connection.close();
  return responses;
}

// Nobody got anything but 200, a clean end, and no error event.
function failuresOf(responses) {
  return responses.filter((response) => response.status !== 200 || !response.complete || response.body.includes('"error"')
    || !response.body.subarray(-14).equals(Buffer.from('data: [DONE]\n\n'))).length;
}

test(`${streams} idle streams: none fails, and each costs little`, async () => {
  const engine = await startEngine();
  const gateway = await Gateway.start(oneAlias(engine.url, { pool: { timeouts: { first_token: '60s', idle: '60s' } } }));
  try {
    const warm = await openStreams(gateway, 200, chat({ stream: true }));
    engine.send({ finish: true });
    await finish(warm);
    await sleep(300);
    const before = gateway.memory().resident;
    const connections = await openStreams(gateway, streams, chat({ stream: true }));
    assert.equal(await engine.count(), streams);
    await sleep(500);
    const each = (gateway.memory().resident - before) / streams;
    console.log(`# ${streams} idle streams: ${(each / 1024).toFixed(1)} KiB of the gateway for each (of ${(gateway.memory().resident / 1048576).toFixed(0)} MiB)`);
    assert.equal((await gateway.metrics()).sum('weir_inflight_requests'), streams);
    const began = performance.now();
    engine.send({ tokens: 10 });
    engine.send({ finish: true });
    const responses = await finish(connections);
    console.log(`# 10 tokens and the end for all of them: ${(performance.now() - began).toFixed(0)} ms`);
    assert.equal(failuresOf(responses), 0);
    assert.ok(responses.every((response) => dataEvents(response.body).length === 13), '11 tokens, the finish, [DONE]');
    assertMemoryBelow(64 * 1024, each, 'an idle stream');
    await eventually('all of them to be settled', async () => (await gateway.metrics()).sum('weir_inflight_requests') === 0);
    await eventually('all of them to be recorded', () => gateway.records().length === streams + 200, { timeout: 10000, interval: 200 });
    assert.ok(gateway.records().every((record) => record.outcome === 'ok'));
  } finally {
    await stopAll(gateway, engine);
  }
});

test(`${streams} streams of a simulated engine that works on all of them`, async () => {
  const simulator = await Simulator.start({ preset: 'crowd' });
  const config = oneAlias(simulator.url, { pool: { engine: 'vllm', target: { model: simulator.model }, timeouts: { first_token: '60s', idle: '60s' } } });
  const gateway = await Gateway.start(config);
  try {
    const request = chat({ stream: true, max_tokens: 12, ignore_eos: true, temperature: 0 });
    const began = performance.now();
    const connections = [];
    while (connections.length < streams) connections.push(...await Promise.all(Array.from({ length: batch }, () => gateway.open(request))));
    const responses = await finish(connections);
    console.log(`# ${streams} simulated streams in ${((performance.now() - began) / 1000).toFixed(1)} s`);
    assert.equal(failuresOf(responses), 0, responses.find((response) => response.status !== 200)?.body.toString());
    assert.ok(responses.every((response) => dataEvents(response.body).every((data) => data === '[DONE]' || JSON.parse(data).model === alias)));
    await eventually('all of them to be recorded', () => gateway.records().length === streams, { timeout: 10000, interval: 200 });
    assert.ok(gateway.records().every((record) => record.outcome === 'ok' && record.completion_tokens === 12 && record.usage_source === 'engine'));
  } finally {
    await stopAll(gateway, simulator);
  }
});
