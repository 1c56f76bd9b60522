import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../conversation.ts';
import type { GenerationEvent, Usage } from '../events.ts';
import { fold } from './fold.ts';
import { ReplyFault } from '../faults.ts';
import type { ClientContext, Format } from '../format.ts';
import { formats } from '../index.ts';
import { clientContext, replyContext, replyWith } from '../contexts.testkit.ts';
import { generation, seed, toEvents, type Abilities } from '../generations.testkit.ts';
import { plainFromStream, streamFromPlain, streamWithUsage } from './replay.ts';

const ALL: Abilities = {
  choices: 2,
  refusal: true,
  thinking: true,
  redacted: true,
  signatures: true,
  textSignatures: true,
  callSignatures: true,
  media: true,
  cacheUsage: true,
};

const text = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' });
const token = fc.record({ token: text, logprob: fc.double({ max: 0, noNaN: true, noDefaultInfinity: true }) });
const bytes = fc.option(fc.array(fc.nat({ max: 255 }), { maxLength: 4 }), { nil: undefined });

/** Further fields of a reply besides its blocks, on the first choice. */
const extras: fc.Arbitrary<GenerationEvent[]> = fc.oneof(
  fc
    .record({ url: fc.webUrl(), title: text, start: fc.nat({ max: 20 }), end: fc.nat({ max: 20 }) })
    .map((citation): GenerationEvent[] => [{ type: 'citation', choice: 0, citation }]),
  fc
    .tuple(fc.array(fc.tuple(token, bytes), { minLength: 1, maxLength: 3 }), fc.boolean())
    .map(([tokens, refusal]): GenerationEvent[] => [
      {
        type: 'logprobs',
        choice: 0,
        tokens: tokens.map(([one, bytes]) => ({ ...one, ...(bytes !== undefined && { bytes }), top: [one] })),
        ...(refusal && { refusal }),
      },
    ]),
  fc
    .tuple(text, fc.uint8Array({ minLength: 3, maxLength: 9 }), fc.option(fc.uuid(), { nil: undefined }))
    .map(([words, raw, id]): GenerationEvent[] => [
      { type: 'text', choice: 0, block: 1000, text: words, spoken: true },
      {
        type: 'media',
        choice: 0,
        block: 1001,
        mime: 'audio/pcm',
        data: Buffer.from(raw).toString('base64'),
        ...(id && { stored: { id, expiresAt: 1_795_132_801 } }),
      },
    ]),
  fc
    .tuple(text, fc.array(fc.record({ cited_text: text }), { minLength: 1, maxLength: 2 }))
    .map(([words, citations]): GenerationEvent[] => [
      { type: 'text', choice: 0, block: 1003, text: words },
      {
        type: 'opaque',
        choice: 0,
        block: 1003,
        format: 'anthropic-messages',
        value: { type: 'text', citations },
        attached: true,
      },
    ]),
  text.map((code): GenerationEvent[] => [{ type: 'code', choice: 0, block: 1002, language: 'PYTHON', code }]),
);

/** An arbitrary reply as a stream, extras after the rest. */
function replies(can: Abilities, more: fc.Arbitrary<GenerationEvent[]>): fc.Arbitrary<readonly GenerationEvent[]> {
  return fc
    .tuple(generation(can), seed, fc.uniqueArray(more, { maxLength: 3, selector: ([first]) => first?.type }))
    .map(([reply, cuts, extra]) => {
      const events = toEvents(reply, cuts);
      const at = events.findIndex((event) => event.type === 'usage');
      return [...events.slice(0, at), ...extra.flat(), ...events.slice(at)];
    });
}

const first = (overrides: Partial<ClientContext>) =>
  clientContext({ id: 'chatcmpl-first', created: 1_700_000_000, model: 'first', ...overrides });
/** The later client has an id, a time and a model name of its own. */
const later = (overrides: Partial<ClientContext>) =>
  clientContext({ id: 'chatcmpl-later', created: 1_800_000_000, model: 'later', ...overrides });

const parsed = (body: Buffer): JsonObject => JSON.parse(body.toString()) as JsonObject;

interface Case {
  readonly title: string;
  readonly format: Format;
  readonly strict: boolean;
  readonly events: fc.Arbitrary<readonly GenerationEvent[]>;
  /** The part of a body on which its two forms must agree. */
  readonly see: (body: JsonObject) => unknown;
}

const whole = (body: JsonObject): unknown => body;

/**
 * A Gemini stream consists of parts that continue: two consecutive texts become one. The time is that of the first
 * client's reply.
 */
