import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { generatePriceTable, PRICES_OUTPUT } from '../../../../schemas/price-table.ts';
import type { Usage } from '../../../formats/events.ts';
import { costOf } from './cost.ts';
import { matches } from '../../../core/catalog/globs.ts';
import { fractionOf, nanoOf, ONE, picoOf, usdText } from '../../../core/ports/money.ts';
import { PriceList } from './price-list.ts';
import { ratesOf, type PricedPlace, type PriceOverride } from './rates.ts';

const used = (usage: Partial<Usage>): Usage => ({ input: 0, output: 0, total: 0, ...usage });
const at = (place: Partial<PricedPlace>): PricedPlace => ({
  entry: 'one',
  provider: 'openai',
  model: 'gpt-5',
  region: undefined,
  geo: undefined,
  day: '2026-11-23',
  ...place,
});
const cost = (usage: Partial<Usage>, place: Partial<PricedPlace>, overrides: readonly PriceOverride[] = []) =>
  new PriceList(overrides).cost(used(usage), at(place));
const M = 1_000_000;
const USD = 1_000_000_000;

const HAIKU = { provider: 'anthropic', model: 'claude-haiku-5-5' };
const FLASH = { provider: 'google-ai-studio', model: 'gemini-3.8-flash' };
const PRO = { provider: 'google-ai-studio', model: 'gemini-2.5-pro' };
const SOL = { model: 'gpt-5.6-sol' };
const OPUS = { provider: 'vertex-ai', model: 'claude-opus-5', region: 'europe-west1', geo: 'regional' };

