import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuPerRequest, cpuPerUnit } from './bench_measures.mjs';
import { sumOf } from './peers.mjs';
import { evaluate, withAdded } from './results.mjs';

const peer = (cpu, request_p50) => ({ cpu, request_p50, chunk_p50: 10 });

test('what a proxy adds is the difference to the direct connection of the same round', () => {
  const [round] = withAdded([{ direct: peer(undefined, 100), weir: peer(1, 130), nginx: peer(1, 150) }]);
  assert.equal(round.weir.added_request_p50, 30);
  assert.equal(round.nginx.added_request_p50, 50);
  assert.equal(round.direct.added_request_p50, undefined);
});

test('ratios are taken within a round, and their median is not the ratio of medians', () => {
  const rounds = [[10, 20], [30, 20], [40, 80]].map(([weir, nginx]) => ({ direct: peer(undefined, 0), weir: peer(weir, 1), nginx: peer(nginx, 1) }));
  const { cpu } = evaluate(rounds, [{ id: 'cpu', title: 'CPU', unit: 'µs' }]);
  assert.deepEqual(cpu.ratios['weir/nginx'].values, [0.5, 1.5, 0.5]);
  assert.equal(cpu.ratios['weir/nginx'].median, 0.5);
  assert.equal(cpu.peers.weir.median, 30);
  assert.equal(cpu.peers.direct, undefined);
  assert.equal(cpu.ratios['weir/haproxy'], undefined);
});

test('CPU of a request: the writer counts with everything it wrote, the others with the window', () => {
  const split = cpuPerRequest({
    requests: 100, answered: 150,
    cpu: [{ thread: 'weir-data-0', cpu_ns: 1_000_000 }, { thread: 'weir-writer', cpu_ns: 5 }, { thread: 'weir', cpu_ns: 100_000 }],
    whole: [{ thread: 'weir-data-0', cpu_ns: 9e9 }, { thread: 'weir-writer', cpu_ns: 3_000_000 }],
  });
  assert.deepEqual(split, { all: 31, data: 10, writer: 20, other: 1 });
  assert.equal(cpuPerUnit({ cpu: [{ cpu_ns: 3000 }, { cpu_ns: 1000 }] }, 2), 2);
});

test('a family of metrics is summed over its labels', () => {
  const text = '# HELP a_total x\na_total{sink="b"} 2\na_total{sink="c"} 3\na_total_more 9\nplain 0.5\n';
  assert.equal(sumOf(text, 'a_total'), 5);
  assert.equal(sumOf(text, 'plain'), 0.5);
  assert.equal(sumOf(text, 'absent'), 0);
});
