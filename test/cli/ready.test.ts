import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { readyCommand } from '../../src/core/commands/ready.ts';

const dir = mkdtempSync(join(tmpdir(), 'gatehouse-ready-'));
let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** A status listener that answers with a status, or not at all. */
async function listen(status: number | undefined): Promise<number> {
  server = createServer((request, response) => {
    if (status !== undefined) response.writeHead(request.url === '/readyz' ? status : 404).end('x'.repeat(100_000));
  });
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function ready(settings: string, url?: string): Promise<{ readonly code: number; readonly text: string }> {
  writeFileSync(join(dir, 'server.yaml'), settings);
  let text = '';
  const write = (more: string): void => void (text += more);
  const code = await readyCommand({
    dir,
    url,
    env: { GATEHOUSE_HOST: '0.0.0.0' },
    timeoutMs: 300,
    out: write,
    err: write,
  });
  return { code, text };
}

describe('gatehouse ready', () => {
  it.each([
    ['serves', 200, 0, /^ready\n$/],
    ['drains', 503, 1, /not ready: \S+\/readyz answers 503/],
    ['hangs', undefined, 1, /no answer within 300 ms/],
  ])('asks the listener of server.yaml on this machine, where the gateway %s', async (_, status, code, text) => {
    const port = await listen(status);
    expect(await ready(`status: { port: ${port} }\n`)).toEqual({ code, text: expect.stringMatching(text) });
  });

  it('asks another address where one is given, whatever server.yaml says', async () => {
    const port = await listen(200);
    expect(await ready('status: [', `http://127.0.0.1:${port}`)).toEqual({ code: 0, text: 'ready\n' });
  });

  it('needs an address where server.yaml has a free port', async () => {
    expect(await ready('status: { port: 0 }\n')).toEqual({ code: 1, text: expect.stringContaining('--url') });
  });

  it('is not ready where nothing listens', async () => {
    const port = await listen(200);
    await new Promise((resolve) => server!.close(resolve));
    expect(await ready(`status: { port: ${port} }\n`)).toEqual({
      code: 1,
      text: expect.stringContaining('ECONNREFUSED'),
    });
  });
});
