import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { KEY, until, type TestGateway } from '../../support/gateway.ts';
import { startPair, type PairSetup } from '../../support/pair.ts';
import { anthropicEvents, sse, type Script } from '../../support/upstream.ts';
import { codeOf, connect, frameOf, HANDSHAKE, inFlight, rawSocket, rawWebSocket, type Client } from './kit.testkit.ts';

/** Clients that misuse a WebSocket. After each of them, an honest turn is served and nothing is left. */

const MODEL = '@claude/claude-sonnet-4-5';
const hello: Script = (_, res) => sse(res, anthropicEvents('Hello'));
const TEXT = 0x1;
const PING = 0x9;
const CONTINUATION = 0x0;
const create = JSON.stringify({ type: 'response.create', model: MODEL, input: 'hi' });

async function start(setup: PairSetup = {}, script: Script = hello) {
  return startPair(script, setup);
}

/** Sockets, requests and held bytes are gone, and a turn is served. */
async function isWell(gateway: TestGateway): Promise<void> {
  const client = await connect(gateway);
  expect((await client.turn({ model: MODEL, input: 'hi' })).at(-1)?.type).toBe('response.completed');
  client.ws.close();
  await client.end();
  await expect.poll(() => inFlight(gateway)).toBe(0);
}

/** The close frame that ends a raw connection. */
async function closeOf(socket: Awaited<ReturnType<typeof rawWebSocket>>): Promise<number> {
  const pieces: Buffer[] = [];
  socket.on('data', (piece: Buffer) => pieces.push(piece));
  await once(socket, 'end');
  const bytes = Buffer.concat(pieces);
  const at = bytes.lastIndexOf(0x88);
  return bytes.readUInt16BE(at + 2);
}

