import dgram from 'node:dgram';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

// Whoever opens a socket, listens or looks up a name in this process gets an error, and where each came from is kept: some errors
// are caught. For tests that import it, and for `node --import` with FORBID_NETWORK=1, where the exit code says it.

export const opened: string[] = [];

function forbid(owner: object, name: string, what: string): void {
  Reflect.set(owner, name, () => {
    const error = new Error(`the network was used: ${what}`);
    opened.push(error.stack ?? error.message);
    throw error;
  });
}

export function forbidNetwork(): void {
  forbid(net.Socket.prototype, 'connect', 'connect');
  forbid(net.Server.prototype, 'listen', 'listen');
  forbid(dgram, 'createSocket', 'a datagram socket');
  for (const name of ['lookup', 'resolve', 'resolve4', 'resolve6', 'lookupService']) {
    forbid(dns, name, `dns.${name}`);
    forbid(dns.promises, name, `dns.promises.${name}`);
  }
  syncBuiltinESMExports();
}

if (process.env['FORBID_NETWORK'] === '1') {
  forbidNetwork();
  process.on('exit', () => {
    if (opened.length === 0) return;
    process.stderr.write(`${opened.join('\n')}\n`);
    process.exitCode = 70;
  });
}
