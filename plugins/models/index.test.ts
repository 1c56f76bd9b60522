import type { ModelCapabilities } from '@anthropic-ai/sdk/resources/models';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareModelIds, type ListedModel, type ModelDirectory, type Operation } from '../../src/core/kernel/index.ts';
import { createContext, createExchange, runPlugin } from '../../src/plugin/testing/index.ts';
import { readPage, toAnthropicModel, toAnthropicPage } from './anthropic.ts';
import { toCodexList, toOpenAiModel } from './openai.ts';
import { readWindow, toGeminiModel, toGeminiPage } from './gemini.ts';
import models from './index.ts';

const tasks = ['generate'] as const;
const model = (id: string): ListedModel => ({ id: `@sim/${id}`, name: id, provider: 'openai', tasks });
const LIST = ['a', 'b', 'c'].map(model);

interface GeminiPage {
  readonly models: readonly { readonly baseModelId: string }[];
  readonly nextPageToken?: string;
}

interface Asking {
  readonly id: string;
  readonly format?: string;
  readonly query?: string;
  readonly name?: string;
}

/** The plugin reads only the id of an operation, and the name and content type of its format. */
async function ask({ id, format = 'openai-chat', query = '', name }: Asking) {
  const operation = { id, format: { name: format, contentType: { body: 'application/json' } } } as Operation;
  const exchange = createExchange({ operation, params: name === undefined ? {} : { id: name } });
  const context = createContext(exchange);
  context.req.url = `/v1/models?${query}`;
  const directory: ModelDirectory = { list: () => LIST, find: (_, asked) => LIST.find((each) => each.id === asked) };
  const { nextCalls } = await runPlugin(models, { context, needs: { models: directory } });
  const body: unknown = Buffer.isBuffer(exchange.reply?.body) ? JSON.parse(exchange.reply.body.toString()) : undefined;
  return { nextCalls, body, reply: exchange.reply };
}

describe('models', () => {
  it('passes other operations on', async () => {
    expect(await ask({ id: 'chat.completions' })).toMatchObject({ nextCalls: 1, reply: undefined });
  });

  it('answers itself, in the shape of the client’s API', async () => {
    const openai = await ask({ id: 'models.list' });
    expect(openai.nextCalls).toBe(0);
    expect(openai.reply).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' }, stream: false });
    expect(openai.body).toMatchObject({ object: 'list', data: [{ id: '@sim/a', object: 'model' }, {}, {}] });
    const native = await ask({ id: 'models.list', format: 'anthropic-messages', query: 'limit=2&beta=true' });
    expect(native.body).toMatchObject({ has_more: true, first_id: '@sim/a', last_id: '@sim/b' });
  });

  it('answers for one model, or with the same error for every unavailable one', async () => {
    expect((await ask({ id: 'models.retrieve', name: '@sim/b' })).body).toMatchObject({ id: '@sim/b' });
    await expect(ask({ id: 'models.retrieve', name: '@sim/z' })).rejects.toMatchObject({ code: 'model_not_found' });
    await expect(ask({ id: 'models.retrieve' })).rejects.toMatchObject({ code: 'model_not_found' });
  });
});