describe('the cost of a request', () => {
  it.each<[string, Partial<Usage>, Partial<PricedPlace>, number]>([
    ['a long prompt, cache reads included', { input: 120_000, cacheRead: 100_000, output: 1000 }, HAIKU, 0.0175],
    ['a prompt of exactly the bound', { input: 100_000, cacheRead: 80_000, output: 1000 }, HAIKU, 0.0033],
    ['a long prompt of Gemini', { input: 250_000, cacheRead: 200_000, output: 2000 }, PRO, 0.205],
    ['a prompt of exactly the bound of Gemini', { input: 200_000 }, PRO, 0.25],
    ['a prompt of one token more', { input: 200_001 }, PRO, 0.500_002_5],
    ['the last day of a price', { input: M, output: M }, { ...FLASH, day: '2026-12-31' }, 4.5],
    ['the first day of the next one', { input: M, output: M }, { ...FLASH, day: '2027-01-01' }, 9],
    ['a regional endpoint', { input: M }, OPUS, 5.5],
    ['the global endpoint', { input: M }, { ...OPUS, region: 'global', geo: undefined }, 5],
    ['both kinds of cache writes', { input: 2 * M, cacheWrite: 2 * M, cacheWrite1h: M }, { ...OPUS, geo: '' }, 16.25],
    ['a tier that is a factor', { input: M, tier: 'flex' }, FLASH, 0.375],
    ['a tier with prices of its own', { input: 100_000, tier: 'flex' }, { model: 'gpt-5.4' }, 0.125],
    ['a tier and a region', { input: 200_000, tier: 'priority' }, { ...SOL, geo: 'eu' }, 1.76],
    ['a tier by a rule of the table', { input: M, tier: 'batch' }, { ...HAIKU, model: 'claude-opus-4-1' }, 7.5],
    ['fast answers', { input: M, fast: true }, { provider: 'anthropic', model: 'claude-opus-5' }, 10],
    ['searches, which no tier changes', { searches: 3, tier: 'flex' }, FLASH, 0.042],
    ['sound', { input: M, inputAudio: M }, { provider: 'google-ai-studio', model: 'gemini-2.5-flash' }, 1],
    [
      'cached sound',
      { input: M, inputAudio: M, cacheRead: M, cacheReadAudio: M },
      { provider: 'google-ai-studio', model: 'gemini-2.5-flash' },
      0.1,
    ],
    [
      'pictures by tokens',
      { input: M, inputImage: M, output: M, outputImage: M, images: 4 },
      { model: 'gpt-image-2' },
      38,
    ],
    [
      'a search of Gemini 2, which a request pays once',
      { searches: 4 },
      { ...FLASH, model: 'gemini-2.5-flash' },
      0.035,
    ],
    ['a model that always searches', { input: M }, { model: 'gpt-4o-mini-search-preview' }, 0.1775],
    ['searches in files', { fileSearches: 2 }, { model: 'gpt-5' }, 0.005],
    ['containers for code', { containers: 2 }, { model: 'gpt-5' }, 0.06],
    [
      'a tier with prices of its own and a long prompt, at the higher ones',
      { input: 300_000, output: 1000, tier: 'flex' },
      { model: 'gpt-5.4' },
      1.5225,
    ],
    [
      'pictures of a model with both prices, by tokens',
      { input: 100, output: 1290, outputImage: 1290, images: 1 },
      { ...FLASH, model: 'gemini-2.5-flash-image' },
      0.03873,
    ],
    [
      'pictures of a model with both prices that counts no tokens of them, by number',
      { images: 2 },
      { ...FLASH, model: 'gemini-2.5-flash-image' },
      0.078,
    ],
    ['seconds of sound', { seconds: 12.345 }, { model: 'whisper-1' }, 0.0012345],
    ['a price before its promise', { input: M, output: M }, { ...SOL, day: '2026-08-20' }, 55],
    ['counts that are no counts', { input: -5, output: 10, cacheRead: Infinity }, { model: 'gpt-5' }, 125_000.0001],
    ['pictures by number', { images: 3 }, { provider: 'vertex-ai', model: 'imagen-4.0-generate-001' }, 0.12],
    ['a version that the table does not list', { input: M }, { model: 'gpt-5-2031-01-01' }, 1.25],
  ])('is exact for %s', (_, usage, place, usd) => {
    expect(cost(usage, place)).toBe(Math.round(usd * USD));
  });

  it.each<[string, Partial<Usage>, Partial<PricedPlace>, string]>([
    ['a model without a row', { input: 1 }, { model: 'gpt-99' }, 'model'],
    [
      'a model that the sources know no price of',
      { input: 1 },
      { provider: 'vertex-ai', model: 'meta/llama3-8b-instruct-maas' },
      'model',
    ],
    ['a day before the first price', { input: 1 }, { ...SOL, day: '2026-06-25' }, 'date'],
    ['a dearer tier without a price', { input: 1, tier: 'priority' }, { model: 'gpt-4' }, 'model'],
    ['a dearer tier without a factor', { input: 1, tier: 'priority' }, HAIKU, 'tier'],
    ['fast answers without a factor', { input: 1, fast: true }, HAIKU, 'tier'],
    ['searches of maps', { mapSearches: 1 }, FLASH, 'kind'],
    ['a kind without a price', { searches: 1 }, { provider: 'vertex-ai', model: 'claude-haiku-5-5' }, 'kind'],
    ['tokens of a model that is priced by time', { input: 1 }, { model: 'whisper-1' }, 'kind'],
    [
      'prices by units that no usage counts',
      { input: 1 },
      { provider: 'vertex-ai', model: 'mistral-ocr-2505' },
      'kind',
    ],
  ])('is unknown, never 0, for %s', (_, usage, place, reason) => {
    expect(cost(usage, place)).toBe(reason);
  });

  it('counts each token in one kind, whatever a provider reports as parts of others', () => {
    const one = ratesOf({ input: 1000, output: 1000 });
    const rating = { rates: { ...one, write1h: 1000, search: 1000 }, tokens: ONE, units: ONE };
    const tokens = fc.nat(1000);
    fc.assert(
      fc.property(
        fc.record({
          audio: tokens,
          image: tokens,
          cached: tokens,
          cachedAudio: tokens,
          cachedImage: tokens,
          out: tokens,
        }),
        fc.record({ input: tokens, write: tokens, hour: tokens, audioOut: tokens, imageOut: tokens }),
        (some, more) => {
          const cacheWrite1h = Math.min(more.hour, more.write);
          const input = more.input + some.cached + more.write;
          const usage = used({
            input,
            output: some.out,
            cacheRead: some.cached,
            cacheWrite: more.write,
            cacheWrite1h,
            inputAudio: some.audio,
            inputImage: some.image,
            cacheReadAudio: some.cachedAudio,
            cacheReadImage: some.cachedImage,
            outputAudio: more.audioOut,
            outputImage: more.imageOut,
          });
          expect(costOf(usage, rating)).toBe(input + some.out);
        },
      ),
    );
  });
});

