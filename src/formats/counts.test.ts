import { describe, expect, it } from 'vitest';
import type { FormatName } from './conversation.ts';
import { claimOf, countOf, isWithin, UNKNOWN_MOST } from './counts.ts';
import type { Usage } from './events.ts';
import { plainUsages, streamUsages, usagesAsStream } from './usage-streams.testkit.ts';

const answer = { role: 'assistant', content: 'Yes' };

/** Replies of each format with these counts, as they come from the upstream. */
const REPLIES: Readonly<Record<FormatName, (counts: Counts) => object>> = {
  'openai-chat': ({ input, output, cached, reasoning, total }) => ({
    model: 'm',
    choices: [{ index: 0, message: answer, finish_reason: 'stop' }],
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: total,
      prompt_tokens_details: { cached_tokens: cached },
      completion_tokens_details: { reasoning_tokens: reasoning },
    },
  }),
  'openai-responses': ({ input, output, cached, reasoning, total }) => ({
    model: 'm',
    object: 'response',
    status: 'completed',
    output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Yes', annotations: [] }] }],
    usage: {
      input_tokens: input,
      output_tokens: output,
      total_tokens: total,
      input_tokens_details: { cached_tokens: cached },
      output_tokens_details: { reasoning_tokens: reasoning },
    },
  }),
  'anthropic-messages': ({ input, output, cached, reasoning }) => ({
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: 'Yes' }],
    stop_reason: 'end_turn',
    usage: {
      // `input_tokens` excludes the tokens that were read from the cache.
      input_tokens: typeof input === 'number' && typeof cached === 'number' ? input - cached : input,
      output_tokens: output,
      cache_read_input_tokens: cached,
      output_tokens_details: { thinking_tokens: reasoning },
    },
  }),
  gemini: ({ input, output, cached, reasoning, total }) => ({
    modelVersion: 'm',
    candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'Yes' }] }, finishReason: 'STOP' }],
    usageMetadata: {
      promptTokenCount: input,
      candidatesTokenCount: output,
      cachedContentTokenCount: cached,
      thoughtsTokenCount: reasoning,
      totalTokenCount: total,
    },
  }),
};

interface Counts {
  readonly input?: unknown;
  readonly output?: unknown;
  readonly cached?: unknown;
  readonly reasoning?: unknown;
  readonly total?: unknown;
}

const FORMATS = Object.keys(REPLIES) as readonly FormatName[];
/** The usage of the reply plain and streamed, each time translated and passed through. */
const readBy = (name: FormatName, counts: Counts): readonly (Usage | undefined)[] => {
  const reply = REPLIES[name](counts);
  return [...plainUsages(name, reply), ...usagesAsStream(name, reply)];
};

const LIES: readonly (readonly [string, Counts])[] = [
  ['below 0', { input: 10, output: -1 }],
  ['below 0 beside a total', { input: 10, output: -1, total: 50 }],
  ['below 0 beside reasoning and a total', { input: 10, output: -5, reasoning: 10, total: 20 }],
  ['of the prompt and below 0 beside a total', { input: -10, output: 5, total: 50 }],
  ['far below 0', { input: -1e300, output: 5 }],
  ['beyond all numbers', { input: 1e300, output: 5 }],
  ['larger than any reply', { input: 10, output: 2e12 }],
  ['the text NaN', { input: 'NaN', output: 5 }],
  ['a text of no digits', { input: 10, output: '1e3' }],
  ['true', { input: true, output: 5 }],
  ['a list', { input: [10], output: 5 }],
  ['a part that is below 0', { input: 10, output: 5, cached: -3 }],
  ['more cached than read', { input: 10, output: 5, cached: 11 }],
];

/** Counts of Gemini's thoughts are no part of another count. */
const PART_OF_OUTPUT = FORMATS.filter((name) => name !== 'gemini');

describe.each(FORMATS)('a usage of %s', (name) => {
  it.each(LIES)('with a count that is %s has only what can be true, and the claims beside it', (_, counts) => {
    for (const usage of readBy(name, counts)) {
      expect(usage?.claimed).toBeDefined();
      const { claimed: __, input, output, total, ...parts } = usage!;
      expect([input >= 0, output >= 0, input <= 1e12, output <= 1e12, total]).toEqual([
        true,
        true,
        true,
        true,
        input + output,
      ]);
      for (const part of Object.values(parts)) expect(Number(part)).toBeGreaterThanOrEqual(0);
      expect(isWithin(usage!, UNKNOWN_MOST.input, UNKNOWN_MOST.output)).toBe(false);
    }
  });

  it('with parts of a token counts them up, and digits in a text as a number', () => {
    for (const usage of readBy(name, { input: '10', output: 4.2 }))
      expect(usage).toMatchObject({ input: 10, output: 5, total: 15 });
  });

  it('without lies has no claims', () => {
    for (const usage of readBy(name, { input: 10, output: 5, cached: 10, reasoning: 5 }))
      expect(usage).not.toHaveProperty('claimed');
  });
});