describe('a model', () => {
  const unknown = model('m');
  const known: ListedModel = {
    ...unknown,
    context: 400_000,
    maxInput: 272_000,
    maxOutput: 128_000,
    efforts: ['high', 'low', 'max'],
    thinking: ['adaptive'],
    capabilities: ['pdf', 'reasoning', 'search', 'tools', 'vision'],
  };

  it('has the facts that are known, in OpenAI’s list', () => {
    expect(toOpenAiModel(known)).toMatchObject({
      context_window: 400_000,
      max_input_tokens: 272_000,
      max_output_tokens: 128_000,
      supported_reasoning_efforts: known.efforts,
      capabilities: known.capabilities,
    });
    expect(Object.keys(toOpenAiModel(unknown))).toEqual(['id', 'object', 'created', 'owned_by']);
  });

  it('has every key of Anthropic’s API, and null for what is unknown', () => {
    const yes = { supported: true };
    const no = { supported: false };
    // The keys of these types may not be optional: a key of the API that is missing here does not compile.
    const expected: ModelCapabilities = {
      batch: no,
      citations: no,
      code_execution: no,
      context_management: {
        ...no,
        clear_thinking_20251015: null,
        clear_tool_uses_20250919: null,
        compact_20260112: null,
      },
      effort: { ...yes, low: yes, medium: no, high: yes, xhigh: no, max: yes },
      image_input: yes,
      pdf_input: yes,
      server_tools: { ...yes, code_execution: no, web_search: yes },
      structured_outputs: no,
      thinking: { ...yes, types: { adaptive: yes, between_tools: no, disabled: no, enabled: no } },
    };
    expect(toAnthropicModel(known)).toMatchObject({ max_input_tokens: 272_000, max_tokens: 128_000 });
    expect(toAnthropicModel(known)).toHaveProperty('capabilities', expected);
    expect(toAnthropicModel(unknown)).toMatchObject({ max_input_tokens: null, max_tokens: null, capabilities: null });
  });

  it('has the limits by which Codex compacts, and every field that Codex requires', () => {
    const [full, bare] = Object(toCodexList([known, unknown])).models as Record<string, unknown>[];
    expect(full).toMatchObject({
      context_window: 272_000,
      supports_parallel_tool_calls: true,
      input_modalities: ['text', 'image'],
      supported_reasoning_levels: [{ effort: 'high' }, { effort: 'low' }, { effort: 'max' }],
    });
    // The fields of `ModelInfo` without `Option` and without `serde(default)`.
    const required =
      'slug display_name supported_reasoning_levels shell_type visibility supported_in_api priority base_instructions supports_reasoning_summaries support_verbosity truncation_policy supports_parallel_tool_calls experimental_supported_tools';
    for (const field of required.split(' ')) {
      expect(full).toHaveProperty(field);
      expect(bare).toHaveProperty(field);
    }
    // A custom tool, which not every upstream takes.
    expect(full).not.toHaveProperty('apply_patch_tool_type');
    expect(bare).not.toHaveProperty('context_window');
    expect(bare).not.toHaveProperty('input_modalities');
  });

  it('has efforts for Codex if it thinks by budget alone', () => {
    const levels = (thinking: readonly string[]): unknown =>
      Object(toCodexList([{ ...unknown, thinking }])).models[0].supported_reasoning_levels;
    expect(levels(['enabled', 'disabled'])).toMatchObject([
      { effort: 'medium' },
      { effort: 'low' },
      { effort: 'high' },
    ]);
    expect(levels(['adaptive', 'enabled'])).toEqual([]);
  });

  it('has Google’s names for limits, methods and thinking', () => {
    expect(toGeminiModel({ ...known, tasks: ['generate', 'count_tokens'] })).toMatchObject({
      name: 'models/@sim/m',
      inputTokenLimit: 272_000,
      outputTokenLimit: 128_000,
      thinking: true,
      supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
    });
    for (const key of ['inputTokenLimit', 'outputTokenLimit', 'thinking'])
      expect(toGeminiModel(unknown)).not.toHaveProperty(key);
  });
});

describe('pages', () => {
  it('of Google’s API joined are the whole list, with names of aliases in front of those with a slug', () => {
    const all = ['@a/z', '@b/a', 'Zeta', 'alias', 'z'].map((id) => ({ ...model(id), id }));
    const list = all.toSorted((one, other) => compareModelIds(one.id, other.id));
    const seen: unknown[] = [];
    for (let token = ''; ;) {
      const page = toGeminiPage(list, readWindow(`pageSize=2&pageToken=${token}`)) as GeminiPage;
      seen.push(...page.models.map(({ baseModelId }) => baseModelId));
      if (page.nextPageToken === undefined) break;
      token = page.nextPageToken;
    }
    expect(seen).toEqual(list.map(({ id }) => id));
  });

  const ids = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 4 }), { maxLength: 30 });
  const listOf = (names: readonly string[]) => names.map(model).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const cut = (list: readonly ListedModel[], query: Record<string, string>) =>
    toAnthropicPage(list, readPage(new URLSearchParams(query).toString())) as {
      data: readonly ListedModel[];
      has_more: boolean;
      first_id: string | null;
      last_id: string | null;
    };

  it('joined are the whole list, from either end', () => {
    fc.assert(
      fc.property(
        ids,
        fc.integer({ min: 1, max: 9 }),
        fc.constantFrom('after_id', 'before_id'),
        (names, limit, cursor) => {
          const list = listOf(names);
          const seen: string[] = [];
          let at: string | null = null;
          for (;;) {
            const page = cut(list, { limit: String(limit), ...(at !== null && { [cursor]: at }) });
            const found = page.data.map(({ id }) => id);
            if (cursor === 'after_id') seen.push(...found);
            else if (at === null) {
              // Backwards paging begins at the end, which a first page does not know.
              at = '@\u{10ffff}';
              continue;
            } else seen.unshift(...found);
            if (!page.has_more) break;
            at = cursor === 'after_id' ? page.last_id : page.first_id;
          }
          expect(seen).toEqual(list.map(({ id }) => id));
        },
      ),
    );
  });

  it('continue after a model that no longer exists', () => {
    expect(cut(listOf(['a', 'c']), { after_id: '@sim/b' }).data.map(({ id }) => id)).toEqual(['@sim/c']);
  });

  it('have 20 models by default', () => {
    expect(readPage('')).toEqual({ limit: 20, after: undefined, before: undefined, lifecycle: undefined });
  });
});
