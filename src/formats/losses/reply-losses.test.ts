import { describe, expect, it } from 'vitest';
import type { GenerationEvent } from '../events.ts';
import { formats } from '../index.ts';
import { clientContext, replyContext, replyWith } from '../contexts.testkit.ts';
import { translatingReader } from '../streams/readers.ts';
import { noLosses } from './reply-losses.ts';

const at = { choice: 0, block: 0 } as const;
const media = (mime: string): GenerationEvent => ({ type: 'media', ...at, mime, data: 'AAAA' });
const PARTS: readonly (readonly [string, GenerationEvent])[] = [
  ['text', { type: 'text', ...at, text: 'a' }],
  ['thinking', { type: 'thinking', ...at, text: 'a' }],
  ['audio', media('audio/wav')],
  ['a picture', media('image/png')],
  ['a film', media('video/mp4')],
  ['a file', media('application/pdf')],
  ['code that ran', { type: 'code', ...at, language: 'PYTHON', code: '1' }],
  ['what the code said', { type: 'code_result', ...at, outcome: 'OK', output: '1' }],
  ['a block of Claude', { type: 'opaque', ...at, format: 'anthropic-messages', value: { type: 'server_tool_use' } }],
  ['a part of Gemini', { type: 'opaque', ...at, format: 'gemini', value: { type: 'gemini_part', part: {} } }],
  ['notes on the answer', { type: 'opaque', ...at, format: 'gemini', value: { groundingMetadata: {} } }],
  ['log probabilities', { type: 'logprobs', choice: 0, tokens: [{ token: 'a', logprob: -1 }] }],
  ['another answer', { type: 'text', choice: 1, block: 0, text: 'b' }],
  ['a citation of nothing', { type: 'citation', choice: 0, citation: { url: 'https://e.org', start: 0, end: 0 } }],
];

const CLIENTS = [
  ['a strict chat client', formats['openai-chat'], true],
  ['a chat client that is not strict', formats['openai-chat'], false],
  ['a Messages client', formats['anthropic-messages'], false],
  ['a Gemini client', formats.gemini, false],
] as const;

const LOST: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'a strict chat client': {
    'a picture': 'image',
    'a film': 'video',
    'a file': 'document',
    'code that ran': 'code',
    'what the code said': 'code',
    'a block of Claude': 'content_blocks',
    'a part of Gemini': 'content_blocks',
  },
  'a Messages client': {
    audio: 'audio',
    'a film': 'video',
    'a file': 'document',
    'a part of Gemini': 'content_blocks',
    'log probabilities': 'logprobs',
    'another answer': 'choices',
    'a citation of nothing': 'citations',
  },
  'a Gemini client': { 'a block of Claude': 'content_blocks' },
};

describe.each(CLIENTS)('%s', (name, client, strict) => {
  it.each(PARTS)('is shown, or is reported as lost: %s', (part, event) => {
    const events: GenerationEvent[] = [
      { type: 'start', id: 'i', model: 'm' },
      event,
      { type: 'finish', choice: 0, reason: 'stop' },
      { type: 'end' },
    ];
    const lost = LOST[name]?.[part];
    const names = lost === undefined ? [] : [`reply.${lost}`];
    const [plain, streamed] = [noLosses(), noLosses()];
    replyWith(client, events, clientContext({ strict }), plain);
    client.encodeStream(clientContext({ strict }), streamed).push(events);
    expect((plain.losses ?? []).map(({ param }) => param)).toEqual(names);
    expect(streamed.losses).toEqual(plain.losses);
  });
});

it('a part that is lost many times is named once', () => {
  const notes = noLosses();
  const encoder = formats['anthropic-messages'].encodeStream(clientContext(), notes);
  for (let count = 0; count < 100; count += 1) encoder.push([media('audio/wav')]);
  expect(notes.losses).toHaveLength(1);
});

describe('a reply that passes through to a strict chat client', () => {
  const chat = formats['openai-chat'];
  const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
  const said = {
    content: 'a',
    content_parts: [picture],
    content_blocks: [{ type: 'code', language: 'PYTHON', code: '1' }],
  };
  const bodies = [
    [false, JSON.stringify({ id: 'c', choices: [{ index: 0, message: said, finish_reason: 'stop' }] })],
    [
      true,
      `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: said, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`,
    ],
  ] as const;

  it.each(bodies)('names the removed parts (stream: %s)', (stream, body) => {
    const reader = chat.passThrough!.open(clientContext({ strict: true }), stream);
    const left = [reader.push(Buffer.from(body)), reader.end()].map(String).join('');
    expect(left).not.toContain('content_parts');
    expect(reader.signals.losses?.map(({ param }) => param).toSorted()).toEqual(['reply.code', 'reply.image']);
  });
});

describe('images in `images`, as OpenRouter returns them', () => {
  const images = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }];

  it('reach a Messages client', () => {
    const translation = {
      upstream: formats['openai-chat'],
      client: formats['anthropic-messages'],
      reply: replyContext(),
      context: clientContext(),
    };
    const reader = translatingReader(translation, false, 'application/json');
    reader.push(
      Buffer.from(JSON.stringify({ id: 'c', choices: [{ message: { content: 'a', images }, finish_reason: 'stop' }] })),
    );
    expect(JSON.parse(String(reader.end()))).toMatchObject({
      content: [
        { type: 'text', text: 'a' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      ],
    });
    expect(reader.signals.losses).toBeUndefined();
  });
});

describe('Citations beyond 1 MiB', () => {
  const source = { web: { uri: `https://e.org/${'a'.repeat(1000)}`, title: 't' } };
  const answer = (supports: number) => ({
    candidates: [
      {
        content: { role: 'model', parts: [{ text: 'Hello' }] },
        finishReason: 'STOP',
        groundingMetadata: {
          groundingChunks: [source],
          groundingSupports: Array.from({ length: supports }, () => ({
            segment: { endIndex: 5 },
            groundingChunkIndices: [0],
          })),
        },
      },
    ],
  });
  const read = (supports: number, client: keyof typeof formats, stream: boolean) => {
    const body = JSON.stringify(answer(supports));
    const reader = translatingReader(
      { upstream: formats.gemini, client: formats[client], reply: replyContext(), context: clientContext() },
      stream,
      stream ? 'text/event-stream' : 'application/json',
    );
    reader.push(Buffer.from(stream ? `data: ${body}\r\n\r\n` : body));
    reader.end();
    return reader.signals.losses;
  };

  it.each([
    ['openai-chat', true],
    ['openai-chat', false],
    ['anthropic-messages', true],
    ['anthropic-messages', false],
  ] as const)('are reported as lost (%s, stream: %s)', (client, stream) => {
    expect(read(900, client, stream)).toBeUndefined();
    expect(read(1000, client, stream)).toEqual([
      { param: 'reply.citations', action: 'dropped', reason: 'The citations of an answer are cut at 1 MiB.' },
    ]);
  });
});
