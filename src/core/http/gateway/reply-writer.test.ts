import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, it, vi, type Mock } from 'vitest';
import { openaiChat } from '../../../formats/openai-chat/index.ts';
import type { GatewayError, Reply, ReplyEnd, Sink } from '../../../plugin/index.ts';
import { createFakeClock } from '../../../plugin/testing/index.ts';
import { writeReply } from './reply-writer.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** Sends one request over a raw socket and writes the reply to it. */
async function start(reply: Omit<Reply, 'headers' | 'status'>, deadline = 3_600_000, more: Reply['headers'] = {}) {
  const clock = createFakeClock();
  const ends: ReplyEnd[] = [];
  const faults: unknown[] = [];
  let res: ServerResponse | undefined;
  const server: Server = createServer((_, response) => {
    res = response;
    const headers = { 'content-type': reply.stream ? 'text/event-stream' : 'application/json', ...more };
    const setup = { clock, exchange: { id: 'r', replyId: 'r' }, deadline, format: openaiChat, error: undefined };
    const whole = { ...reply, headers, status: 200 };
    const onFault = (fault: unknown): void => void faults.push(fault);
    const writer = writeReply(response, whole, { ...setup, onEnd: (end) => void ends.push(end), onFault });
    response.on('close', () => writer.closed());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket: Socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  closers.push(() => {
    socket.destroy();
    server.close();
  });
  socket.on('error', () => {});
  const got = { bytes: 0, text: '' };
  socket.on('data', (piece: Buffer) => {
    got.bytes += piece.length;
    if (got.bytes < 100_000) got.text += piece.toString();
  });
  socket.pause();
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  await expect.poll(() => res !== undefined).toBe(true);
  return { clock, ends, faults, socket, got, written: () => res!.socket?.bytesWritten ?? Infinity };
}

describe('a reply whose head cannot be written', () => {
  it.each([
    ['a stream', true, { 'x a': 'b' }],
    ['a body that is not whole yet', false, { 'x-a': 'b\r\nset-cookie: c' }],
  ])('is an error of the API, and lets go of its source: %s', async (_, stream, headers) => {
    const cancelled: string[] = [];
    const body = { open() {}, pause() {}, resume() {}, cancel: ({ code }: GatewayError) => void cancelled.push(code) };
    const { ends, faults, socket, got } = await start({ body, stream }, undefined, headers);
    socket.resume();
    await expect.poll(() => ends).toMatchObject([{ state: 'failed', status: 500, error: { code: 'internal_error' } }]);
    await expect.poll(() => got.text).toMatch(/^HTTP\/1.1 500 [^]*x-request-id: r\r\n[^]*"code":"internal_error"/);
    expect(got.text).not.toContain('set-cookie');
    expect([cancelled, faults.length]).toEqual([['internal_error'], 1]);
  });

  it('is an error where the body is whole', async () => {
    const body = Buffer.from('{}');
    const { ends, socket, got } = await start({ body, stream: false }, undefined, { 'x-a': '\u4e00' });
    socket.resume();
    await expect.poll(() => ends).toMatchObject([{ state: 'failed', status: 500 }]);
    await expect.poll(() => got.text).toContain('"code":"internal_error"');
  });
});

describe('a small complete reply', () => {
  const bytesOf = (size: number): Buffer => Buffer.from(Array.from({ length: size }, (_, at) => at % 256));

  /** The reply as a client reads it, and the number of writes to its socket. */
  async function exchange(method: string, size: number) {
    let written: Mock | undefined;
    const server = createServer((_, res) => {
      written = vi.spyOn(res.socket!, 'write');
      const exchange = { id: 'r', replyId: 'r' };
      const rest = { error: undefined, onEnd: () => {}, onFault: () => {} };
      const setup = { clock: createFakeClock(), exchange, deadline: 1000, format: openaiChat, ...rest };
      writeReply(res, { status: 200, headers: { 'x-word': 'caf\u00e9' }, body: bytesOf(size), stream: false }, setup);
    }).listen(0, '127.0.0.1');
    closers.push(() => server.close());
    await once(server, 'listening');
    const sent = request({ port: (server.address() as AddressInfo).port, method, agent: false }).end();
    const [reply] = (await once(sent, 'response')) as [IncomingMessage];
    return { reply, bytes: Buffer.concat(await reply.toArray()), writes: written!.mock.calls.length };
  }

  it.each([0, 1, 256, 16 * 1024 - 1, 16 * 1024, 16 * 1024 + 1, 70_000])(
    'of %d bytes of every value arrives as it is, its head in latin1',
    async (size) => {
      const { reply, bytes, writes } = await exchange('GET', size);
      expect(bytes.equals(bytesOf(size))).toBe(true);
      expect(reply.headers).toMatchObject({ 'content-length': String(size), 'x-word': 'caf\u00e9' });
      if (size <= 16 * 1024) expect(writes).toBe(1);
    },
  );

  it('has its length and no bytes for HEAD', async () => {
    const { reply, bytes } = await exchange('HEAD', 300);
    expect([reply.headers['content-length'], bytes.length]).toEqual(['300', 0]);
  });
});

/** More than the buffers of a loopback connection hold. */
const LARGE = Buffer.alloc(64_000_000, 'x');

/** The client reads until the gateway could write again, then stops. */
async function readOn({ socket, written }: Awaited<ReturnType<typeof start>>): Promise<void> {
  const before = written();
  socket.resume();
  await expect.poll(() => written() > before, { interval: 1 }).toBe(true);
  socket.pause();
  // The buffers of the connection still take bytes, which count for the gateway as progress of the client.
  let seen = -1;
  const isStill = (): boolean => seen === (seen = written());
  await expect.poll(isStill, { interval: 200 }).toBe(true);
}

describe('a large complete reply', () => {
  it('stays open for a client that reads slowly, as long as it reads', async () => {
    const place = await start({ body: LARGE, stream: false });
    for (let round = 0; round < 5; round += 1) {
      await readOn(place);
      await place.clock.advance(30_000);
    }
    expect(place.ends).toEqual([]);
    place.socket.resume();
    await expect.poll(() => place.ends.length).toBe(1);
    expect(place.ends).toMatchObject([{ state: 'complete', bytes: LARGE.length }]);
    await expect.poll(() => place.got.bytes).toBeGreaterThan(LARGE.length);
  });

  it('is cut off from a client that reads nothing for 30 s', async () => {
    const place = await start({ body: LARGE, stream: false });
    await readOn(place);
    await place.clock.advance(30_000);
    // Bytes read before count for the previous period.
    await place.clock.advance(29_999);
    expect(place.ends).toEqual([]);
    await place.clock.advance(1);
    await expect.poll(() => place.ends.length).toBe(1);
    expect(place.ends).toMatchObject([{ state: 'aborted', error: { code: 'client_closed' } }]);
  });

  it('is cut off from a client that is still reading at the deadline', async () => {
    const place = await start({ body: LARGE, stream: false }, 30_000);
    await readOn(place);
    await place.clock.advance(30_000);
    await expect.poll(() => place.ends.length).toBe(1);
    expect(place.ends).toMatchObject([{ state: 'failed', error: { code: 'timeout_request' } }]);
  });
});

it('counts the heartbeats of a stream as bytes sent', async () => {
  let sink: Sink | undefined;
  const body = { open: (one: Sink) => void (sink = one), pause: () => {}, resume: () => {}, cancel: () => {} };
  const { clock, ends, socket, got } = await start({ body, stream: true });
  socket.resume();
  await clock.advance(30_000);
  sink!.push(Buffer.from('data: {}\n\n'));
  sink!.end();
  await expect.poll(() => ends.length).toBe(1);
  await expect.poll(() => got.text).toContain('0\r\n\r\n');
  const heartbeat = openaiChat.heartbeat(undefined);
  const heartbeats = got.text.split(heartbeat).length - 1;
  expect(heartbeats).toBeGreaterThan(0);
  expect(ends[0]?.bytes).toBe(heartbeats * heartbeat.length + 'data: {}\n\n'.length);
});

it('ends an endless body at the deadline, not at the next heartbeat', async () => {
  const body = { open() {}, pause() {}, resume() {}, cancel() {} };
  const place = await start({ body, stream: true }, 4_000);
  place.socket.resume();
  await place.clock.advance(4_050);
  await expect.poll(() => place.ends.length).toBe(1);
  expect(place.ends).toMatchObject([
    { state: 'failed', error: { code: 'timeout_request', message: expect.stringContaining('not complete') } },
  ]);
});