describe('prices of the operator', () => {
  const prices = { input: picoOf(3, 1e6)!, output: picoOf(15, 1e6)! };

  it.each<[string, PriceOverride, Partial<Usage>, Partial<PricedPlace>, number | string]>([
    ['replace those of the table', { model: 'gpt-5', prices }, { input: M }, {}, 3],
    ['leave the other kinds as they are', { model: 'gpt-5', prices }, { input: M, cacheRead: M }, {}, 0.125],
    ['give a model its first', { model: 'llama-*', prices }, { output: M }, { model: 'llama-4-local' }, 15],
    ['are for their entry alone', { model: '*', entry: 'two', prices }, { input: M }, {}, 1.25],
    ['are for their provider alone', { model: '*', provider: 'anthropic', prices }, { input: M }, {}, 1.25],
    ['begin on their day', { model: '*', from: '2026-11-24', prices }, { input: M }, {}, 1.25],
    ['end with their last day', { model: '*', until: '2026-11-23', prices }, { input: M }, {}, 3],
    ['hold for a location', { model: '*', region: 'europe-west1', prices }, { input: M }, OPUS, 3],
    ['hold for another location only', { model: '*', region: 'us-east5', prices }, { input: M }, OPUS, 5.5],
    ['of a tier are not multiplied again', { model: '*', tier: 'flex', prices }, { input: M, tier: 'flex' }, FLASH, 3],
    [
      'of the standard tier leave others',
      { model: '*', tier: 'standard', prices },
      { input: M, tier: 'flex' },
      FLASH,
      0.375,
    ],
    [
      'of a tier make it known',
      { model: '*', tier: 'priority', factor: 2 },
      { input: 1000, tier: 'priority' },
      HAIKU,
      0.0002,
    ],
    [
      'of a tier replace its shipped prices',
      { model: '*', tier: 'flex', prices },
      { input: M / 10, tier: 'flex' },
      { model: 'gpt-5.4' },
      0.3,
    ],
    ['of a region replace its factor', { model: '*', region: 'regional', factor: 1.2 }, { input: M }, OPUS, 6],
    ['are a discount on all', { model: '*', factor: 0.85 }, { input: M, searches: 100 }, OPUS, 5.525],
    ['have no long prompts', { model: '*', prices, long: false }, { input: M }, HAIKU, 3],
    ['cannot discount an unknown price', { model: '*', factor: 0.5 }, { input: 1 }, { model: 'gpt-99' }, 'model'],
  ])('%s', (_, rule, usage, place, expected) => {
    expect(cost(usage, place, [rule])).toBe(typeof expected === 'number' ? Math.round(expected * USD) : expected);
  });

  it('are in force in their order', () => {
    const free = { model: 'gpt-*', prices: { input: 0 } };
    expect(cost({ input: M }, {}, [free, { model: '*', prices }])).toBe(0);
    expect(cost({ input: M }, {}, [{ model: '*', prices }, free])).toBe(3 * USD);
  });

  it('name models by patterns that agree with an expression', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 });
    const name = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 10 });
    fc.assert(
      fc.property(text, name, (pattern, model) => {
        expect(matches(pattern, model)).toBe(new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(model));
      }),
    );
  });
});

describe('money', () => {
  it('is rounded half up once, exactly, at any size', () => {
    const units = fc.nat(20_000_000);
    const price = fc.nat(600_000_000);
    const factor = fc.constantFrom(1, 0.5, 1.1, 1.8, 2.5, 0.85, 1.375);
    fc.assert(
      fc.property(units, price, factor, (count, pico, by) => {
        const exact = BigInt(count) * BigInt(pico) * BigInt(Math.round(by * 1000));
        expect(nanoOf(count, pico, fractionOf(by))).toBe(Number((exact + 500_000n) / 1_000_000n));
      }),
    );
  });

  it.each([
    [17_500_000, '0.0175'],
    [0, '0'],
    [1, '0.000000001'],
    [12 * USD, '12'],
    [120_500_000_000, '120.5'],
  ])('of %d nano-USD is written as %s', (nano, text) => {
    expect(usdText(nano)).toBe(text);
  });

  it('has no price that is no integer', () => {
    expect([picoOf(0.01875, 1e6), picoOf(0.000_000_4, 1e6), picoOf(1e9, 1)]).toEqual([18_750, undefined, undefined]);
  });
});

it('the table is what data/models.json says', async () => {
  expect(generatePriceTable()).toBe(await readFile(PRICES_OUTPUT, 'utf8'));
});

describe('a host that a caller chose', () => {
  const own: PriceOverride = { model: '*', host: '*.example.com', prices: { input: 2_000_000 } };
  const all: PriceOverride = { model: '*', prices: { input: 1_000_000 } };
  it.each<[string, string | undefined, readonly PriceOverride[], unknown]>([
    ['has no shipped price', 'a.example.com', [], 'model'],
    ['has no price of a rule for the catalog', 'a.example.com', [all], 'model'],
    ['has the price of its rule', 'a.example.com', [all, own], 2000],
    ['has no price of a rule for another', 'a.example.org', [all, own], 'model'],
    ['has a rule that is for no entry of the catalog', undefined, [own, all], 1000],
  ])('%s', (_, customHost, rules, expected) => {
    expect(cost({ input: 1 }, { customHost }, rules)).toBe(expected);
  });
});
