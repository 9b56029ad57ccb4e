// Bounded waiting: every wait in these tests has a deadline and says what it waited for.

export const sleep = (milliseconds) => new Promise((resolve) => { setTimeout(resolve, milliseconds); });

export async function within(milliseconds, what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${milliseconds} ms for ${what}`)), milliseconds);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

// Asks `probe` until it returns something that is neither undefined nor false.
export async function eventually(what, probe, { timeout = 5000, interval = 10 } = {}) {
  const deadline = performance.now() + timeout;
  for (;;) {
    const found = await probe();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`waited ${timeout} ms for ${what}`);
    await sleep(interval);
  }
}

// Stops everything, whatever fails on the way: a server left running would keep the test process alive.
export async function stopAll(...things) {
  const results = await Promise.allSettled(things.filter((thing) => thing !== undefined).map((thing) => thing.stop()));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