function joinedTexts({ createTime: _, ...body }: JsonObject): unknown {
  const candidates = (body.candidates as { content: { parts: JsonObject[] } }[]).map(({ content, ...candidate }) => {
    const parts: JsonObject[] = [];
    for (const part of content.parts) {
      const last = parts.at(-1);
      const joins =
        last && typeof last.text === 'string' && typeof part.text === 'string' && last.thought === part.thought;
      if (joins && !last.thoughtSignature)
        parts[parts.length - 1] = { ...part, text: `${String(last.text)}${String(part.text)}` };
      else parts.push(part);
    }
    return { ...candidate, parts };
  });
  return { ...body, candidates };
}

const CASES: readonly Case[] = [
  { title: 'OpenAI, strict', format: formats['openai-chat'], strict: true, events: replies(ALL, extras), see: whole },
  { title: 'OpenAI, lax', format: formats['openai-chat'], strict: false, events: replies(ALL, extras), see: whole },
  {
    title: 'Anthropic',
    format: formats['anthropic-messages'],
    strict: false,
    events: replies({ ...ALL, callSignatures: false }, extras),
    see: whole,
  },
  {
    title: 'Gemini',
    format: formats.gemini,
    strict: false,
    events: replies({ ...ALL, refusal: false, redacted: false }, fc.constant([])),
    see: joinedTexts,
  },
];

describe.each(CASES)('a stored reply for a client of $title', ({ format, strict, events: arbitrary, see }) => {
  it('is the same body after it is replayed as a stream', () => {
    fc.assert(
      fc.property(arbitrary, fc.boolean(), (events, includeUsage) => {
        const body = replyWith(format, events, first({ strict }));
        const { usage } = fold(format.decodeReply(body, replyContext()));
        const stream = streamFromPlain(format, body, later({ strict, includeUsage }));
        const again = parsed(plainFromStream(format, stream, usage, later({ strict })));
        expect(see(again)).toEqual(see(body));
      }),
    );
  });

  it('is the same stream after it is replayed as a body', () => {
    fc.assert(
      fc.property(arbitrary, (events) => {
        const client = later({ strict });
        const stream = Buffer.from(format.encodeStream(first({ strict })).push(events));
        const body = parsed(plainFromStream(format, stream, undefined, client));
        expect(see(body)).toEqual(see(replyWith(format, events, first({ strict }))));
        const again = streamFromPlain(format, body, client);
        expect(see(parsed(plainFromStream(format, again, undefined, client)))).toEqual(see(body));
      }),
    );
  });
});

/** A content of an answer, as the block with this number. */
const CONTENTS: readonly ((block: number) => readonly GenerationEvent[])[] = [
  (block) => [{ type: 'text', choice: 0, block, text: 'again' }],
  (block) => [
    { type: 'tool_call', choice: 0, block, call: block, id: `call_${block}`, name: 'f' },
    { type: 'tool_arguments', choice: 0, call: block, text: '{}' },
  ],
  (block) => [{ type: 'media', choice: 0, block, mime: 'image/png', data: 'AAAA' }],
  (block) => [{ type: 'code', choice: 0, block, language: 'PYTHON', code: '1' }],
];
const orders = (length: number): (typeof CONTENTS)[] =>
  length === 0 ? [[]] : orders(length - 1).flatMap((order) => CONTENTS.map((content) => [...order, content]));

