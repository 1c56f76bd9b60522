import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { KEY } from '../support/gateway.ts';
import { json, openaiReply } from '../support/upstream.ts';
import { startOutsideGateway, type OutsidePlugin } from '../plugins/outside-gateway.ts';

const ENTRY = ['telemetry', 'errors', 'auth', 'models', 'body', 'config'];

/** A gateway with one plugin of an author's in its entry chain, before the body is read. */
const start = (plugin: OutsidePlugin) =>
  startOutsideGateway({
    plugins: [{ ...plugin, level: 'entry' }],
    upstream: (_, res) => json(res, openaiReply('héllo 日本')),
    chains: { entry: ENTRY.toSpliced(4, 0, plugin.name) },
  });

const whole = JSON.stringify({ model: '@openai/m', messages: [{ role: 'user', content: 'naïve 日本' }] });
const HEAD = `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nx-gateway-api-key: ${KEY}\r\ncontent-type: application/json\r\n`;

/** Sends a request in pieces, each once the one before has left, and reads all that comes back. */
async function talk(url: string, pieces: readonly (string | Buffer)[]): Promise<string> {
  const { port } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  await once(socket, 'connect');
  const reply = text(socket);
  for (const piece of pieces) {
    await new Promise((resolve) => socket.write(piece, resolve));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return reply;
}

const chunk = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);

describe('a plugin that uses Koa’s request as a stream', () => {
  it.each([
    ['counts the bytes that pass', `let n = 0; ctx.req.on('data', (b) => { n += b.length; }); await next();`],
    [
      'counts those of a pipe',
      `let n = 0; const out = new stream.PassThrough(); ctx.req.pipe(out); out.on('data', (b) => { n += b.length; }); await next();`,
    ],
    [
      'begins to count when the gateway reads already',
      `let n = 0; const done = next(); ctx.req.on('data', (b) => { n += b.length; }); await done;`,
    ],
  ])('%s gets all of them, and so does the gateway', async (_, work) => {
    const name = 'counts';
    const body = `${work} ctx.exchange.reply.headers['x-bytes'] = String(n);`;
    await using started = await start({ name, body, before: `import stream from 'node:stream';` });
    const bytes = Buffer.from(whole);
    const pieces = [
      `${HEAD}connection: close\r\ncontent-length: ${bytes.length}\r\n\r\n`,
      bytes.subarray(0, 20),
      bytes.subarray(20),
    ];
    const reply = await talk(started.gateway.url, pieces);
    expect(reply).toMatch(/^HTTP\/1\.1 200 /);
    expect(reply).toContain(`x-bytes: ${bytes.length}\r\n`);
    expect(started.upstream.seen.at(-1)!.json).toMatchObject({ messages: [{ content: 'naïve 日本' }] });
  });

  it('finds an ended stream after the body, and learns of its end', async () => {
    const body = `let ends = 0; ctx.req.on('end', () => { ends += 1; }); await next();
      let rest = 0; for await (const piece of ctx.req) rest += piece.length;
      ctx.exchange.reply.headers['x-ends'] = ends + ' ' + rest;`;
    await using started = await start({ name: 'late', body });
    const response = await started.chat();
    expect([response.status, response.headers.get('x-ends')]).toEqual([200, '1 0']);
  });
});

it('a chunked body with trailers, cut within its characters, is read whole, and the connection goes on', async () => {
  await using started = await start({ name: 'none', body: 'await next();' });
  const bytes = Buffer.from(whole);
  const cut = bytes.indexOf(0xe6) + 1;
  const first = [
    `${HEAD}transfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n`,
    chunk(bytes.subarray(0, cut)),
    chunk(bytes.subarray(cut)),
    '0\r\nx-sum: 1\r\n\r\n',
  ];
  const second = [`${HEAD}connection: close\r\ncontent-length: ${bytes.length}\r\n\r\n`, bytes];
  const replies = await talk(started.gateway.url, [...first, ...second]);
  expect(replies.match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
  expect(replies.match(/héllo 日本/g)).toHaveLength(2);
  for (const { json: sent } of started.upstream.seen)
    expect(sent).toMatchObject({ messages: [{ content: 'naïve 日本' }] });
});

it('requests of one connection with bodies, all written at once, are answered in their order', async () => {
  await using started = await start({ name: 'none', body: 'await next();' });
  const one = (name: string, more = ''): string => {
    const body = JSON.stringify({ model: '@openai/m', messages: [{ role: 'user', content: name }] });
    return `${HEAD}x-request-id: ${name}\r\n${more}content-length: ${body.length}\r\n\r\n${body}`;
  };
  const replies = await talk(started.gateway.url, [
    one('first') + one('second') + one('third', 'connection: close\r\n'),
  ]);
  expect([...replies.matchAll(/x-request-id: (\w+)/g)].map(([, name]) => name)).toEqual(['first', 'second', 'third']);
});
