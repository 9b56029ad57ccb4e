import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseStraceSummary } from './strace.mjs';

test('calls are counted with and without errors, the total is none of them', () => {
  const text = `% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 71.23    0.012345          12      2000           sendmsg
 20.00    0.003456           3      2004         4 recvfrom
  8.77    0.001520           0      2001           epoll_wait
------ ----------- ----------- --------- --------- ----------------
100.00    0.017321           2      6005         4 total
`;
  assert.deepEqual(parseStraceSummary(text), { sendmsg: 2000, recvfrom: 2004, epoll_wait: 2001 });
  assert.deepEqual(parseStraceSummary(''), {});
});
