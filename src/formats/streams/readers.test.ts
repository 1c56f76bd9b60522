import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anthropicMessages } from '../anthropic-messages/index.ts';
import type { GenerationEvent } from '../events.ts';
import { fold, type Generation } from './fold.ts';
import { ReplyFault } from '../faults.ts';
import type { Format, PassThrough } from '../format.ts';
import { gemini } from '../gemini/index.ts';
import { clientContext, replyContext, replyWith } from '../contexts.testkit.ts';
import { decodeAll, joinedParts, rechunk } from '../laws.testkit.ts';
import { generation, seed, toEvents, type Abilities } from '../generations.testkit.ts';
import { openaiChat } from '../openai-chat/index.ts';
import { translatingReader, type Translation } from './readers.ts';

const translation = (upstream: Format, client: Format, strict = false): Translation => ({
  upstream,
  client,
  reply: replyContext(),
  context: clientContext({ strict }),
});
const SSE = 'text/event-stream; charset=utf-8';
const JSON_TYPE = 'application/json';

function read(reader: PassThrough, pieces: readonly Buffer[]): string {
  const out = [...pieces.map((piece) => reader.push(piece)), reader.end()];
  return Buffer.concat(out.filter((piece) => piece !== undefined)).toString('utf8');
}

/** The events that a client of `format` decodes from its reply. */
const heard = (format: Format, text: string) =>
  fold(decodeAll(format.decodeStream(replyContext()), [Buffer.from(text)]));
const heardPlain = (format: Format, text: string) => fold(format.decodeReply(JSON.parse(text), replyContext()));

/** The reply as the upstream writes it from the same events, streamed and whole. */
const upstreamStream = (upstream: Format, events: readonly GenerationEvent[]) =>
  Buffer.from(upstream.encodeStream(clientContext({ strict: false })).push(events));
const upstreamPlain = (upstream: Format, events: readonly GenerationEvent[]) =>
  Buffer.from(JSON.stringify(replyWith(upstream, events, clientContext({ strict: false }))));

/** The part that any client can compare: all text before all calls, counts without the upstream's raw usage. */
function said(generation: Generation): unknown {
  return {
    id: generation.id,
    model: generation.model,
    choices: generation.choices.map(({ index, finish, refusal }, at) => {
      const parts = joinedParts(generation)[at] ?? [];
      return {
        index,
        finish,
        refusal: refusal || undefined,
        text: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
        thinking: parts.filter((part) => part.type === 'thinking' || part.type === 'redacted_thinking'),
        calls: parts.filter((part) => part.type === 'tool_call'),
        media: parts.filter((part) => part.type === 'media'),
      };
    }),
    counted: generation.usage && [generation.usage.input, generation.usage.output, generation.usage.total],
  };
}

const THINKING: Abilities = { thinking: true, signatures: true, cacheUsage: true };

