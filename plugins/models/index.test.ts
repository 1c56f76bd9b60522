import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ListedModel, ModelDirectory, Operation } from '../../src/plugin/index.ts';
import { createContext, createExchange, runPlugin } from '../../src/plugin/testing/index.ts';
import { readPage, toAnthropicPage } from './anthropic.ts';
import models from './index.ts';

const tasks = ['generate'] as const;
const model = (id: string): ListedModel => ({ id: `@sim/${id}`, name: id, provider: 'simulator', tasks });
const LIST = ['a', 'b', 'c'].map(model);

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

describe('pages', () => {
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
