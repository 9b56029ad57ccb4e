// Bounds on the gateway's memory. A build with AddressSanitizer keeps freed memory back, so there they are only printed.
import assert from 'node:assert/strict';
import { isSanitized } from './paths.mjs';

export function assertMemoryBelow(limit, bytes, what) {
  if (isSanitized('weir')) console.log(`# not judged under AddressSanitizer: ${what}, ${bytes} bytes of at most ${limit}`);
  else assert.ok(bytes < limit, `${what}: ${bytes} bytes, at most ${limit} are allowed`);
}
