import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { openaiChat } from '../../src/formats/openai-chat/index.ts';
import type { ReplyEnd, Sink, Source } from '../../src/plugin/index.ts';
import { createFakeClock } from '../../src/plugin/testing/index.ts';
import { writeReply } from '../../src/core/http/gateway/reply-writer.ts';
import { until } from '../support/gateway.ts';
import { answer, bodyOf, codes, fill, flood, headOf, start, Wire } from './overload.testkit.ts';

describe('a client that sends slowly', () => {
  const limits = { header_time: '200ms', body_time: '400ms', body: '60KiB', in_flight_bytes: '60KiB' };

  it('has `limits.header_time` for its headers', async () => {
    const place = await start({ limits: { ...limits, body_time: '1m' } });
    const wire = new Wire(place);
    await wire.trickle(`${headOf(0)}x-more: ${'a'.repeat(500)}`);
    await until(() => wire.text.includes('"request_timeout"'), 'it is refused');
    expect(wire.text).toMatch(/^HTTP\/1\.1 408 /);
    expect(wire.text).toContain('\r\nconnection: close\r\n');
    expect(wire.answer).toMatchObject({ error: { code: 'request_timeout', type: 'invalid_request_error' } });
  });

  it.each([
    ['/v1/chat/completions', { error: { code: 'request_timeout', type: 'invalid_request_error' } }],
    ['/v1/messages', { type: 'error', error: { type: 'invalid_request_error' } }],
  ])('has `limits.body_time` for its whole request to %s, and holds nothing after it', async (path, error) => {
    const place = await start({ limits });
    const wire = new Wire(place);
    wire.socket.write(`${headOf(60_000, path)}\r\n`);
    await wire.trickle(bodyOf(500));
    await until(() => wire.text.includes('}}') || wire.text.includes('"request_id"'), 'it is refused');
    expect(wire.text).toMatch(/^HTTP\/1\.1 408 /);
    expect(wire.text).toContain('\r\nconnection: close\r\n');
    expect(wire.answer).toMatchObject(error);
    await wire.closed;
    await until(() => codes(place.gateway).length === 1, 'it has ended');
    expect(codes(place.gateway)).toEqual(['request_timeout']);
    await fill(place, 1, { size: 60_000 });
  });

  it('is refused, too, when it falls silent in the middle of its body', async () => {
    const place = await start({ limits });
    const wire = new Wire(place);
    wire.socket.write(`${headOf(60_000)}\r\n{"model":`);
    await wire.closed;
    expect(wire.answer).toMatchObject({ error: { code: 'request_timeout' } });
  });

  it('is not held to these times once its request is there', async () => {
    const place = await start({ limits });
    const {
      asked: [reply],
    } = await fill(place, 1);
    const slower = new Wire(place);
    slower.socket.write(headOf(0));
    await slower.closed;
    answer(place.replies[0]!);
    expect((await reply!).status).toBe(200);
  });

  it('is held to new times after a reload', async () => {
    const place = await start({ limits: { header_time: '1m', body_time: '2m' } });
    await place.relimit(limits);
    const wire = new Wire(place);
    wire.socket.write('POST / HTTP/1.1\r\nhost: gateway\r\n');
    await until(() => wire.text.includes('"request_timeout"'), 'it is refused');
  });
});

describe('what a request may be', () => {
  const nested = (depth: number): string => `{"model":"@own/m","messages":${'['.repeat(depth)}${']'.repeat(depth)}}`;

  it.each([
    ['headers', `${headOf(2)}x-long: ${'a'.repeat(4000)}\r\n\r\n{}`, 431, 'headers_too_large'],
    ['a body that is announced', `${headOf(2000)}\r\n`, 413, 'request_too_large'],
    ['a body', `${headOf('chunked')}\r\n7d0\r\n${' '.repeat(2000)}\r\n0\r\n\r\n`, 413, 'request_too_large'],
    ['depth', `${headOf(nested(9).length)}\r\n${nested(9)}`, 400, 'body_too_deep'],
  ])('ends at its limit of %s', async (_, text, status, code) => {
    const place = await start({ limits: { header: '2KiB', body: '1KiB', json_depth: 8 } });
    const wire = new Wire(place);
    wire.socket.write(text);
    await until(() => wire.text.includes(`"${code}"`), 'it is refused');
    expect(wire.text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });

  it('may have as many headers as fit into the limit: none is lost', async () => {
    const place = await start({ limits: { header: '64KiB' } });
    const body = bodyOf();
    const many = Array.from({ length: 3000 }, (_, index) => `a${index}: b\r\n`).join('');
    const wire = new Wire(place);
    wire.socket.write(
      `${headOf(body.length).replace(/x-gateway[^\n]*\n/, '')}${many}${/x-gateway[^\n]*\n/.exec(headOf(0))![0]}\r\n${body}`,
    );
    await until(() => place.replies.length === 1, 'the upstream is asked');
  });
});

describe('a client that does not read its reply', () => {
  it('holds its upstream no longer than the request’s deadline, and is let go', async () => {
    const clock = createFakeClock();
    const place = await start({ deadline: '2m', timeouts: { idle: '1m', total: '10m' } }, { clock });
    const wire = new Wire(place);
    wire.socket.pause();
    const body = bodyOf(0, true);
    wire.socket.write(`${headOf(body.length)}\r\n${body}`);
    await until(() => place.replies.length === 1, 'the upstream is asked');
    const streaming = await flood(place.replies[0]!);
    await clock.advance(119_000);
    expect(place.upstream.seen[0]!.aborted).toBe(false);
    await clock.advance(1000);
    await streaming.over;
    await until(() => place.upstream.seen[0]!.aborted, 'the upstream is let go');
    await clock.advance(30_000);
    await until(() => codes(place.gateway).length === 1, 'it has ended');
    expect(codes(place.gateway)).toEqual(['timeout_request']);
  });

  it('is let go at the deadline whatever the reply is read from', async () => {
    const clock = createFakeClock();
    const ends: ReplyEnd[] = [];
    const cancelled: string[] = [];
    const source: Source = {
      open: (sink: Sink) => sink.push(Buffer.alloc(64_000_000)),
      pause: () => {},
      resume: () => {},
      cancel: ({ code }) => void cancelled.push(code),
    };
    const server = createServer((_, res) => {
      const reply = { status: 200, headers: {}, body: source, stream: true };
      const setup = {
        clock,
        exchange: { id: 'r', replyId: 'r' },
        deadline: 60_000,
        format: openaiChat,
        error: undefined,
      };
      const writer = writeReply(res, reply, { ...setup, onEnd: (end) => void ends.push(end), onFault: () => {} });
      res.on('close', () => writer.closed());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await until(() => clock.pending.length === 1, 'the reply has begun');
    await clock.advance(59_000);
    expect(cancelled).toEqual([]);
    await clock.advance(15_000);
    expect(cancelled).toEqual(['timeout_request']);
    await clock.advance(30_000);
    await until(() => ends.length === 1, 'it has ended');
    expect(ends).toMatchObject([{ state: 'failed', error: { code: 'timeout_request' } }]);
    socket.destroy();
    server.close();
  });
});
