import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { FormatName } from './conversation.ts';
import type { GenerationEvent, Usage } from './events.ts';
import { formats } from './index.ts';
import { decodeAll, replyContext } from './laws.testkit.ts';
import { fold } from './streams/fold.ts';

const usageOf = (events: readonly GenerationEvent[]): Usage | undefined => fold(events).usage;

/** Plain replies with every count that prices need. */
const COUNTED: Readonly<Record<FormatName, readonly [reply: object, usage: Partial<Usage>]>> = {
  'openai-chat': [
    {
      model: 'm',
      service_tier: 'priority',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Yes' }, finish_reason: 'stop' }],
      usage: {
        prompt_tokens: 100,
        completion_tokens: 50,
        total_tokens: 150,
        prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 5, audio_tokens: 10, image_tokens: 7 },
        completion_tokens_details: { reasoning_tokens: 20, audio_tokens: 9, image_tokens: 3 },
      },
    },
    {
      cacheRead: 40,
      cacheWrite: 5,
      inputAudio: 10,
      inputImage: 7,
      reasoning: 20,
      outputAudio: 9,
      outputImage: 3,
      tier: 'priority',
    },
  ],
  'openai-responses': [
    {
      model: 'm',
      object: 'response',
      status: 'completed',
      service_tier: 'flex',
      output: [
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Yes', annotations: [] }] },
      ],
      usage: {
        input_tokens: 100,
        output_tokens: 50,
        total_tokens: 150,
        input_tokens_details: { cached_tokens: 40, cache_write_tokens: 5 },
        output_tokens_details: { reasoning_tokens: 20 },
      },
    },
    { cacheRead: 40, cacheWrite: 5, reasoning: 20, tier: 'flex' },
  ],
  'anthropic-messages': [
    {
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'Yes' }],
      stop_reason: 'end_turn',
      usage: {
        input_tokens: 40,
        output_tokens: 50,
        cache_read_input_tokens: 30,
        cache_creation_input_tokens: 30,
        cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 10 },
        server_tool_use: { web_search_requests: 3 },
        service_tier: 'batch',
        inference_geo: 'us',
        speed: 'fast',
      },
    },
    { cacheRead: 30, cacheWrite: 30, cacheWrite1h: 10, searches: 3, tier: 'batch', geo: 'us', fast: true },
  ],
  gemini: [
    {
      modelVersion: 'm',
      candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'Yes' }] }, finishReason: 'STOP' }],
      usageMetadata: {
        promptTokenCount: 95,
        toolUsePromptTokenCount: 5,
        candidatesTokenCount: 30,
        thoughtsTokenCount: 20,
        totalTokenCount: 150,
        cachedContentTokenCount: 40,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 60 },
          { modality: 'AUDIO', tokenCount: 25 },
          { modality: 'IMAGE', tokenCount: 10 },
        ],
        cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 8 }],
        candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 12 }],
        trafficType: 'ON_DEMAND_FLEX',
      },
    },
    {
      cacheRead: 40,
      reasoning: 20,
      toolUse: 5,
      inputAudio: 25,
      inputImage: 10,
      cacheReadAudio: 8,
      outputImage: 12,
      tier: 'flex',
    },
  ],
};

const event = (data: object, type?: string): string =>
  `${type === undefined ? '' : `event: ${type}\n`}data: ${JSON.stringify(type === undefined ? data : { type, ...data })}\n\n`;

/** The fields of all four APIs that a stream has elsewhere. */
interface PlainReply {
  readonly choices: readonly Readonly<Record<string, unknown>>[];
  readonly usage?: Readonly<Record<string, unknown>>;
  readonly usageMetadata?: Readonly<Record<string, unknown>>;
  readonly content: unknown;
  readonly stop_reason: unknown;
}

