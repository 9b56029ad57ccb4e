// Ways to deliver an engine's answer; each gives pieces that leave in segments of their own, or undefined where a way
// would take too long.
import { makeRandom, randomPieces } from './random.mjs';

const byteByByteLimit = 14 * 1024;
const random = makeRandom();

// `answer`: {response, pieces}: all bytes, and where the recorder's reads cut them.
export const deliveries = {
  'as recorded': (answer) => answer.pieces,
  'byte by byte': (answer) => (answer.response.length <= byteByByteLimit ? randomPieces(answer.response, random, 1) : undefined),
  'random splits': (answer) => randomPieces(answer.response, random, Math.max(4, Math.ceil(answer.response.length / 60))),
};
