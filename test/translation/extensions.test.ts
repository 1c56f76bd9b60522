import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CHAT_EXTENSIONS,
  EMBEDDING_EXTENSIONS,
  IMAGE_EXTENSIONS,
  NAMED_TOOLS,
} from '../../src/formats/openai-chat/extensions.ts';
import { embeddingsFields, imagesFields } from '../../src/formats/fields/field-tables.ts';
import { isObject } from '../../src/formats/json/object.ts';
import { Secret } from '../../src/plugin/index.ts';
import { azureOpenAi } from '../../src/core/providers/openai/azure.ts';
import { openai } from '../../src/core/providers/openai/index.ts';
import type { ProviderEntry } from '../../src/core/providers/provider.ts';
import { noTokenCalls, testSetup } from '../../src/core/providers/setup.testkit.ts';
import { createAdHocVertex, vertexAi } from '../../src/core/providers/vertex-ai/index.ts';
import { undocumentedField } from '../support/openai-api.ts';
import { isRefused, sendTo, type Json, type Resolve, type Sent } from './outbound.ts';

/** Fields beyond OpenAI's API, sent to each provider that speaks it. */

const { setup } = testSetup(noTokenCalls);
const api_key = new Secret('key');
const base = { slug: 'own', provider: 'openai', base_url: 'https://vllm.example/v1' } as const;

