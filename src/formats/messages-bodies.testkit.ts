/**
 * Test support: arbitrary bodies of the Messages API, in the form that encoding produces
 * (docs/protocols/anthropic-messages.md#request-fields, docs/protocols/anthropic-messages.md#content-blocks,
 * docs/protocols/anthropic-messages.md#tools).
 */
import * as fc from 'fast-check';
import type { JsonObject } from './conversation.ts';

/**
 * Text: the API refuses blank texts, and encoding leaves them out (docs/protocols/anthropic-messages.md#content-blocks,
 * docs/protocols/requests.md#empty-text-for-claude).
 */
const words = fc
  .string({ minLength: 1, maxLength: 24, unit: 'grapheme' })
  .map((text) => `${text.trim()}.`)
  .filter((text) => text.trim() === text);
const name = fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_]{0,15}$/);
const input = fc.dictionary(
  fc.stringMatching(/^[a-z]{1,6}$/),
  fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown),
  { maxKeys: 3 },
);
const base64 = fc.uint8Array({ minLength: 1, maxLength: 12 }).map((bytes) => Buffer.from(bytes).toString('base64'));
/** Protobuf that begins as only Claude's does. */
const signature = base64.map((data) => `Eg4KDAgBGAIi${data}`);

const text = words.map((said): JsonObject => ({ type: 'text', text: said }));
const image = base64.map((data): JsonObject => ({
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data },
}));

/** Content that a body may hold besides text, calls and results: everything, or only what other APIs have too. */
export interface BodyFeatures {
  /** Markers, citations, titles, server tools, sealed thoughts and Anthropic-only fields. */
  readonly own: boolean;
}

const marked = (blocks: fc.Arbitrary<JsonObject>, { own }: BodyFeatures): fc.Arbitrary<JsonObject> =>
  own
    ? fc
        .tuple(blocks, fc.option(fc.constantFrom({ type: 'ephemeral' }, { type: 'ephemeral', ttl: '1h' })))
        .map(([block, cache_control]) => (cache_control ? { ...block, cache_control } : block))
    : blocks;

const OWN_ASSISTANT_BLOCKS: readonly fc.Arbitrary<JsonObject>[] = [
  fc.tuple(words, words).map(([said, title]) => ({
    type: 'text',
    text: said,
    citations: [{ type: 'page_location', cited_text: said, document_index: 0, document_title: title }],
  })),
  fc.record({ id: name, query: words }).map(({ id, query }) => ({
    type: 'server_tool_use',
    id: `srvtoolu_${id}`,
    name: 'web_search',
    input: { query },
  })),
];
const OWN_USER_BLOCKS: readonly fc.Arbitrary<JsonObject>[] = [
  fc.tuple(base64, words).map(([data, title]) => ({
    type: 'document',
    source: { type: 'base64', media_type: 'application/pdf', data },
    title,
    citations: { enabled: true },
  })),
  fc.tuple(words, words).map(([said, title]) => ({
    type: 'search_result',
    source: 'https://example.com',
    title,
    content: [{ type: 'text', text: said }],
  })),
  base64.map((data) => ({ type: 'hologram', data })),
];

const thinking = fc
  .tuple(words, signature)
  .map(([thought, proof]): JsonObject => ({ type: 'thinking', thinking: thought, signature: proof }));

const sealed = base64.map((data): JsonObject => ({ type: 'redacted_thinking', data }));

interface Round {
  readonly thoughts: readonly JsonObject[];
  readonly said: readonly JsonObject[];
  readonly calls: readonly {
    readonly name: string;
    readonly input: JsonObject;
    readonly result: readonly JsonObject[];
  }[];
  readonly given: readonly JsonObject[];
}

function round(features: BodyFeatures): fc.Arbitrary<Round> {
  const { own } = features;
  const result = own ? fc.oneof({ weight: 3, arbitrary: text }, image) : text;
  const calls = fc.array(fc.record({ name, input, result: fc.array(result, { maxLength: 2 }) }), { maxLength: 3 });
  return calls.chain((made) =>
    fc.record({
      // With thinking on, a turn with calls begins with its thoughts; without them thinking is switched off
      // (docs/protocols/anthropic-messages.md#thinking-blocks).
      thoughts: fc.array(own ? fc.oneof(thinking, sealed) : thinking, {
        minLength: made.length > 0 ? 1 : 0,
        maxLength: 2,
      }),
      said: fc.array(marked(own ? fc.oneof(text, ...OWN_ASSISTANT_BLOCKS) : text, features), {
        minLength: 1,
        maxLength: 2,
      }),
      calls: fc.constant(made),
      given: fc.array(marked(own ? fc.oneof(text, image, ...OWN_USER_BLOCKS) : fc.oneof(text, image), features), {
        minLength: 1,
        maxLength: 2,
      }),
    }),
  );
}

