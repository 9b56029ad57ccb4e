// The loader against the mock upstream, without a gateway: every kind of plan, and what is not a good answer.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Programs } from './processes.mjs';

const binDir = process.env.WEIR_BIN_DIR ?? new URL('../../build/release/bin', import.meta.url).pathname;
let directory;
let programs;
let upstream;

before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'weir-bench-test-'));
  programs = new Programs(binDir, directory);
  upstream = await programs.startUpstream();
});

after(async () => {
  await programs?.stopAll();
  rmSync(directory, { recursive: true, force: true });
});

test('whole answers on kept connections', async () => {
  const report = await programs.load(upstream.address, 'whole', { requests: 200, connections: 3 });
  assert.equal(report.failures, 0, report.first_failures[0]);
  assert.equal(report.requests, 200);
  assert.equal(report.connections_opened, 3);
  assert.equal(report.latency_us.count, 200);
  assert.ok(report.bytes > 200 * 550 && report.bytes < 200 * 700, `${report.bytes} bytes`);
});

test('paced streams: every chunk counted, and how late it came', async () => {
  const report = await programs.load(upstream.address, 'paced:5:10', { requests: 4, connections: 2 });
  assert.equal(report.failures, 0, report.first_failures[0]);
  assert.equal(report.chunks, 20);
  assert.equal(report.chunk_delay_us.count, 20);
  assert.ok(report.chunk_delay_us.p50 > 0 && report.chunk_delay_us.p50 < 5e6, `${report.chunk_delay_us.p50} µs`);
  assert.ok(report.latency_us.p50 >= 4 * 10_000, `${report.latency_us.p50} µs for five chunks, ten milliseconds apart`);
  const varied = await programs.load(upstream.address, 'varied:5:2', { requests: 2, connections: 2 });
  assert.equal(varied.failures, 0, varied.first_failures[0]);
  assert.equal(varied.chunk_delay_us.count, 10);
});

test('bursts', async () => {
  const report = await programs.load(upstream.address, 'burst:10000', { requests: 3, connections: 3 });
  assert.equal(report.failures, 0, report.first_failures[0]);
  assert.equal(report.chunks, 30_000);
});

test('a window of time, with the CPU time of a process in it', async () => {
  const report = await programs.load(upstream.address, 'whole', { seconds: 0.3, warmup: 0.1, connections: 2, watch: upstream.pid });
  assert.equal(report.failures, 0, report.first_failures[0]);
  assert.ok(report.requests > 10);
  assert.ok(report.seconds > 0.29, `${report.seconds} s`);
  assert.deepEqual(report.cpu.map((thread) => thread.thread_id), [upstream.pid]);
  assert.ok(report.cpu[0].cpu_ns > 0);
});

test('no more than the rate', async () => {
  const report = await programs.load(upstream.address, 'whole', { seconds: 0.5, rate: 100, connections: 2 });
  assert.equal(report.failures, 0, report.first_failures[0]);
  assert.ok(report.requests > 5 && report.requests <= 55, `${report.requests} requests`);
});

test('idle streams are held, and the memory that they take is told', async () => {
  const report = await programs.load(upstream.address, 'idle', { seconds: 0.1, connections: 50, watch: upstream.pid });
  assert.equal(report.failures, 0, report.first_failures[0]);
  assert.equal(report.requests, 50);
  for (const part of ['all_kib', 'anonymous_kib']) {
    assert.ok(report.resident_before[part] > 0, part);
    assert.ok(report.resident_after[part] >= report.resident_before[part], part);
  }
});

test('a wrong answer and a missing server are failures', async () => {
  const wrong = await programs.load(upstream.address, 'whole', { requests: 3, path: '/elsewhere' });
  assert.equal(wrong.requests, 0);
  assert.equal(wrong.failures, 3);
  assert.match(wrong.first_failures[0], /status 404/);
  const other = await programs.load(upstream.address, 'whole', { requests: 1, path: '/v1/models' });
  assert.match(other.first_failures[0], /not a complete chat completion/);
  await programs.stop(upstream.child);
  const nobody = await programs.load(upstream.address, 'whole', { requests: 2 });
  assert.equal(nobody.failures, 2);
  assert.match(nobody.first_failures[0], /connecting/);
});

test('a stream that lacks something is a failure', async () => {
  const content = 'data: {"choices":[{"index":0,"delta":{"content":" t=0000000000000000001"},"finish_reason":null}]}\n\n';
  const finish = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n';
  const done = 'data: [DONE]\n\n';
  for (const [events, expected] of [
    [[content, content, finish, done], undefined],
    [[content, finish, done], /1 chunks of 2/],
    [[content, content, content, finish, done], /3 chunks of 2/],
    [[content, content, done], /no proper end/],
    [[content, content, finish], /no proper end/],
    [[content, content, 'cut'], /closed|reset/],
  ]) {
    const server = createServer((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of events) if (event !== 'cut') response.write(event);
      if (events.includes('cut')) setTimeout(() => response.destroy(), 50);
      else response.end();
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    const report = await programs.load(`127.0.0.1:${server.address().port}`, 'burst:2', { requests: 1 });
    server.closeAllConnections();
    server.close();
    assert.equal(report.failures, expected ? 1 : 0, `${events.length} events: ${report.first_failures[0]}`);
    if (expected) assert.match(report.first_failures[0], expected);
  }
});
