// A small seeded generator (mulberry32): a failing run is repeated with WEIR_TEST_SEED.

export const seed = Number(process.env.WEIR_TEST_SEED ?? (Date.now() % 0x7fffffff));

export function makeRandom(from = seed) {
  let state = from >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  return { next, integer: (low, high) => low + Math.floor(next() * (high - low + 1)) };
}

// Cuts bytes into pieces of 1..longest bytes.
export function randomPieces(bytes, random, longest) {
  const pieces = [];
  for (let at = 0; at < bytes.length;) {
    const size = random.integer(1, longest);
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}