describe('a client of a WebSocket', () => {
  it.each<[string, PairSetup, (client: Client) => void, number]>([
    [
      'that sends a frame beyond `frame_bytes`',
      { server: { websockets: { frame_bytes: 1024 } } },
      ({ ws }) => ws.send('x'.repeat(1025)),
      1009,
    ],
    ['that sends text in a binary frame', {}, ({ ws }) => ws.send(create, { binary: true }), 1003],
    [
      'that sends thousands of tiny frames',
      {},
      ({ ws }) => {
        for (let count = 0; count < 5000; count += 1) ws.send('{}');
      },
      1008,
    ],
    [
      'whose messages exceed what all sockets may hold',
      { server: { websockets: { held_bytes: '64KiB' } } },
      ({ ws }) => ws.send('x'.repeat(200_000)),
      1013,
    ],
  ])('%s is closed with its code', async (_, setup, misuse, code) => {
    const { gateway } = await start(setup);
    const client = await connect(gateway);
    misuse(client);
    expect(await client.end()).toMatchObject({ code });
    await isWell(gateway);
  });

  it.each<[string, readonly Buffer[], number]>([
    ['invalid UTF-8', [frameOf(TEXT, Buffer.from([0x22, 0xff, 0x22]))], 1007],
    ['an unmasked frame', [Buffer.from([0x81, 0x02, 0x7b, 0x7d])], 1002],
    ['a continuation of nothing', [frameOf(CONTINUATION, '{}')], 1002],
    ['a compressed frame, which was not agreed', [frameOf(TEXT | 0x40, '{}')], 1002],
    [
      'a message in thousands of empty fragments',
      [
        frameOf(TEXT, '', { fin: false }),
        ...Array.from({ length: 5000 }, () => frameOf(CONTINUATION, '', { fin: false })),
      ],
      1008,
    ],
  ])('that sends %s is closed with its code', async (_, frames, code) => {
    const { gateway } = await start();
    const socket = await rawWebSocket(gateway);
    const closed = closeOf(socket);
    socket.write(Buffer.concat(frames));
    expect(await closed).toBe(code);
    await isWell(gateway);
  });

  it('may send a message in fragments with pings between', async () => {
    const { gateway, upstream } = await start();
    const socket = await rawWebSocket(gateway);
    const pieces = create.match(/.{1,7}/g)!;
    socket.write(
      Buffer.concat(
        pieces.flatMap((piece, at) => [
          frameOf(at === 0 ? TEXT : CONTINUATION, piece, { fin: at === pieces.length - 1 }),
          ...(at === pieces.length - 1 ? [] : [frameOf(PING, 'p')]),
        ]),
      ),
    );
    await until(() => upstream.seen.length === 1, 'the turn arrives');
    await isWell(gateway);
  });

  it('that floods with pings and reads nothing fills no memory', async () => {
    const { gateway } = await start({ server: { websockets: { held_bytes: '256KiB' } } });
    const socket = await rawWebSocket(gateway);
    socket.pause();
    const flood = Buffer.concat(Array.from({ length: 10_000 }, () => frameOf(PING, 'x'.repeat(100))));
    const before = process.memoryUsage().arrayBuffers;
    for (let count = 0; count < 20; count += 1) {
      if (!socket.write(flood)) await once(socket, 'drain');
    }
    // 20 MB of pongs would wait.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 1024 * 1024);
    socket.destroy();
    await isWell(gateway);
  });

  it('that reads nothing holds its upstream back, and ends with its turn’s deadline', async () => {
    let written = 0;
    let isCut = false;
    const flood: Script = (_, res, index) => {
      if (index > 0) return void sse(res, anthropicEvents('Hello'));
      res.on('close', () => (isCut = true));
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      const [start0, start1, delta] = anthropicEvents('y'.repeat(16_384)).map(
        (event) => `data: ${JSON.stringify(event)}\n\n`,
      );
      res.write(start0! + start1!);
      const more = (): void => {
        do written += 16_384;
        while (written < 200_000_000 && res.write(delta));
      };
      res.on('drain', more);
      more();
    };
    const { gateway } = await start({ server: { deadline: '1500ms' } }, flood);
    const socket = await rawWebSocket(gateway);
    socket.pause();
    socket.write(frameOf(TEXT, create));
    await until(() => written > 0, 'the upstream answers');
    await until(() => isCut, 'the deadline ends the turn at its upstream');
    // Kernel buffers of three connections, and nothing like the 200 MB.
    expect(written).toBeLessThan(40_000_000);
    // The client has 30 seconds for what was written.
    socket.destroy();
    await until(() => gateway.logText().includes('timeout_request'), 'the record has the deadline');
    await isWell(gateway);
  });

  it('that sends its handshake a byte at a time is timed out', { timeout: 120_000 }, async () => {
    const { gateway } = await start({ server: { limits: { header_time: '1s' } } });
    const socket = await rawSocket(gateway);
    const pieces: Buffer[] = [];
    socket.on('data', (piece: Buffer) => pieces.push(piece));
    let at = 0;
    const writing = setInterval(() => socket.write(HANDSHAKE[at++] ?? ' '), 100);
    await once(socket, 'close');
    clearInterval(writing);
    expect(Buffer.concat(pieces).toString()).toMatch(/^HTTP\/1\.1 408 /);
    await isWell(gateway);
  });

  it('that sends half a message and no more is closed when it rests too long', async () => {
    const { gateway } = await start({ server: { websockets: { idle_time: '200ms' } } });
    const socket = await rawWebSocket(gateway);
    const closed = closeOf(socket);
    socket.write(frameOf(TEXT, create, { fin: false }));
    expect(await closed).toBe(1000);
    await isWell(gateway);
  });

  it('that asks for long answers without a turn and reads none is closed when it rests too long', async () => {
    const { gateway } = await start({ server: { websockets: { idle_time: '500ms', per_key: 1 } } });
    const { ws } = await connect(gateway);
    ws.send(JSON.stringify({ type: 'response.steer', input: 'x'.repeat(8_000_000) }));
    ws.pause();
    const opens = (): Promise<boolean> =>
      connect(gateway).then(
        () => true,
        () => false,
      );
    expect(await opens()).toBe(false);
    // The close waits 5 seconds for its answer.
    await expect.poll(opens, { timeout: 60_000 }).toBe(true);
  }, 20_000);

  it('cannot have a long name of a turn repeated in every event', async () => {
    const { gateway, upstream } = await start();
    const client = await connect(gateway);
    const [refused] = await client.turn({ model: MODEL, input: 'hi', stream_id: 'x'.repeat(2000) });
    expect(refused).toMatchObject({ type: 'error', status: 400, error: { param: 'stream_id' } });
    expect(upstream.seen).toHaveLength(0);
    expect((await client.turn({ model: MODEL, input: 'hi', stream_id: 'x' })).at(-1)?.type).toBe('response.completed');
  });

  it('fills no more than its share of what all sockets may hold', async () => {
    const other = 'gatehouse-other-key-0123456789';
    const keys = { keys: [KEY, other].map((key, at) => ({ id: `k${at}`, key: `\${env:NONE:-${key}}` })) };
    const { gateway } = await start({ keys, server: { websockets: { held_bytes: '64KiB' } } });
    const honest = await connect(gateway, { headers: { authorization: `Bearer ${other}` } });
    const hostile = await Promise.all(Array.from({ length: 8 }, () => rawWebSocket(gateway)));
    // Halves of messages, which would leave room for no further one.
    for (const socket of hostile)
      for (let count = 0; count < 4; count += 1)
        socket.write(frameOf(count === 0 ? TEXT : CONTINUATION, 'x'.repeat(2000), { fin: false }));
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect((await honest.turn({ model: MODEL, input: 'x'.repeat(8000) })).at(-1)?.type).toBe('response.completed');
  });

  it('that is gone without a word gives its place and its turn back', async () => {
    const { gateway, upstream } = await start({ server: { websockets: { per_key: 1 } } }, (_, res, index) =>
      sse(res, index === 0 ? anthropicEvents('x').slice(0, 3) : anthropicEvents('Hello'), index > 0),
    );
    const socket = await rawWebSocket(gateway);
    socket.write(frameOf(TEXT, create));
    await until(() => upstream.seen.length === 1, 'the turn arrives');
    socket.resetAndDestroy();
    await until(() => upstream.seen[0]!.aborted, 'the upstream request is aborted');
    await isWell(gateway);
  });

  it('may not open a socket behind a request of the same connection that is not answered', async () => {
    const { gateway } = await start({}, ({ text }, res) =>
      text.includes('unanswered')
        ? sse(res, anthropicEvents('x').slice(0, 3), false)
        : sse(res, anthropicEvents('Hello')),
    );
    const socket = await rawSocket(gateway);
    const body = JSON.stringify({ model: MODEL, input: 'unanswered', stream: true });
    const head = HANDSHAKE.replace('GET', 'POST')
      .replace(/(?:Connection|Upgrade): .*\r\n/g, '')
      .trimEnd();
    const post = `${head}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const pieces: Buffer[] = [];
    socket.on('data', (piece: Buffer) => pieces.push(piece));
    socket.write(post + HANDSHAKE);
    await once(socket, 'close');
    expect(Buffer.concat(pieces).toString()).not.toContain('101 Switching');
    await isWell(gateway);
  });

  it('with a wrong version or key of the handshake is refused in the API’s own words', async () => {
    const { gateway } = await start();
    for (const broken of [HANDSHAKE.replace('Version: 13', 'Version: 12'), HANDSHAKE.replace('dGhl', '!!!!')]) {
      const socket = await rawSocket(gateway);
      socket.write(broken);
      const [reply] = (await once(socket, 'data')) as [Buffer];
      expect(reply.toString()).toMatch(/^HTTP\/1\.1 400 [^]*"code":"invalid_header"/);
    }
  });

  it('that asks for another upgrade gets an ordinary reply', async () => {
    const { gateway } = await start();
    const socket = await rawSocket(gateway);
    socket.write(HANDSHAKE.replace('Upgrade: websocket', 'Upgrade: h2c'));
    const [reply] = (await once(socket, 'data')) as [Buffer];
    expect(reply.toString()).toMatch(/^HTTP\/1\.1 426 [^]*"code":"upgrade_required"/);
  });

  it('cannot continue a response beyond the limits of JSON', async () => {
    const { gateway } = await start();
    const client = await connect(gateway);
    client.ws.send(`{"type":"response.create","input":${'['.repeat(200)}${']'.repeat(200)}}`);
    expect(codeOf((await client.turn()).at(-1))).toBe('body_too_deep');
  });
});
