import { describe, expect, it } from 'vitest';
import type { GenerationEvent } from '../events.ts';
import { fold } from '../streams/fold.ts';
import { clientContext, deepFreeze, replyContext } from '../contexts.testkit.ts';
import { decodeAll } from '../laws.testkit.ts';
import { decodeReply, decodeStream } from './decode-reply.ts';
import { encodeReply } from './encode-reply.ts';
import { encodeStream } from './encode-stream.ts';

const client = clientContext();
const at = { choice: 0, block: 0 };
const end: GenerationEvent = { type: 'end' };
const finish = (reason: 'stop' | 'length' | 'tool_calls' | 'content_filter', native?: string): GenerationEvent => ({
  type: 'finish',
  choice: 0,
  reason,
  ...(native && { native }),
});
const reply = (...events: GenerationEvent[]) => encodeReply(deepFreeze([...events, end]), client);
const records = (sent: string) =>
  sent
    .split('\r\n\r\n')
    .filter(Boolean)
    .map((record) => JSON.parse(record.replace(/^data: /, '')));

describe('a reply for a client of this API', () => {
  it('has the envelope of Google', () => {
    const usage: GenerationEvent = {
      type: 'usage',
      usage: { input: 5, output: 7, total: 12, reasoning: 3, cacheRead: 2, inputAudio: 1 },
    };
    expect(
      reply(
        { type: 'start', id: 'chatcmpl-r', model: 'm1' },
        { type: 'text', ...at, text: 'a' },
        usage,
        finish('stop'),
      ),
    ).toEqual({
      candidates: [{ content: { role: 'model', parts: [{ text: 'a' }] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: {
        promptTokenCount: 5,
        candidatesTokenCount: 4,
        thoughtsTokenCount: 3,
        totalTokenCount: 12,
        cachedContentTokenCount: 2,
        promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 1 }],
      },
      modelVersion: 'm1',
      createTime: '2026-11-20T00:00:00.000Z',
      responseId: 'r',
    });
  });

  it.each([
    ['stop', undefined, 'STOP'],
    ['tool_calls', undefined, 'STOP'],
    ['length', 'max_tokens', 'MAX_TOKENS'],
    ['content_filter', undefined, 'SAFETY'],
    ['content_filter', 'RECITATION', 'RECITATION'],
    ['stop', 'OTHER', 'OTHER'],
  ] as const)('finish %s (%s) is %s', (reason, native, word) => {
    expect(reply(finish(reason, native))).toMatchObject({ candidates: [{ finishReason: word }] });
  });

  it('sends a refusal as text, and omits blocks that only their provider can read', () => {
    const events: GenerationEvent[] = [
      { type: 'redacted_thinking', ...at, data: 'x' },
      { type: 'refusal', choice: 0, text: 'No.' },
      finish('content_filter'),
    ];
    const parts = [{ text: 'No.' }];
    expect(reply(...events)).toMatchObject({ candidates: [{ content: { parts } }] });
    expect(records(encodeStream(client).push([...events, end]))[0]).toMatchObject({
      candidates: [{ content: { parts } }],
    });
  });

  it.each([
    ['', {}],
    ['{"a":1}', { a: 1 }],
    ['[1]', { value: [1] }],
    ['{"a":', { value: '{"a":' }],
  ])('arguments %j are an object', (text, args) => {
    const call: GenerationEvent = { type: 'tool_call', ...at, call: 0, id: 'i', name: 'f' };
    expect(reply(call, { type: 'tool_arguments', choice: 0, call: 0, text }, finish('tool_calls'))).toMatchObject({
      candidates: [{ content: { parts: [{ functionCall: { id: 'i', name: 'f', args } }] } }],
    });
  });

  it('citations of any provider are grounding at byte offsets', () => {
    const citation = { url: 'https://a', title: 'A', start: 2, end: 4 };
    const events: GenerationEvent[] = [
      { type: 'text', ...at, text: 'é 👋.' },
      { type: 'citation', choice: 0, citation },
      finish('stop'),
    ];
    const body = reply(...events);
    expect(body).toMatchObject({
      candidates: [
        { groundingMetadata: { groundingSupports: [{ segment: { startIndex: 3, endIndex: 7, text: '👋' } }] } },
      ],
    });
    expect(fold(decodeReply(body, replyContext())).choices[0]!.citations).toEqual([citation]);
    const stream = Buffer.from(encodeStream(client).push([...events, end]));
    expect(fold(decodeAll(decodeStream(replyContext()), [stream])).choices[0]!.citations).toEqual([citation]);
  });

  it('grounding of Google is sent unchanged', () => {
    const value = { groundingMetadata: { webSearchQueries: ['q'] }, safetyRatings: [{ category: 'c' }] };
    const opaque: GenerationEvent = { type: 'opaque', ...at, format: 'gemini', value };
    expect(reply(opaque, finish('stop'))).toMatchObject({ candidates: [{ content: { parts: [] }, ...value }] });
  });

  it('code, images and probabilities survive both ways', () => {
    const events: GenerationEvent[] = [
      { type: 'start', id: 'chatcmpl-r', model: 'm' },
      { type: 'code', choice: 0, block: 0, language: 'PYTHON', code: '1', signature: 's' },
      { type: 'code_result', choice: 0, block: 1, outcome: 'OUTCOME_OK', output: '1', id: 'c' },
      { type: 'media', choice: 0, block: 2, mime: 'audio/pcm', data: 'AAAA' },
      { type: 'logprobs', choice: 0, tokens: [{ token: 'a', logprob: -1, top: [{ token: 'a', logprob: -1 }] }] },
      { type: 'logprobs', choice: 0, tokens: [{ token: 'b', logprob: -2, top: [] }] },
      { type: 'opaque', choice: 0, block: 3, format: 'gemini', value: { type: 'gemini_part', part: { toolCall: {} } } },
      finish('stop', 'STOP'),
      end,
    ];
    const expected = fold(events);
    expect(fold(decodeReply(encodeReply(events, client), replyContext()))).toEqual(expected);
    const stream = Buffer.from(encodeStream(client).push(events));
    expect(fold(decodeAll(decodeStream(replyContext()), [stream]))).toEqual(expected);
  });
});

describe('a stream for a client of this API', () => {
  it('sends text as it arrives, and the finish reason with the usage last', () => {
    const encoder = encodeStream(client);
    expect(encoder.push([{ type: 'start', id: 'chatcmpl-r', model: 'm' }, { type: 'ping' }])).toBe('');
    expect(
      records(
        encoder.push([
          { type: 'text', ...at, text: 'a' },
          { type: 'text', ...at, text: 'b' },
        ]),
      ),
    ).toMatchObject([
      { candidates: [{ content: { parts: [{ text: 'ab' }] }, index: 0 }], modelVersion: 'm', responseId: 'r' },
    ]);
    const usage = { input: 1, output: 1, total: 2 };
    expect(encoder.push([finish('stop'), { type: 'usage', usage }])).toBe('');
    expect(records(encoder.push([end]))).toMatchObject([
      { candidates: [{ finishReason: 'STOP' }], usageMetadata: { totalTokenCount: 2 } },
    ]);
  });

  it('sends calls whole when their fragments are interleaved', () => {
    const encoder = encodeStream(client);
    const call = (call: number, name: string): GenerationEvent => ({
      type: 'tool_call',
      choice: 0,
      block: call,
      call,
      id: name,
      name,
    });
    const piece = (call: number, text: string): GenerationEvent => ({ type: 'tool_arguments', choice: 0, call, text });
    const sent = [call(0, 'f'), call(1, 'g'), piece(0, '{"a"'), piece(1, '{}'), piece(0, ':1}')].map((event) =>
      encoder.push([event]),
    );
    expect(sent.join('')).toBe('');
    expect(records(encoder.push([finish('tool_calls'), end]))).toMatchObject([
      {
        candidates: [
          {
            content: {
              parts: [{ functionCall: { name: 'f', args: { a: 1 } } }, { functionCall: { name: 'g', args: {} } }],
            },
          },
        ],
      },
    ]);
  });

  it('sends a late signature on an empty part of its kind', () => {
    const encoder = encodeStream(client);
    encoder.push([{ type: 'thinking', ...at, text: 't' }]);
    expect(records(encoder.push([{ type: 'signature', ...at, signature: 's', maker: 'gemini' }]))).toMatchObject([
      { candidates: [{ content: { parts: [{ text: '', thought: true, thoughtSignature: 's' }] } }] },
    ]);
  });
});
