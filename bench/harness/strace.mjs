// Reads the table of `strace -c`: how often each system call was made.

// "% time     seconds  usecs/call     calls    errors syscall": the errors are missing where there were none.
export function parseStraceSummary(text) {
  const calls = {};
  for (const line of text.split('\n')) {
    const match = line.match(/^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?([a-z]\w*)\s*$/);
    if (match && match[2] !== 'total') calls[match[2]] = Number(match[1]);
  }
  return calls;
}