const at =
  (entry: ProviderEntry | undefined, as = (model: string) => model): Resolve =>
  (model, stream) => {
    const location = entry!.locate(as(model.replace(/^@[^/]+\//, '')), { task: 'generate', stream });
    return { slug: 'own', provider: 'p', semconvName: 'p', modelLabel: model, timeouts: {}, ...location };
  };
const vertex = createAdHocVertex({ projectId: 'project', region: 'us-central1' });

const ofOpenAi = at(openai.create({ slug: 'own', provider: 'openai', api_key }, setup));
const ofOwn = (extensions?: 'keep' | 'drop' | readonly string[]) =>
  at(openai.create({ ...base, ...(extensions && { extensions }) }, setup));

/** What each provider takes of the extensions. */
const PROVIDERS: Readonly<Record<string, readonly [Resolve, readonly string[]]>> = {
  'api.openai.com': [ofOpenAi, []],
  'eu.api.openai.com': [
    at(openai.create({ slug: 'own', provider: 'openai', base_url: 'https://eu.api.openai.com/v1', api_key }, setup)),
    [],
  ],
  'api.openai.com with extensions: keep': [
    at(openai.create({ slug: 'own', provider: 'openai', api_key, extensions: 'keep' }, setup)),
    CHAT_EXTENSIONS,
  ],
  Azure: [
    at(
      azureOpenAi.create(
        { slug: 'a', provider: 'azure-openai', base_url: 'https://r.openai.azure.com', api_key },
        setup,
      ),
    ),
    [],
  ],
  'a server of your own': [ofOwn(), CHAT_EXTENSIONS],
  'a server of your own with extensions: drop': [ofOwn('drop'), []],
  'a server of your own with a list': [ofOwn(['top_k', 'thinking']), ['top_k', 'thinking']],
  'Llama on Vertex AI': [at(vertex, () => 'meta.llama-4-maverick-17b-128e-instruct-maas'), ['top_k', ...NAMED_TOOLS]],
  'an open model on Vertex AI': [
    at(vertex, () => 'deepseek-ai/deepseek-v3.1-maas'),
    ['top_k', 'reasoning_content', ...NAMED_TOOLS],
  ],
  'Gemini as an open model on Vertex AI': [
    at(vertex, () => 'google/gemini-2.5-flash'),
    ['extra_content', ...NAMED_TOOLS],
  ],
  'Mistral on Vertex AI': [at(vertex, () => 'mistralai.mistral-medium-3'), NAMED_TOOLS],
  'an endpoint on Vertex AI with a list': [
    at(
      vertexAi.create(
        {
          slug: 'v',
          provider: 'vertex-ai',
          region: 'us-central1',
          project_id: 'project',
          endpoints: { mine: { id: '42', extensions: ['top_k'] } },
        },
        setup,
      ),
      () => 'endpoints.mine',
    ),
    ['top_k'],
  ],
  'an endpoint on Vertex AI': [at(vertex, () => 'endpoints.1234567890'), CHAT_EXTENSIONS],
};

const user = (content: unknown) => ({ role: 'user', content });
const said = (fields: object) => ({ role: 'assistant', content: 'a', ...fields });
const fn = { type: 'function', function: { name: 'f' } };
const called = (call: object, more: object = {}) =>
  said({ tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}', ...more }, ...call }] });
const messages = (...list: readonly object[]): Json => ({ messages: list });
const marker = { type: 'ephemeral' };

interface Sample {
  readonly body: Json;
  /** The place of the loss. */
  readonly param: string;
  /** What reaches OpenAI in its place. */
  readonly instead?: Json;
  /** The target refuses the request instead. */
  readonly refused?: true;
}

/** Requests with one extension each. */
const SAMPLES: Readonly<Record<(typeof CHAT_EXTENSIONS)[number], readonly Sample[]>> = {
  thinking: [{ body: { thinking: { type: 'enabled', budget_tokens: 100 } }, param: 'thinking' }],
  top_k: [{ body: { top_k: 40 }, param: 'top_k' }],
  labels: [{ body: { labels: { team: 'a' } }, param: 'labels' }],
  safety_settings: [{ body: { safety_settings: [{ category: 'x' }] }, param: 'safety_settings' }],
  image_config: [{ body: { image_config: { aspect_ratio: '1:1' } }, param: 'image_config' }],
  anthropic_beta: [{ body: { anthropic_beta: ['b'] }, param: 'anthropic_beta' }],
  anthropic_version: [{ body: { anthropic_version: 'v' }, param: 'anthropic_version' }],
  content_blocks: [
    {
      body: messages(said({ content_blocks: [{ type: 'thinking', thinking: 't' }] })),
      param: 'messages[0].content_blocks',
    },
    {
      body: messages({ role: 'assistant', content_blocks: [{ type: 'text', text: 'b' }] }),
      param: 'messages[0].content_blocks',
      instead: messages({ role: 'assistant', content: 'b' }),
    },
    {
      body: messages(said({ content: [{ type: 'thinking', thinking: 't', signature: 's' }] })),
      param: 'messages[0].content[0]',
      instead: messages(said({ content: '' })),
    },
    {
      body: messages(said({ content: [{ type: 'text', text: 'a', citations: [] }] })),
      param: 'messages[0].content[0].citations',
      instead: messages(said({ content: [{ type: 'text', text: 'a' }] })),
    },
  ],
  content_parts: [{ body: messages(said({ content_parts: [] })), param: 'messages[0].content_parts' }],
  reasoning_content: [{ body: messages(said({ reasoning_content: 't' })), param: 'messages[0].reasoning_content' }],
  signature: [
    {
      body: messages(user([{ type: 'text', text: 'a', signature: 's' }])),
      param: 'messages[0].content[0].signature',
      instead: messages(user([{ type: 'text', text: 'a' }])),
    },
  ],
  thought_signature: [
    {
      body: messages(called({}, { thought_signature: 's' })),
      param: 'messages[0].tool_calls[0].function.thought_signature',
      instead: messages(called({})),
    },
    {
      body: messages(called({ thought_signature: 's' })),
      param: 'messages[0].tool_calls[0].thought_signature',
      instead: messages(called({})),
    },
  ],
  extra_content: [
    {
      body: messages(called({ extra_content: { google: { thought_signature: 's' } } })),
      param: 'messages[0].tool_calls[0].extra_content',
      instead: messages(called({})),
    },
  ],
  cache_control: [
    { body: messages(said({ cache_control: marker })), param: 'messages[0].cache_control' },
    {
      body: messages(called({ cache_control: marker })),
      param: 'messages[0].tool_calls[0].cache_control',
      instead: messages(called({})),
    },
    {
      body: messages(said({ content: [{ type: 'text', text: 'a', cache_control: marker }] })),
      param: 'messages[0].content[0].cache_control',
      instead: messages(said({ content: [{ type: 'text', text: 'a' }] })),
    },
    {
      body: { tools: [{ ...fn, cache_control: marker }] },
      param: 'tools[0].cache_control',
      instead: { tools: [fn] },
    },
    {
      body: { tools: [{ ...fn, function: { name: 'f', cache_control: marker } }] },
      param: 'tools[0].function.cache_control',
      instead: { tools: [fn] },
    },
    {
      body: { functions: [{ name: 'f', cache_control: marker }] },
      param: 'functions[0].cache_control',
      instead: { functions: [{ name: 'f' }] },
    },
  ],
  mime_type: [
    {
      body: messages(user([{ type: 'image_url', image_url: { url: 'https://a.example/b', mime_type: 'image/png' } }])),
      param: 'messages[0].content[0].image_url.mime_type',
      instead: messages(user([{ type: 'image_url', image_url: { url: 'https://a.example/b' } }])),
    },
    {
      body: messages(user([{ type: 'file', file: { file_data: 'YQ==', format: 'application/pdf' } }])),
      param: 'messages[0].content[0].file.format',
      instead: messages(user([{ type: 'file', file: { file_data: 'YQ==' } }])),
    },
  ],
  file_url: [
    {
      body: messages(user([{ type: 'file', file: { file_url: 'https://a.example/b.pdf' } }])),
      param: 'messages[0].content[0].file.file_url',
      refused: true,
    },
  ],
  video_url: [
    {
      body: messages(user([{ type: 'video_url', video_url: { url: 'https://a.example/b.mp4' } }])),
      param: 'messages[0].content[0]',
      refused: true,
    },
  ],
  audio_url: [
    {
      body: messages(user([{ type: 'audio_url', audio_url: { url: 'https://a.example/b.mp3' } }])),
      param: 'messages[0].content[0]',
      refused: true,
    },
  ],
  web_search: [
    {
      body: { tools: [fn, { type: 'function', function: { name: 'web_search' } }] },
      param: 'tools[1]',
      instead: { tools: [fn] },
    },
  ],
  computer_use: [
    {
      body: {
        tools: [{ type: 'function', function: { name: 'computer_use', parameters: { environment: 'BROWSER' } } }],
      },
      param: 'tools[0]',
      refused: true,
    },
  ],
  provider_tools: [
    { body: { tools: [fn, { type: 'url_context' }] }, param: 'tools[1]', instead: { tools: [fn] } },
    {
      body: { tools: [fn, { type: 'web_search_20250305', name: 'web_search' }] },
      param: 'tools[1]',
      instead: { tools: [fn] },
    },
  ],
};

const MODEL = 'gpt-4.1';
const whole = (body: Json): Json => ({ model: `@own/${MODEL}`, messages: [user('hi')], max_tokens: 9, ...body });

const losses = (sent: Sent) => sent.losses.map(({ action, param }) => `${action} ${param}`);

/** The body without the model, which is not the same everywhere. */
function fieldsOf({ body }: Sent): Json {
  const { model: _, ...fields } = body;
  return fields;
}

/** The sample without the top-level or message field of its loss. */
function bare(sample: Sample): Json {
  if (sample.instead) return whole(sample.instead);
  const [first = '', name] = sample.param.split('.');
  const { [first]: _, ...others } = sample.body;
  if (name === undefined) return whole(others);
  const [message] = sample.body.messages as readonly Json[];
  return whole(messages(Object.fromEntries(Object.entries(message!).filter(([key]) => key !== name))));
}

const samples = CHAT_EXTENSIONS.flatMap((name) => SAMPLES[name].map((sample) => [name, sample] as const));

/** It has efforts, which the other models do not. */
const WITH_EFFORTS = 'Gemini as an open model on Vertex AI';
const WITH_LABEL_HEADER = ['Llama on Vertex AI', 'an open model on Vertex AI', WITH_EFFORTS, 'Mistral on Vertex AI'];

describe.each(Object.entries(PROVIDERS))('%s', (provider, [resolve, taken]) => {
  // Partner models on Vertex AI get labels in a header (docs/protocols/vertex-ai.md#labels).
  const inHeader = WITH_LABEL_HEADER.includes(provider);
  const sent = samples.filter(
    ([name]) => (name !== 'thinking' || provider !== WITH_EFFORTS) && (name !== 'labels' || !inHeader),
  );
  it.each(sent)('gets %s only if it takes it: %j', async (name, sample) => {
    const sent = await sendTo(resolve, whole(sample.body));
    if (!taken.includes(name) && sample.refused) {
      expect(sent).toEqual({ refused: { code: 'unsupported_parameter', param: sample.param } });
      return;
    }
    if (isRefused(sent)) throw new Error(JSON.stringify(sent));
    const { model: _, ...expected } = taken.includes(name) ? whole(sample.body) : bare(sample);
    expect(fieldsOf(sent)).toEqual(expected);
    expect(losses(sent)).toEqual(taken.includes(name) ? [] : [`dropped ${sample.param}`]);
  });

  it('keeps fields that the gateway does not know', async () => {
    const fields = { min_p: 0.1, messages: [{ role: 'user', content: 'hi', weight: 0 }] };
    const sent = await sendTo(resolve, whole(fields));
    expect(sent).toMatchObject({ body: fields, losses: [] });
  });
});

const sentToOpenAi = async (body: Json, model = MODEL): Promise<Sent> => {
  const sent = await sendTo(ofOpenAi, { ...whole(body), model: `@own/${model}` });
  if (isRefused(sent)) throw new Error(JSON.stringify(sent));
  return sent;
};

describe('thinking at OpenAI', () => {
  const budget = (tokens: number) => ({ type: 'enabled', budget_tokens: tokens });
  it.each([
    ['gpt-5', budget(100), 'low', 'downgraded'],
    ['gpt-5-mini-2025-08-07', budget(1025), 'medium', 'downgraded'],
    ['o3', budget(50_000), 'high', 'downgraded'],
    ['ft:o4-mini-2025-04-16:org', { type: 'adaptive' }, 'high', 'downgraded'],
    ['prod-gpt-5.1', { type: 'disabled' }, 'none', undefined],
    ['gpt-5.1', budget(0), 'none', 'downgraded'],
    ['gpt-5.1-codex', { type: 'disabled' }, undefined, 'dropped'],
    ['o3', { type: 'disabled' }, undefined, 'dropped'],
    ['gpt-4o', budget(100), undefined, 'dropped'],
    ['gpt-4o', { type: 'disabled' }, undefined, undefined],
    ['gpt-35-turbo', budget(100), undefined, 'dropped'],
    ['gpt-5-chat-latest', budget(100), undefined, 'dropped'],
    ['gpt-5-search-api', budget(100), undefined, 'dropped'],
    ['gpt-5.1-chat-latest', budget(100), undefined, 'dropped'],
    ['o1-mini', budget(100), undefined, 'dropped'],
    ['my-deployment', budget(100), undefined, 'dropped'],
    ['google/gemini-2.5-flash', budget(100), 'low', 'downgraded'],
    ['mistral-small-2603', budget(100), 'high', 'downgraded'],
    ['mistral-medium-3-5', { type: 'disabled' }, 'none', undefined],
    ['meta/llama-4-maverick', { type: 'disabled' }, undefined, undefined],
  ])('is for %s, %j, the effort %s', async (model, thinking, effort, action) => {
    const sent = await sentToOpenAi({ thinking }, model);
    expect(sent.body).not.toHaveProperty('thinking');
    expect(sent.body.reasoning_effort).toBe(effort);
    expect(losses(sent)).toEqual(action === undefined ? [] : [`${action} thinking`]);
  });

  it('never replaces the effort of the caller', async () => {
    const sent = await sentToOpenAi({ thinking: budget(100), reasoning_effort: 'high' }, 'gpt-5');
    expect(sent.body.reasoning_effort).toBe('high');
    expect(losses(sent)).toEqual(['dropped thinking']);
  });

  it('has no cache marker at its top level', async () => {
    const sent = await sentToOpenAi({ cache_control: { type: 'ephemeral' } }, 'gpt-5');
    expect(sent.body).not.toHaveProperty('cache_control');
    expect(sent.losses.map(({ param }) => param)).toEqual(['cache_control']);
  });

  it('is no loss when it is null', async () => {
    const sent = await sentToOpenAi({ thinking: null, top_k: null }, 'gpt-5');
    expect(Object.keys(sent.body)).not.toEqual(expect.arrayContaining(['thinking', 'top_k', 'reasoning_effort']));
    expect(losses(sent)).toEqual([]);
  });
});

describe('cache markers of a user message at OpenAI', () => {
  const cached = { type: 'text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } };
  it.each([
    [[{ type: 'text', text: 'a', cache_control: marker }], {}, []],
    ['a', { cache_control: marker }, []],
    [
      [{ type: 'text', text: 'a', cache_control: { ...marker, ttl: '1h' } }],
      {},
      ['downgraded messages[0].content[0].cache_control.ttl'],
    ],
  ])('become its own markers: %j %j', async (content, fields, expected) => {
    const sent = await sentToOpenAi(messages({ ...user(content), ...fields }));
    expect(sent.body.messages).toEqual([user([cached])]);
    expect(losses(sent)).toEqual(expected);
  });

  it('are lost on Vertex AI', async () => {
    const sent = await sendTo(
      PROVIDERS['Llama on Vertex AI']![0],
      whole(messages({ ...user('a'), cache_control: marker })),
    );
    expect(sent).toMatchObject({ body: messages(user('a')), losses: [{ param: 'messages[0].cache_control' }] });
  });
});

it('an ordinary body keeps its bytes at OpenAI', async () => {
  const words = 'the words "cache_control", "signature" and "thinking" in a text';
  const body = { ...whole(messages(user(words))), model: MODEL };
  const sent = await sendTo(ofOpenAi, body);
  expect(sent).toMatchObject({ bytes: JSON.stringify(body), losses: [] });
});

it('requests of any extensions together reach OpenAI without one, or are refused', async () => {
  const picked = fc.subarray(samples, { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(picked, async (chosen) => {
      const all = chosen.map(([, { body }]) => body);
      const list = (name: string) => all.flatMap((body) => (body[name] as readonly object[] | undefined) ?? []);
      const lists = Object.fromEntries(
        ['messages', 'tools', 'functions']
          .map((name) => [name, list(name)] as const)
          .filter(([, { length }]) => length > 0),
      );
      const sent = await sendTo(ofOpenAi, whole({ ...Object.assign({}, ...all), ...lists }));
      const refused = chosen.some(([, sample]) => sample.refused);
      expect(isRefused(sent)).toBe(refused);
      if (isRefused(sent)) return;
      expect(undocumentedField(sent.body)).toBeUndefined();
      expect(sent.losses.length).toBeGreaterThan(0);
    }),
  );
});

const bodies = fc.record({
  messages: fc.jsonValue(),
  tools: fc.jsonValue(),
  thinking: fc.jsonValue(),
  mark: fc.constantFrom('cache_control', 'content_blocks', 'x'),
});
it('bodies of any shape are refused or sent, and never fail', async () => {
  await fc.assert(
    fc.asyncProperty(bodies, async ({ mark, ...body }) => {
      const sent = await sendTo(
        ofOpenAi,
        whole({ ...body, messages: [{ [mark]: 1 }, { role: 'user', content: [body.messages] }] }),
      );
      expect(isRefused(sent) || isObject(sent.body)).toBe(true);
    }),
  );
});

// ---------------------------------------------------------------- the tables

const schemaOf = (name: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, `../../schemas/${name}.json`), 'utf8')) as {
    properties: Record<string, { description?: string; $ref?: string }>;
    definitions: Record<
      string,
      { properties?: Record<string, { description?: string; $ref?: string }>; items?: { enum: string[] } }
    >;
  };

describe('the tables of extensions', () => {
  it('have every extension of the schema of chat requests', () => {
    const { properties, definitions } = schemaOf('chat-completions');
    const all = [properties, ...Object.values(definitions).map((one) => one.properties ?? {})];
    const extensions = all.flatMap((fields) =>
      Object.entries(fields)
        .filter(
          ([, { description, $ref }]) => description?.startsWith('Extension') || $ref === '#/definitions/cacheControl',
        )
        .map(([field]) => field),
    );
    expect(extensions.length).toBeGreaterThan(10);
    expect(extensions.filter((field) => !(CHAT_EXTENSIONS as readonly string[]).includes(field))).toEqual([]);
  });

  it('are what `extensions` of a catalog entry may name', () => {
    const names = new Set([...CHAT_EXTENSIONS, ...EMBEDDING_EXTENSIONS, ...IMAGE_EXTENSIONS]);
    expect(schemaOf('catalog').definitions.extensions!.items!.enum.toSorted()).toEqual([...names].toSorted());
  });

  it('have every field of embeddings and images that OpenAI does not document', () => {
    const documented = new Set(
      `model input dimensions encoding_format user prompt n size quality style response_format output_format
       output_compression background moderation stream partial_images models fallbacks context_window_fallbacks
       content_policy_fallbacks`.split(/\s+/),
    );
    const own = (read: readonly string[]) =>
      read.filter((field) => !documented.has(field) && !/[A-Z]/.test(field)).toSorted();
    expect(own(embeddingsFields.read)).toEqual(EMBEDDING_EXTENSIONS.toSorted());
    expect(own(imagesFields.read)).toEqual(IMAGE_EXTENSIONS.toSorted());
  });
});
