// Sends a RST. Node's resetAndDestroy() first ends the writable side, so that the peer sees a FIN and takes the RST
// for a late detail; the handle's own reset() closes with SO_LINGER 0 at once. Present in Node 18 and later.

export function resetSocket(socket) {
  const handle = socket._handle;
  if (handle === null || handle === undefined) return;
  const code = handle.reset(() => socket.destroy());
  if (code !== 0) throw new Error(`the socket could not be reset (${code})`);
}
