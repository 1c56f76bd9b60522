import { describe, expect, it } from 'vitest';
import { anthropicMessages } from '../../formats/anthropic-messages/index.ts';
import { openaiChat } from '../../formats/openai-chat/index.ts';
import { UpstreamError } from '../../plugin/index.ts';
import type { Outbound, Prepared } from '../kernel/index.ts';
import type { BodyEnvelope } from '../providers/provider.ts';
import { applyQuirks } from './quirks.ts';

const OPENAI = { client: openaiChat, upstream: openaiChat };
const CLAUDE = { client: openaiChat, upstream: anthropicMessages };

const prepared = (changes: Partial<Outbound> = {}): Prepared => ({
  losses: [],
  outbound: {
    origin: 'https://upstream.example',
    path: '/',
    headers: {},
    body: '{}',
    stream: false,
    contentType: undefined,
    openReader: () =>
      openaiChat.passThrough.open({ id: 'x', created: 0, strict: true, includeUsage: false, model: 'm' }, false),
    decodeError: openaiChat.decodeError,
    ...changes,
  },
});
const takesFeature = (name: string) => name.startsWith('good');
const lost = (name: string) => ({
  param: `anthropic-beta: ${name}`,
  action: 'dropped' as const,
  reason: 'This target does not take it',
});

describe('applyQuirks', () => {
  it('leaves the request unchanged if its host has no quirks', () => {
    const given = prepared();
    expect(applyQuirks(given, undefined, OPENAI)).toBe(given);
  });

  it.each([
    ['as text', 'é'.repeat(5), 10],
    ['as bytes', Buffer.alloc(10), 10],
  ])(
    'refuses a body %s above the limit, with both sizes in the message, and accepts one at the limit',
    (_, body, size) => {
      const limit = (bytes: number) => ({ bodyLimit: { bytes, words: 'the API (9 B)' } });
      const given = prepared({ body });
      expect(applyQuirks(given, limit(size), OPENAI).outbound.body).toBe(body);
      let failure: unknown;
      try {
        applyQuirks(given, limit(size - 1), OPENAI);
      } catch (error) {
        failure = error;
      }
      // An upstream error: another target may accept the body, and a fallback may list the status.
      expect(failure).toBeInstanceOf(UpstreamError);
      expect(failure).toMatchObject({
        code: 'request_too_large',
        status: 413,
        message: 'The request has 10 bytes after encoding, and the API (9 B) accepts at most 9.',
      });
    },
  );

  it.each([
    ['good-1,bad-1, good-2 ,,bad-2', { 'anthropic-beta': 'good-1,good-2', x: 'y' }, ['bad-1', 'bad-2']],
    ['good-1', { 'anthropic-beta': 'good-1', x: 'y' }, []],
    ['bad-1,bad-1', { x: 'y' }, ['bad-1']],
    ['', { x: 'y' }, []],
  ])('sends of the betas %j those the place takes', (list, headers, dropped) => {
    const { outbound, losses } = applyQuirks(
      prepared({ headers: { 'anthropic-beta': list, x: 'y' } }),
      { takesFeature },
      CLAUDE,
    );
    expect(outbound.headers).toEqual(headers);
    expect(losses).toEqual(dropped.map(lost));
  });

  it.each([
    [
      { anthropic_beta: ['good-1', 'bad-1'], a: 1 },
      { anthropic_beta: ['good-1'], a: 1 },
    ],
    [{ anthropic_beta: 'bad-1,good-1' }, { anthropic_beta: ['good-1'] }],
    [{ anthropic_beta: ['bad-1'], a: 1 }, { a: 1 }],
  ])('does the same with those of the body: %j', (body, left) => {
    for (const encoded of [JSON.stringify(body), Buffer.from(JSON.stringify(body))]) {
      const { outbound, losses } = applyQuirks(prepared({ body: encoded }), { takesFeature }, CLAUDE);
      expect(JSON.parse(outbound.body.toString())).toEqual(left);
      expect(losses).toEqual([lost('bad-1')]);
    }
  });

  it.each([
    '{"anthropic_beta": ["good-1"], "n": 1.0}',
    '{"anthropic_beta":null}',
    '{"messages":[{"content":"say \\"anthropic_beta\\""}]}',
    '{"metadata":{"anthropic_beta":"bad-1"}}',
  ])('leaves a body byte for byte where nothing is dropped: %s', (body) => {
    expect(applyQuirks(prepared({ body }), { takesFeature }, CLAUDE)).toMatchObject({
      outbound: { body },
      losses: [],
    });
  });

  it('reports a beta once if it is in the header and in the body', () => {
    const given = prepared({ headers: { 'anthropic-beta': 'bad-1' }, body: '{"anthropic_beta":["bad-1"]}' });
    expect(applyQuirks(given, { takesFeature }, CLAUDE).losses).toEqual([lost('bad-1')]);
  });

  it('explains failures', () => {
    const { outbound } = applyQuirks(
      prepared(),
      { explain: (failure) => ({ ...failure, message: `${failure.message} So do this.` }) },
      OPENAI,
    );
    expect(outbound.decodeError(403, '{"error":{"message":"No."}}')).toMatchObject({
      status: 403,
      message: 'No. So do this.',
    });
  });

  const envelope: BodyEnvelope = {
    wrap: (body) => ({ body: Buffer.concat([Buffer.from('<'), body, Buffer.from('>')]), losses: [lost('x')] }),
    unwrap: (bytes) => bytes.subarray(1, -1),
  };
  const reply =
    '{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}';

  it('wraps a request in its envelope and unwraps the reply, however it is split', () => {
    const { outbound, losses } = applyQuirks(prepared({ body: '{"a":1}' }), { envelope }, OPENAI);
    expect([outbound.body.toString(), outbound.contentType, losses]).toEqual([
      '<{"a":1}>',
      'application/json',
      [lost('x')],
    ]);
    const reader = outbound.openReader({ status: 200, headers: {} });
    for (const byte of Buffer.from(`<${reply}>`)) expect(reader.push(Buffer.from([byte]))).toBeUndefined();
    expect(reader.end()?.toString()).toBe(reply);
    expect(reader.signals).toMatchObject({ content: true, ended: true, finish: 'stop' });
  });

  it('limits the bytes it holds of a stream', () => {
    const { outbound } = applyQuirks(prepared({ stream: true }), { envelope }, OPENAI);
    const reader = outbound.openReader({ status: 200, headers: {} });
    for (let piece = 0; piece < 17 && !reader.signals.failure; piece += 1) reader.push(Buffer.alloc(1024 * 1024));
    expect(reader.signals.failure).toMatchObject({ kind: 'reply_too_large' });
  });
});