describe.each<[string, Format, Format, Abilities]>([
  ['Claude to OpenAI', anthropicMessages, openaiChat, { ...THINKING, redacted: true }],
  [
    'Gemini to OpenAI',
    gemini,
    openaiChat,
    { ...THINKING, thoughtsBy: 'gemini', choices: 2, textSignatures: true, callSignatures: true, media: true },
  ],
  ['OpenAI to Claude', openaiChat, anthropicMessages, { cacheUsage: true }],
  ['Gemini to Claude', gemini, anthropicMessages, { thinking: true, signatures: true, thoughtsBy: 'gemini' }],
  ['Claude to Gemini', anthropicMessages, gemini, { thinking: true, signatures: true }],
])('from %s', (_title, upstream, client, can) => {
  it('a stream and a plain reply of the same events are equal, in any split', () => {
    fc.assert(
      fc.property(generation(can), seed, fc.boolean(), (reply, cuts, strict) => {
        const stream = translatingReader(translation(upstream, client, strict), true, SSE);
        const plain = translatingReader(translation(upstream, client, strict), false, JSON_TYPE);
        const streamed = read(stream, rechunk(upstreamStream(upstream, toEvents(reply, cuts)), cuts));
        const whole = read(plain, rechunk(upstreamPlain(upstream, toEvents(reply)), cuts));
        expect(said(heard(client, streamed))).toEqual(said(heardPlain(client, whole)));
        for (const { signals } of [stream, plain]) {
          expect(signals).toMatchObject({ content: true, ended: true, failure: undefined, model: 'model-ran' });
          expect(signals.usage).toMatchObject({ input: reply.usage.input, total: reply.usage.total });
        }
      }),
    );
  });

  it('a whole reply to a stream request is served as a stream', () => {
    fc.assert(
      fc.property(generation(can), seed, (reply, cuts) => {
        const reader = translatingReader(translation(upstream, client), true, JSON_TYPE);
        const served = read(reader, rechunk(upstreamPlain(upstream, toEvents(reply)), cuts));
        const plain = read(translatingReader(translation(upstream, client), false, JSON_TYPE), [
          upstreamPlain(upstream, toEvents(reply)),
        ]);
        expect(said(heard(client, served))).toEqual(said(heardPlain(client, plain)));
        expect(reader.signals).toMatchObject({ content: true, ended: true, failure: undefined });
      }),
    );
  });

  it('a whole reply that is served as a stream is limited to the size of one event, and a plain reply is not', () => {
    const big = Buffer.alloc(9 * 1024 * 1024, '{');
    const streamed = translatingReader(translation(gemini, openaiChat), true, JSON_TYPE);
    streamed.push(big);
    expect(streamed.signals.failure).toBeUndefined();
    streamed.push(big);
    expect(streamed.signals.failure).toMatchObject({ status: 502, kind: 'reply_too_large' });
    const plain = translatingReader(translation(gemini, openaiChat), false, JSON_TYPE);
    plain.push(big);
    plain.push(big);
    expect(plain.signals.failure).toBeUndefined();
  });

  it('a stream without its content type is still read as a stream', () => {
    fc.assert(
      fc.property(generation(can), seed, (reply, cuts) => {
        const bytes = upstreamStream(upstream, toEvents(reply, cuts));
        const declared = read(translatingReader(translation(upstream, client), true, SSE), rechunk(bytes, cuts));
        const reader = translatingReader(translation(upstream, client), true, 'text/plain');
        expect(read(reader, rechunk(bytes, cuts))).toBe(declared);
      }),
    );
  });

  it('a cut stream never ends successfully', () => {
    fc.assert(
      fc.property(generation(can), seed, fc.double({ min: 0, max: 0.9, noNaN: true }), (reply, cuts, share) => {
        const bytes = upstreamStream(upstream, toEvents(reply, cuts));
        const reader = translatingReader(translation(upstream, client), true, SSE);
        const half = bytes.subarray(0, Math.floor(bytes.length * share));
        const events = decodeAll(upstream.decodeStream(replyContext()), [half]);
        const left = read(reader, rechunk(half, cuts));
        // OpenAI's and Gemini's replies may be complete before their last bytes: the upstream's decoder decides.
        const cut = events.at(-1)?.type === 'error';
        expect(reader.signals.failure === undefined).toBe(!cut);
        expect(reader.signals.ended).toBe(!cut);
        if (cut) expect(left).not.toMatch(/^(?:data: \[DONE\]|event: message_stop)$/m);
      }),
    );
  });
});

describe('Google’s stream without alt=sse', () => {
  it('is a JSON array, read as it arrives', () => {
    const chunk = (text: string, rest: object = {}) => ({
      responseId: 'r',
      modelVersion: 'gemini-x',
      candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, ...rest }],
    });
    const pieces = [
      `[${JSON.stringify(chunk('Hel'))}`,
      `,\r\n${JSON.stringify(chunk('lo', { finishReason: 'STOP' }))}`,
      '\n]',
    ];
    const reader = translatingReader(translation(gemini, openaiChat, true), true, JSON_TYPE);
    expect(reader.push(Buffer.from(' \r\n'))).toBeUndefined();
    expect(reader.push(Buffer.from(pieces[0]!))?.toString()).toContain('"content":"Hel"');
    expect(reader.push(Buffer.from(pieces[1]!))?.toString()).toContain('"content":"lo"');
    expect(reader.push(Buffer.from(pieces[2]!))).toBeUndefined();
    expect(reader.end()?.toString()).toMatch(/"finish_reason":"stop".*\[DONE\]\n\n$/s);
    expect(reader.signals).toMatchObject({ ended: true, content: true, finish: 'stop', model: 'gemini-x' });
  });
});

