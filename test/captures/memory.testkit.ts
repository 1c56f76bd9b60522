import '../support/add-ons.ts';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { getHeapSnapshot } from 'node:v8';
import { startGateway } from '../../src/core/process/gateway.ts';
import { KEY, writeSettings } from '../support/write-settings.ts';

/** A gateway that captures one request in a process of its own. Prints whether its memory and the disk have the request before and after the capture ends. */
const configs = writeSettings({
  server: {
    admin: { port: 0, role: 'admin', content: true },
    listen: { host: '127.0.0.1', port: 0 },
    status: { host: '127.0.0.1', port: 0 },
  },
});
const gateway = await startGateway({ configs, env: {}, logTo: { write: () => {} } });
const admin = gateway.admin!.url;

/** With a connection of its own: a snapshot takes longer than one is kept. */
function call(url: string, method: string, headers: Record<string, string>, body?: object): Promise<string> {
  return new Promise((resolve, reject) => {
    const all = { ...headers, 'content-type': 'application/json' };
    request(url, { method, headers: all, agent: false }, (reply) => {
      const pieces: Buffer[] = [];
      reply.on('data', (piece: Buffer) => pieces.push(piece));
      reply.once('end', () => resolve(Buffer.concat(pieces).toString()));
    })
      .once('error', reject)
      .end(body && JSON.stringify(body));
  });
}

const ask = (method: string, path: string, body?: object): Promise<string> =>
  call(`${admin}/admin/v1${path}`, method, {}, body);

/** The canary, without a string of it in this program. */
const half = Buffer.from('canary-of-the-capture-');
const canary = (): string => `${half.toString()}${half.length * 7}`;

const { id } = JSON.parse(await ask('POST', '/captures', { requests: 1 })) as { id: string };
const chat = { model: '@sim/demo', messages: [{ role: 'user', content: 'hello' }] };
const headers = { 'x-canary': canary(), authorization: `Bearer ${KEY}` };
await call(`${gateway.data.url}/v1/chat/completions`, 'POST', headers, chat);

/** A snapshot has the first 1024 characters of each string. */
async function isInMemory(): Promise<boolean> {
  const wanted = canary();
  let rest = '';
  let found = false;
  for await (const piece of getHeapSnapshot() as AsyncIterable<Buffer>) {
    const text = rest + piece.toString('latin1');
    // The string itself is in the heap while it is looked for: only a longer one counts, as a line of a capture is.
    found ||= text.includes(`${wanted}\\"`);
    rest = text.slice(-200);
  }
  return found;
}

const isOnDisk = (folder: string): boolean =>
  readdirSync(folder, { withFileTypes: true, recursive: true }).some(
    (entry) => entry.isFile() && readFileSync(join(entry.parentPath, entry.name), 'latin1').includes(canary()),
  );

const state = async (): Promise<object> => ({ memory: await isInMemory(), disk: isOnDisk(configs) });
const before = await state();
await ask('DELETE', `/captures/${id}`);
const after = await state();
process.stdout.write(JSON.stringify({ before, after }));
await gateway.close();
rmSync(configs, { recursive: true, force: true });