it.each(PART_OF_OUTPUT)('more reasoning than output is a claim of %s', (name) => {
  for (const usage of readBy(name, { input: 10, output: 5, reasoning: 6 }))
    expect(usage).toMatchObject({ output: 5, reasoning: 5, claimed: { reasoning: 6 } });
});

/** Usages as vendors have sent them. */
const GROK = {
  prompt_tokens: 12,
  completion_tokens: 2,
  total_tokens: 334,
  prompt_tokens_details: { text_tokens: 12, cached_tokens: 2 },
  completion_tokens_details: { reasoning_tokens: 320 },
};
const RECORDED: readonly (readonly [string, object, Partial<Usage>])[] = [
  ['xAI, whose reasoning is in the total alone', GROK, { input: 12, output: 322, reasoning: 320, cacheRead: 2 }],
  [
    "Google's compatible endpoint, which does not name its thoughts",
    { prompt_tokens: 66, completion_tokens: 6, total_tokens: 100 },
    { input: 66, output: 34 },
  ],
  [
    'Moonshot, with cached tokens at the top',
    { prompt_tokens: 20, completion_tokens: 30, total_tokens: 50, cached_tokens: 10 },
    { input: 20, output: 30, cacheRead: 10 },
  ],
  [
    'DeepSeek, with cached tokens under a name of its own',
    {
      prompt_tokens: 100,
      completion_tokens: 5,
      total_tokens: 105,
      prompt_cache_hit_tokens: 60,
      prompt_cache_miss_tokens: 40,
    },
    { input: 100, output: 5, cacheRead: 60 },
  ],
];

describe('a recorded usage', () => {
  it.each(RECORDED)('of %s adds up', (_, usage, expected) => {
    const reply = { model: 'm', choices: [{ index: 0, message: answer, finish_reason: 'stop' }], usage };
    const total = (expected.input ?? 0) + (expected.output ?? 0);
    for (const read of [...plainUsages('openai-chat', reply), ...usagesAsStream('openai-chat', reply)])
      expect(read).toEqual({ ...expected, total });
  });

  it('of Gemini whose last event has fewer counts than one before is that of the last', () => {
    const event = (usageMetadata: object): string =>
      `data: ${JSON.stringify({ candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'a' }] }, finishReason: 'STOP' }], usageMetadata })}\n\n`;
    const stream =
      event({ promptTokenCount: 9, candidatesTokenCount: 15, totalTokenCount: 102, thoughtsTokenCount: 78 }) +
      event({ promptTokenCount: 87, totalTokenCount: 165, thoughtsTokenCount: 78 });
    for (const usage of streamUsages('gemini', stream))
      expect(usage).toMatchObject({ input: 87, output: 78, total: 165, reasoning: 78 });
  });
});

it('a count is undefined for all but numbers from 0 up', () => {
  expect([0, 7.5, '12', -1, NaN, Infinity, '', 'x', null, undefined, {}].map(countOf)).toEqual([
    0,
    8,
    12,
    ...Array.from({ length: 8 }, () => undefined),
  ]);
  expect([-1, 'x'].map(claimOf)).toEqual([-1, NaN]);
});

it.each<[string, Partial<Usage>, boolean]>([
  ['as much as the model takes and writes', { input: 100, output: 50 }, true],
  ['one token more of the prompt', { input: 101 }, false],
  ['one token more of the answer', { output: 51 }, false],
  ['a day of sound', { seconds: 86_400 }, true],
  ['more sound than a day has', { seconds: 86_401 }, false],
  ['more searches than a reply has', { searches: 1001 }, false],
  ['another model with more than any has', { otherModels: [{ model: 'o', usage: used({ input: 1e6 + 1 }) }] }, false],
  ['an advisor', { otherModels: [{ model: 'o', usage: used({ input: 1e6 }) }] }, true],
  [
    'more models than one reply has',
    { otherModels: Array.from({ length: 9 }, (_, at) => ({ model: `o${at}`, usage: used({ input: 1 }) })) },
    false,
  ],
])('a reply with %s can be true: %#', (_, usage, expected) => {
  expect(isWithin(used(usage), 100, 50)).toBe(expected);
});

function used(usage: Partial<Usage>): Usage {
  return { input: 0, output: 0, total: 0, ...usage };
}
