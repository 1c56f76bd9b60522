import Koa from 'koa';
import { PassThrough } from 'node:stream';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { GatewayError, Reply } from '../../../plugin/index.ts';
import { ResponseCapture, answerByStatus, bindReplies } from './koa-reply.ts';

/** A Koa context whose response is a capture, as in an attempt. */
function context() {
  const captured = new ResponseCapture();
  const app = new Koa();
  bindReplies(app);
  // Koa reads only these fields of the two objects.
  const ctx = app.createContext(
    { headers: {}, url: '/', method: 'POST', socket: {}, httpVersionMajor: 1 } as unknown as IncomingMessage,
    captured as unknown as ServerResponse,
  );
  // The attempt whose reply the context describes.
  const attempt: { reply: Reply | undefined } = { reply: undefined };
  Object.assign(ctx, { attempt });
  return { ctx, captured, attempt };
}

describe('a response set by Koa middleware', () => {
  it('is captured: status, headers, type', () => {
    const { ctx, captured } = context();
    ctx.status = 418;
    ctx.set('X-Tea', 'green');
    ctx.append('x-tea', 'black');
    ctx.type = 'text/plain';
    expect([captured.statusCode, captured.getHeaders(), captured.hasHeader('X-TEA')]).toEqual([
      418,
      { 'x-tea': ['green', 'black'], 'content-type': 'text/plain; charset=utf-8' },
      true,
    ]);
    ctx.remove('x-tea');
    expect(captured.getHeaderNames()).toEqual(['content-type']);
  });

  it.each([
    ['text', 'hello', 'text/plain; charset=utf-8', 'hello'],
    ['bytes', Buffer.from('bytes'), 'application/octet-stream', 'bytes'],
    ['an object', { a: 1 }, 'application/json; charset=utf-8', '{"a":1}'],
  ])('as a body of %s becomes a reply', (_, body, type, sent) => {
    const { ctx, captured, attempt } = context();
    ctx.body = body;
    const { status, body: bytes, stream } = attempt.reply!;
    expect([status, captured.getHeader('content-type'), String(bytes), stream]).toEqual([200, type, sent, false]);
  });

  it('is not a reply if it has neither a body nor a status', () => {
    const { ctx, attempt } = context();
    answerByStatus(ctx.response);
    expect(attempt.reply).toBeUndefined();
  });

  it.each([
    [403, 'Forbidden'],
    [204, ''],
    [304, ''],
  ])('as a status of %i alone is answered as Koa does: %j', (status, text) => {
    const { ctx, attempt } = context();
    ctx.status = status;
    answerByStatus(ctx.response);
    expect([attempt.reply?.status, String(attempt.reply?.body)]).toEqual([status, text]);
  });

  it('reads and changes the status of the current reply, and replaces its body', () => {
    const { ctx, attempt } = context();
    attempt.reply = { status: 200, headers: {}, body: Buffer.from('upstream'), stream: false };
    const first = attempt.reply;
    expect(ctx.status).toBe(200);
    ctx.status = 202;
    expect([first.status, String(ctx.body)]).toEqual([202, 'upstream']);
    ctx.body = 'own';
    expect(ctx.body).toBe('own');
    expect([attempt.reply === first, attempt.reply.status, String(attempt.reply.body)]).toEqual([false, 202, 'own']);
  });

  it('has no body for Koa while it has not been read', () => {
    const { ctx, attempt } = context();
    const body = { open() {}, pause() {}, resume() {}, cancel() {} };
    attempt.reply = { status: 200, headers: {}, body, stream: true };
    ctx.status = 203;
    expect([ctx.body, ctx.length, attempt.reply.body === body, attempt.reply.status]).toEqual([
      undefined,
      undefined,
      true,
      203,
    ]);
  });

  it('is an event stream if its type says so, even if the type is set after the body', () => {
    const { ctx, attempt } = context();
    ctx.body = new PassThrough();
    ctx.type = 'text/event-stream';
    expect(attempt.reply?.stream).toBe(true);
  });

  it('becomes a source with backpressure, end and failure if its body is a stream', async () => {
    const { ctx, attempt } = context();
    const stream = new PassThrough();
    ctx.body = stream;
    const { body } = attempt.reply!;
    if (Buffer.isBuffer(body)) throw new Error('a stream became a buffer');
    const seen: string[] = [];
    body.open({
      push: (bytes) => void seen.push(bytes.toString()),
      end: () => void seen.push('end'),
      fail: (error: GatewayError) => void seen.push(error.code),
    });
    stream.write('a');
    await new Promise(setImmediate);
    body.pause();
    stream.write('b');
    await new Promise(setImmediate);
    expect(seen).toEqual(['a']);
    body.resume();
    await new Promise(setImmediate);
    stream.destroy(new Error('broken'));
    await new Promise(setImmediate);
    expect(seen).toEqual(['a', 'b', 'internal_error']);
  });
});