/** A question, then rounds: an answer with calls, the results in the order of the calls, and further user content. */
export function turns(features: BodyFeatures): fc.Arbitrary<readonly JsonObject[]> {
  return fc.tuple(text, fc.array(round(features), { maxLength: 3 })).map(([question, rounds]) => {
    let made = 0;
    const later = rounds.flatMap(({ thoughts, said, calls, given }) => {
      const uses = calls.map((call) => ({
        type: 'tool_use',
        id: `toolu_${made++}`,
        name: call.name,
        input: call.input,
      }));
      const results = calls.map(({ result }, at) => ({
        type: 'tool_result',
        tool_use_id: uses[at]!.id,
        ...(result.length > 0 && { content: result }),
      }));
      return [
        { role: 'assistant', content: [...thoughts, ...said, ...uses] },
        { role: 'user', content: [...results, ...given] },
      ];
    });
    return [{ role: 'user', content: [question] }, ...later];
  });
}

const tool = fc
  .tuple(
    fc.record({ name, input_schema: fc.constant({ type: 'object', properties: { city: { type: 'string' } } }) }),
    fc.option(words),
  )
  .map(([own, description]): JsonObject => ({ ...own, ...(description && { description }) }));

/**
 * Settings that do not exclude each other: thinking excludes sampling parameters (docs/protocols/anthropic-messages.md#sampling) and
 * forced tools (docs/protocols/anthropic-messages.md#tool-choice).
 */
const settings = fc.oneof(
  fc.record({ temperature: fc.constantFrom(0, 0.3, 1) }),
  fc.record({ top_p: fc.constantFrom(0.5, 1) }),
  fc.record({ top_k: fc.integer({ min: 1, max: 500 }) }),
  fc.record({
    thinking: fc.record({ type: fc.constant('enabled'), budget_tokens: fc.integer({ min: 1024, max: 4000 }) }),
  }),
  fc.constant({ thinking: { type: 'disabled' } }),
);

function choiceOf(tools: readonly JsonObject[], thinks: boolean): fc.Arbitrary<JsonObject | null> {
  if (tools.length === 0) return fc.constant(null);
  const free: JsonObject[] = [{ type: 'auto' }, { type: 'auto', disable_parallel_tool_use: true }, { type: 'none' }];
  const forced: JsonObject[] = [
    { type: 'any' },
    { type: 'tool', name: tools[0]!.name, disable_parallel_tool_use: true },
  ];
  return fc.option(fc.constantFrom(...free, ...(thinks ? [] : forced)));
}

/** A whole request. */
export function messagesBody(features: BodyFeatures): fc.Arbitrary<JsonObject> {
  const own = fc.record(
    {
      container: fc.constant('container_1'),
      inference_geo: fc.constant('us'),
      // A null is never sent on (docs/protocols/requests.md#nulls).
      frobnicate: fc
        .jsonValue({ maxDepth: 1 })
        .filter((value) => value !== null)
        // JSON has no -0.
        .map((value) => JSON.parse(JSON.stringify(value)) as unknown),
    },
    { requiredKeys: [] },
  );
  return fc
    .tuple(
      fc.record({ messages: turns(features), max_tokens: fc.integer({ min: 4001, max: 9000 }) }),
      fc.record(
        {
          system: fc.array(marked(text, features), { minLength: 1, maxLength: 2 }),
          stop_sequences: fc.array(words, { minLength: 1, maxLength: 3 }),
          metadata: words.map((user_id) => ({ user_id })),
          stream: fc.constant(true),
        },
        { requiredKeys: [] },
      ),
      settings,
      fc.uniqueArray(tool, { maxLength: 2, selector: ({ name: called }) => called }),
      features.own ? own : fc.constant({}),
    )
    .chain(([needed, free, set, tools, extras]) =>
      choiceOf(tools, 'thinking' in set && set.thinking.type === 'enabled').map((tool_choice) => ({
        model: 'claude-sonnet-4-5',
        ...needed,
        ...free,
        ...set,
        ...extras,
        ...(tools.length > 0 && { tools }),
        ...(tool_choice && { tool_choice }),
      })),
    );
}
