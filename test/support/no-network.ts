import dgram from 'node:dgram';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

// Whoever opens a socket, listens or looks up a name in this process gets an error, and where each came from is kept: some errors
// are caught. For tests that import it, and for `node --import` with FORBID_NETWORK=1, where the exit code says it.

export const opened: string[] = [];

/** Returns what allows it again. */
function forbid(owner: object, name: string, what: string): () => void {
  const before: unknown = Reflect.get(owner, name);
  Reflect.set(owner, name, () => {
    const error = new Error(`the network was used: ${what}`);
    opened.push(error.stack ?? error.message);
    throw error;
  });
  return () => void Reflect.set(owner, name, before);
}

/** Returns what allows the network again: other tests may run in the same process later. */
export function forbidNetwork(): () => void {
  const undo = [
    forbid(net.Socket.prototype, 'connect', 'connect'),
    forbid(net.Server.prototype, 'listen', 'listen'),
    forbid(dgram, 'createSocket', 'a datagram socket'),
    ...['lookup', 'resolve', 'resolve4', 'resolve6', 'lookupService'].flatMap((name) => [
      forbid(dns, name, `dns.${name}`),
      forbid(dns.promises, name, `dns.promises.${name}`),
    ]),
  ];
  syncBuiltinESMExports();
  return () => {
    for (const allow of undo) allow();
    syncBuiltinESMExports();
  };
}

if (process.env['FORBID_NETWORK'] === '1') {
  forbidNetwork();
  process.on('exit', () => {
    if (opened.length === 0) return;
    process.stderr.write(`${opened.join('\n')}\n`);
    process.exitCode = 70;
  });
}