/** The stream in which the provider would have sent a plain reply, written without the code of the formats. */
const STREAMS: Readonly<Record<FormatName, (reply: PlainReply) => string>> = {
  'openai-chat': ({ choices, usage, ...rest }) => {
    const deltas = choices.map(({ message, ...choice }) => ({ ...choice, delta: message }));
    return `${event({ ...rest, choices: deltas })}${event({ ...rest, choices: [], usage })}data: [DONE]\n\n`;
  },
  'openai-responses': (response) =>
    event({ response: { ...response, output: [], usage: null } }, 'response.created') +
    event({ response }, 'response.completed'),
  'anthropic-messages': ({ usage = {}, content, stop_reason, ...message }) => {
    const { output_tokens, server_tool_use, ...atStart } = usage;
    return [
      event({ message: { ...message, content: [], usage: { ...atStart, output_tokens: 1 } } }, 'message_start'),
      event({ delta: { stop_reason }, usage: { output_tokens, server_tool_use } }, 'message_delta'),
      event({}, 'message_stop'),
    ].join('');
  },
  gemini: (reply) => {
    const { usageMetadata, ...rest } = reply;
    const early = { trafficType: usageMetadata?.trafficType, promptTokenCount: usageMetadata?.promptTokenCount };
    return event({ ...rest, candidates: [], usageMetadata: early }) + event(reply);
  },
};

function streamed(name: FormatName, reply: unknown): readonly GenerationEvent[] {
  const text = STREAMS[name](reply as PlainReply);
  return decodeAll(formats[name].decodeStream(replyContext()), [Buffer.from(text)]);
}

describe('the usage of a reply', () => {
  it.each(Object.entries(COUNTED) as [FormatName, (typeof COUNTED)[FormatName]][])(
    'of %s has each kind, plain and streamed',
    (name, [reply, more]) => {
      const events = formats[name].decodeReply(reply, replyContext());
      const usage = { input: 100, output: 50, total: 150, ...more };
      expect(usageOf(events)).toEqual(usage);
      expect(usageOf(streamed(name, reply))).toEqual(usage);
    },
  );
});

/** Recorded traffic is beside the checkout and never part of it. Without it these tests are skipped. */
const CORPUS = new URL('../../../shared/corpus/dev/', import.meta.url);
const FILES: readonly (readonly [FormatName, RegExp])[] = [
  ['openai-chat', /^openai-chat\.jsonl$/],
  ['anthropic-messages', /anthropic\.jsonl$/],
  ['gemini', /gemini\.jsonl$/],
];

interface Reply {
  readonly id: string;
  readonly op: string;
  readonly response_status: number;
  readonly response_body_kind: string;
  readonly response_body: unknown;
}

const recorded = !existsSync(CORPUS)
  ? []
  : FILES.flatMap(([name, pattern]) =>
      readdirSync(CORPUS)
        .filter((file) => pattern.test(file))
        .flatMap((file) => readFileSync(new URL(file, CORPUS), 'utf8').split('\n'))
        .filter((line) => line !== '')
        .map((line) => ({ name, reply: JSON.parse(line) as Reply })),
    ).filter(({ reply }) => reply.response_status === 200);

describe.skipIf(recorded.length === 0)('recorded replies', () => {
  it('count the same plain and streamed', () => {
    let compared = 0;
    const different: unknown[] = [];
    for (const { name, reply } of recorded) {
      if (reply.response_body_kind !== 'json') continue;
      const usage = plainUsage(name, reply);
      if (!usage) continue;
      compared += 1;
      const other = usageOf(streamed(name, reply.response_body));
      if (JSON.stringify(sorted(other)) !== JSON.stringify(sorted(usage))) different.push([reply.id, usage, other]);
    }
    expect(different).toEqual([]);
    expect(compared).toBeGreaterThan(100);
  });
});

/** Undefined for a reply of another operation, and for one without counts. */
function plainUsage(name: FormatName, { response_body: body }: Reply): Usage | undefined {
  try {
    const events = formats[name].decodeReply(body, replyContext());
    return events.some(({ type }) => type === 'error') ? undefined : usageOf(events);
  } catch {
    return undefined;
  }
}

const sorted = (usage: Usage | undefined) => usage && Object.entries(usage).toSorted(([a], [b]) => (a < b ? -1 : 1));