describe('a reply that cannot be read', () => {
  const claude = (stream: boolean, type: string) =>
    translatingReader(translation(anthropicMessages, openaiChat), stream, type);

  it.each([
    ['nothing', ''],
    ['space', ' \n'],
    ['HTML', '<html></html>'],
    ['half a document', '{"type":"message","content":['],
    ['another document', '{"object":"list"}'],
    ['a list', '[]'],
    ['null', 'null'],
  ])('because it is %s is a fault of the reply', (_title, text) => {
    const reader = claude(false, JSON_TYPE);
    reader.push(Buffer.from(text));
    expect(() => reader.end()).toThrow(ReplyFault);
    expect(reader.signals.ended).toBe(false);
  });

  it.each([
    ['empty', ''],
    ['blank', ' \r\n '],
    ['half a document', '{"type":"message"'],
  ])('because it is %s is a fault where a stream was asked for too', (_title, text) => {
    const reader = claude(true, JSON_TYPE);
    expect(reader.push(Buffer.from(text))).toBeUndefined();
    expect(() => reader.end()).toThrow(ReplyFault);
  });

  it.each([
    ['nothing', '', SSE],
    ['HTML', '<html></html>', SSE],
    ['HTML that does not say what it is', '<html></html>', 'text/html'],
    ['an event that is not JSON', 'event: message_start\ndata: {oops\n\n', SSE],
  ])('because its stream is %s fails without a byte', (_title, text, type) => {
    const reader = claude(true, type);
    expect(read(reader, [Buffer.from(text)])).toBe('');
    expect(reader.signals).toMatchObject({ ended: false, content: false, failure: { status: 502 } });
  });
});

describe('an error of the upstream', () => {
  const failure = { status: 529, message: 'Busy.', kind: 'overloaded_error' };
  const body = { type: 'error', error: { type: 'overloaded_error', message: 'Busy.' } };
  const started = upstreamStream(anthropicMessages, [
    { type: 'start', id: 'msg_1', model: 'claude' },
    { type: 'text', choice: 0, block: 0, text: 'Hel' },
  ]);

  it('inside a stream is set in the signals, and the caller writes it', () => {
    const reader = translatingReader(translation(anthropicMessages, openaiChat), true, SSE);
    expect(reader.push(started)?.toString()).toContain('"content":"Hel"');
    expect(reader.push(Buffer.from(`event: error\ndata: ${JSON.stringify(body)}\n\n`))).toBeUndefined();
    expect(reader.signals).toMatchObject({ failure, ended: false, finish: undefined });
    expect(reader.push(started)).toBeUndefined();
    expect(reader.end()).toBeUndefined();
  });

  it('in a plain 200 is set in the signals, without a body', () => {
    for (const stream of [false, true]) {
      const reader = translatingReader(translation(openaiChat, anthropicMessages), stream, JSON_TYPE);
      expect(read(reader, [Buffer.from('{"error":{"message":"Busy.","code":429}}')])).toBe('');
      expect(reader.signals).toMatchObject({ failure: { status: 429, message: 'Busy.' }, ended: false });
    }
  });
});

it('counts the bytes of a plain reply as progress', () => {
  const reader = translatingReader(translation(anthropicMessages, openaiChat), false, JSON_TYPE);
  reader.push(Buffer.from('{'));
  reader.push(Buffer.from('}'));
  expect(reader.signals.progress).toBe(2);
});

it.each([
  [
    anthropicMessages,
    '{"id":"m","type":"message","role":"assistant","model":"c","content":[{"type":"tool_use","id":"t","name":"f","input":{"id":1234567890123456789}}],"stop_reason":"tool_use"}',
  ],
  [
    gemini,
    '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"id":1234567890123456789}}}]},"finishReason":"STOP"}]}',
  ],
])('keeps every digit of a long id in the arguments of a plain $name call', (upstream, text) => {
  const reader = translatingReader(translation(upstream, openaiChat), false, JSON_TYPE);
  expect(read(reader, [Buffer.from(text)])).toContain('"arguments":"{\\"id\\":1234567890123456789}"');
});

it('keeps every digit of a long id in the arguments of a streamed call', () => {
  const chunk =
    '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"id":1234567890123456789}}}]},"finishReason":"STOP"}]}';
  const reader = translatingReader(translation(gemini, openaiChat), true, SSE);
  expect(read(reader, [Buffer.from(`data: ${chunk}\r\n\r\n`)])).toContain('{\\"id\\":1234567890123456789}');
});
