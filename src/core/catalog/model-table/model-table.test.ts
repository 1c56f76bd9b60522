import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { generateModelTable, TABLE_OUTPUT, TABLE_SOURCE } from '../../../../schemas/model-table.ts';
import { knownModel, modelLimits } from './model-table.ts';

describe('the limits of a model', () => {
  it.each([
    ['anthropic', 'claude-sonnet-4-5', 64_000],
    ['anthropic', 'claude-sonnet-4-5-20250929', 64_000],
    ['anthropic', 'claude-sonnet-4-5-20291231', 64_000],
    ['anthropic', 'claude-opus-5-latest', 128_000],
    ['vertex-ai', 'claude-sonnet-4-5@20250929', 64_000],
    ['vertex-ai', 'claude-opus-5@default', 128_000],
    ['vertex-ai', 'gemini-2.5-pro', 65_535],
    ['google-ai-studio', 'gemini-2.5-pro', 65_535],
    ['openai', 'gpt-5.5', 128_000],
    ['openai', 'gpt-5.5-2029-12-31', 128_000],
    ['azure-openai', 'gpt-5.5', 128_000],
  ])('of %s are known for %s', (provider, model, output) => {
    expect(modelLimits(provider, model)?.output).toBe(output);
  });

  it.each([
    ['anthropic', 'claude-99'],
    ['anthropic', ''],
    ['openai', 'claude-sonnet-4-5'],
    ['google-ai-studio', 'meta/llama-3.3-70b-instruct-maas'],
    ['anthropic', '__proto__'],
    ['anthropic', 'constructor'],
  ])('of %s are unknown for %j', (provider, model) => {
    expect(modelLimits(provider, model)).toBeUndefined();
  });

  it('name the largest input, which some models have below their context window', () => {
    expect(knownModel('openai', 'gpt-5')).toMatchObject({ context: 400_000, maxInput: 272_000, maxOutput: 128_000 });
    expect(knownModel('vertex-ai', 'claude-opus-5')).toMatchObject({ context: 1_000_000, maxInput: 1_000_000 });
  });
});

describe('the retirement of a model', () => {
  it('is known by provider, for its other names too', () => {
    expect(knownModel('vertex-ai', 'gemini-2.5-flash')?.retires).toEqual({
      day: '2026-10-20',
      successor: 'gemini-3.8-flash',
    });
    expect(knownModel('google-ai-studio', 'gemini-2.5-flash')?.retires?.day).toBe('2026-12-01');
    expect(knownModel('google-ai-studio', 'gemini-2.5-flash-lite')).toMatchObject({ retires: undefined });
    expect(knownModel('anthropic', 'claude-opus-4-5-20251101')?.retires?.successor).toBe('claude-opus-5-5');
    expect(knownModel('azure-openai', 'gpt-5')?.retires).toEqual({ day: '2027-02-09', successor: undefined });
  });
});

interface Priced {
  readonly id: string;
  readonly on: readonly string[];
  readonly aka?: readonly string[];
  readonly ctx?: number;
  readonly max_in?: number;
  readonly p: readonly { readonly from?: string; readonly in?: number; readonly long?: { readonly over: number } }[];
  readonly src: string;
  readonly unpriced?: true;
  readonly retires?: readonly {
    readonly on?: readonly string[];
    readonly day: string;
    readonly successor?: string;
    readonly src: string;
  }[];
}

describe('data/models.json', () => {
  const read = async () =>
    JSON.parse(await readFile(TABLE_SOURCE, 'utf8')) as {
      readonly sources: Readonly<Record<string, { readonly licence?: string }>>;
      readonly models: readonly Priced[];
    };

  it('fits its schema', async () => {
    const schema = JSON.parse(await readFile(join(TABLE_SOURCE, '../models.schema.json'), 'utf8')) as object;
    const validate = new Ajv({ strict: true, allErrors: true, allowUnionTypes: true }).compile(schema);
    expect([validate(await read()), validate.errors]).toEqual([true, null]);
  });

  it('names each model of a provider once', async () => {
    const { models } = await read();
    const names = models.flatMap(({ id, on, aka = [] }) =>
      on.flatMap((provider) => [id, ...aka].map((name) => `${provider}/${name}`)),
    );
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });

  it('has prices in the order of their days, and marks the models that have none', async () => {
    for (const { id, p, unpriced = false, ctx = Infinity, max_in: input = 0 } of (await read()).models) {
      const days = p.map(({ from = '' }) => from);
      expect(days, id).toEqual([...new Set(days)].toSorted());
      expect(p.length === 0, id).toBe(unpriced);
      expect(input, id).toBeLessThanOrEqual(ctx);
    }
  });

  it('has a source for each row, and NOTICE names each source with a licence', async () => {
    const { sources, models } = await read();
    for (const { id, src } of models)
      expect(
        [...src].every((letter) => letter in sources),
        id,
      ).toBe(true);
    const notice = await readFile(join(TABLE_SOURCE, '../../NOTICE'), 'utf8');
    for (const name of ['@earendil-works/pi-ai', '@pydantic/genai-prices', 'BerriAI/litellm', 'anomalyco/models.dev'])
      expect(notice).toContain(name);
    expect(Object.values(sources).filter(({ licence }) => licence !== undefined)).toHaveLength(4);
  });

  it('has a source for each day of retirement, one day for each provider of the row, and successors that stay longer', async () => {
    const { sources, models } = await read();
    const days = new Map<string, string | undefined>(
      models.flatMap(({ id, on, retires = [] }) =>
        on.map(
          (provider) => [`${provider}/${id}`, retires.find(({ on: at = on }) => at.includes(provider))?.day] as const,
        ),
      ),
    );
    for (const { id, on, retires = [] } of models) {
      const ended = retires.flatMap(({ on: at = on }) => at);
      expect(
        [...new Set(ended)].filter((provider) => on.includes(provider)),
        id,
      ).toEqual(ended);
      for (const { on: at = on, day, successor, src } of retires) {
        expect(
          [...src].filter((letter) => !(letter in sources)),
          id,
        ).toEqual([]);
        if (successor === undefined) continue;
        const places = at.map((provider) => `${provider}/${successor}`);
        expect(
          places.filter((place) => !days.has(place) || (days.get(place) ?? '9') <= day),
          id,
        ).toEqual([]);
      }
    }
  });

  it('is what the generated table was made from', async () => {
    expect(generateModelTable()).toBe(await readFile(TABLE_OUTPUT, 'utf8'));
  });
});