// The properties above find a text, a call, a second text and an image once in some ten thousand runs.
it.each([...CASES, { title: 'Responses', format: formats['openai-responses'], strict: false, see: whole }])(
  'an answer to $title with four contents in any order is the same in both forms',
  ({ format, strict, see }) => {
    const counted: Usage = { input: 9, output: 3, total: 12, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
    for (const order of orders(4)) {
      const reason = order.includes(CONTENTS[1]!) ? 'tool_calls' : 'stop';
      const events: readonly GenerationEvent[] = [
        { type: 'start', id: 'reply-1', model: 'model-ran' },
        ...order.flatMap((content, block) => content(block)),
        { type: 'usage', usage: counted },
        { type: 'finish', choice: 0, reason },
        { type: 'end' },
      ];
      const client = first({ strict, id: 'resp_1' });
      const body = replyWith(format, events, client);
      const stream = Buffer.from(format.encodeStream(client).push(events));
      expect(see(parsed(plainFromStream(format, stream, undefined, client)))).toEqual(see(body));
      const again = plainFromStream(format, streamFromPlain(format, body, client), undefined, client);
      expect(see(parsed(again))).toEqual(see(body));
    }
  },
);

const openai = formats['openai-chat'];
const usage: Usage = { input: 9, output: 3, total: 12 };

/** Chunks of a stream, read naively. */
const chunksOf = (stream: Buffer): JsonObject[] =>
  stream
    .toString('utf8')
    .split('\n\n')
    .filter((record) => record.startsWith('data: {'))
    .map((record) => JSON.parse(record.slice(6)) as JsonObject);

const streamFor = (includeUsage: boolean, events: readonly GenerationEvent[]) =>
  Buffer.from(openai.encodeStream(first({ includeUsage })).push(events));
const hello: readonly GenerationEvent[] = [
  { type: 'start', id: 'chatcmpl-kept', model: 'model-ran' },
  { type: 'text', choice: 0, block: 0, text: 'Hello' },
  { type: 'finish', choice: 0, reason: 'stop' },
];
const withUsage: readonly GenerationEvent[] = [...hello, { type: 'usage', usage }, { type: 'end' }];
const withoutUsage: readonly GenerationEvent[] = [...hello, { type: 'end' }];

describe('a stored stream for another client', () => {
  it('gets the usage chunk that its first client had not requested, and keeps its id, time and text', () => {
    const chunks = chunksOf(streamWithUsage(openai, streamFor(false, withUsage), usage, later({ includeUsage: true })));
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
    });
    expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
    expect(
      new Set(chunks.map(({ id, created, model }) => `${String(id)} ${String(created)} ${String(model)}`)),
    ).toEqual(new Set(['chatcmpl-kept 1700000000 model-ran']));
  });

  it('loses the usage chunk that its client does not want, and no other byte', () => {
    const kept = streamFor(true, withUsage);
    expect(streamWithUsage(openai, kept, usage, later({ includeUsage: false })).toString()).toBe(
      streamFor(false, withUsage).toString(),
    );
  });

  it.each([
    ['has the requested usage', true, withUsage, usage],
    ['has no usage to add', true, withoutUsage, undefined],
    ['has no usage and needs none', false, withoutUsage, usage],
  ] as const)('keeps its bytes when it %s', (_title, includeUsage, events, known) => {
    const kept = streamFor(includeUsage, events);
    expect(streamWithUsage(openai, kept, known, later({ includeUsage })).equals(kept)).toBe(true);
  });

  it('becomes a body with the counted usage', () => {
    const body = parsed(plainFromStream(openai, streamFor(false, withUsage), usage, later({ strict: true })));
    expect(body).toMatchObject({ id: 'chatcmpl-kept', created: 1_700_000_000, usage: { total_tokens: 12 } });
    expect(body.choices).toMatchObject([{ message: { content: 'Hello' }, finish_reason: 'stop' }]);
  });

  it('keeps its own usage', () => {
    const counted = { input: 1, output: 1, total: 2 };
    const body = parsed(plainFromStream(openai, streamFor(true, withUsage), counted, later({})));
    expect(body.usage).toMatchObject({ total_tokens: 12 });
  });

  it.each([
    ['when it was cut', (whole: string) => whole.slice(0, whole.indexOf('"finish_reason":"stop"'))],
    [
      'when it ends in an error',
      (whole: string) => whole.replace('data: [DONE]', 'data: {"error":{"message":"broken"}}'),
    ],
  ])('throws a ReplyFault %s', (_title, harm) => {
    const kept = Buffer.from(harm(streamFor(false, withUsage).toString()));
    expect(() => plainFromStream(openai, kept, usage, later({}))).toThrow(ReplyFault);
    expect(() => streamWithUsage(openai, kept, usage, later({ includeUsage: true }))).toThrow(ReplyFault);
  });
});

it.each([2, 3])('%d texts with the same words stay apart in a stream for a client that is shown blocks', (count) => {
  const texts = Array.from(
    { length: count },
    (_, block) => ({ type: 'text', choice: 0, block, text: 'again' }) as const,
  );
  const events: readonly GenerationEvent[] = [hello[0]!, ...texts, ...withoutUsage.slice(2)];
  const stream = Buffer.from(openai.encodeStream(later({ strict: false })).push(events));
  const decoder = openai.decodeStream(replyContext());
  expect([...decoder.push(stream), ...decoder.end()].filter(({ type }) => type === 'text')).toEqual(texts);
});

describe('a stored body as a stream', () => {
  it('refuses a body that is an error', () => {
    expect(() => streamFromPlain(openai, { error: { message: 'no' } }, later({}))).toThrow(ReplyFault);
  });

  it('carries the top-level fields of the reply', () => {
    const body = {
      ...replyWith(openai, withUsage, first({})),
      service_tier: 'default',
      system_fingerprint: 'fp_1',
      provider: 'somebody',
    };
    const strict = chunksOf(streamFromPlain(openai, body, later({ strict: true })));
    const lax = chunksOf(streamFromPlain(openai, body, later({ strict: false })));
    for (const chunk of strict) {
      expect(chunk).toMatchObject({ service_tier: 'default', system_fingerprint: 'fp_1' });
      expect(chunk).not.toHaveProperty('provider');
    }
    for (const chunk of lax) expect(chunk).toMatchObject({ service_tier: 'default', provider: 'somebody' });
  });
});
