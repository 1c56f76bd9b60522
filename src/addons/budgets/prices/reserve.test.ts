import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Usage } from '../../../formats/events.ts';
import { LearnedSizes } from './learned-sizes.ts';
import { PriceList } from './price-list.ts';
import { SHIPPED_PRICES } from './price-table.ts';
import type { PricedPlace } from './rates.ts';
import { reserve, type RequestSize, type Learned, type ReserveMode } from './reserve.ts';

const prices = new PriceList();
const at = (provider: string, model: string, place: Partial<PricedPlace> = {}): PricedPlace => ({
  entry: 'one',
  provider,
  model,
  region: undefined,
  geo: undefined,
  day: '2026-11-23',
  ...place,
});
const GPT_5 = at('openai', 'gpt-5');
const OPUS = at('vertex-ai', 'claude-opus-5', { region: 'europe-west1', geo: 'regional' });
const IMAGEN = at('vertex-ai', 'imagen-4.0-generate-001', { region: 'global' });
const PRO = at('vertex-ai', 'gemini-2.5-pro', { region: 'global' });
const EUROPE = { region: 'europe-west1', geo: 'regional' };
const PAINTER = at('google-ai-studio', 'gemini-2.5-flash-image');
/** A prompt of 1,000 tokens at most. */
const TEXT: RequestSize = { textBytes: 2000, maxOutput: 100 };
const nano = (usd: number) => Math.round(usd * 1e9);

describe('the reserve of a request', () => {
  it.each<[string, RequestSize, PricedPlace, number]>([
    ['the text at two bytes a token, and the whole answer', TEXT, GPT_5, 0.00125 + 0.001],
    ['each of several answers', { ...TEXT, answers: 3 }, GPT_5, 0.00125 + 0.003],
    ['the largest answer of the table', { ...TEXT, maxOutput: undefined, tableOutput: 1000 }, GPT_5, 0.00125 + 0.01],
    ['a write to the cache for 5 minutes', { ...TEXT, cacheWrite: '5m' }, OPUS, 1.1 * (0.00625 + 0.0025)],
    ['a write to the cache for an hour', { ...TEXT, cacheWrite: '1h' }, OPUS, 1.1 * (0.01 + 0.0025)],
    ['a write that the provider makes unasked', TEXT, at('openai', 'gpt-5.6-sol'), 0.005 + 0.002],
    ['no write that the request does not ask for', TEXT, OPUS, 1.1 * (0.005 + 0.0025)],
    ['the prices of a long prompt', { textBytes: 400_004, maxOutput: 0 }, PRO, 0.500005],
    ['those of a short one, if it cannot be long', { textBytes: 400_000, maxOutput: 0 }, PRO, 0.25],
    ['the tier', { ...TEXT, tier: 'priority' }, at('openai', 'gpt-5.6-sol'), 0.014],
    ['fast answers', { ...TEXT, fast: true }, at('anthropic', 'claude-opus-5'), 0.015],
    [
      'the place that the request names',
      { ...TEXT, geo: 'us' },
      at('anthropic', 'claude-opus-5'),
      1.1 * (0.005 + 0.0025),
    ],
    ['no place that has no factor', { ...TEXT, geo: 'us' }, GPT_5, 0.00125 + 0.001],
    ['a region without a known factor, at 1.1', TEXT, { ...PRO, ...EUROPE }, 1.1 * (0.00125 + 0.001)],
    ['pictures by number', { textBytes: 100, images: 4, maxOutput: 0 }, IMAGEN, 0.16],
    ['pictures in a region without a known factor', { textBytes: 1, images: 4 }, { ...IMAGEN, ...EUROPE }, 0.176],
    ['pictures by the dearer of tokens and number', { textBytes: 0, images: 1 }, PAINTER, 0.48],
    ['seconds of sound', { textBytes: 40, seconds: 60 }, at('openai', 'whisper-1'), 0.006],
    ['searches', { ...TEXT, searches: 5 }, GPT_5, 0.00225 + 0.05],
    ['an answer of text alone', { ...TEXT, outputs: [] }, PAINTER, 0.0003 + 0.00025],
    ['pictures in an answer that may have them', TEXT, PAINTER, 0.0003 + 0.003],
    [
      'pictures and sound in the prompt',
      { textBytes: 0, maxOutput: 0, media: [{ kind: 'image' }, { kind: 'audio', bytes: 1_000_000 }] },
      at('google-ai-studio', 'gemini-2.5-flash'),
      0.0014352 + 0.032,
    ],
    [
      'a film at an address, as the whole window',
      { textBytes: 1e9, maxOutput: 0, window: 1000, media: [{ kind: 'video' }] },
      at('google-ai-studio', 'gemini-2.5-flash'),
      0.0003,
    ],
  ])('covers %s', (_, asked, place, usd) => {
    expect(reserve(prices, asked, place)).toBe(nano(usd));
  });

  it.each<[string, RequestSize, PricedPlace, string]>([
    ['a model without a row', TEXT, at('openai', 'gpt-99'), 'model'],
    ['a day before its first price', TEXT, at('openai', 'gpt-5.6-sol', { day: '2026-01-01' }), 'date'],
    ['a dearer tier without a price', { ...TEXT, tier: 'priority' }, at('anthropic', 'claude-haiku-5-5'), 'tier'],
    ['searches without a price', { ...TEXT, searches: 1 }, at('vertex-ai', 'claude-haiku-5-5'), 'kind'],
  ])('is unknown for %s', (_, asked, place, reason) => {
    expect(reserve(prices, asked, place)).toBe(reason);
  });

  const LEARNED: Learned = { ratioP999: 0.4, ratioP99: 0.3, outputP99: 20 };
  it.each<[string, ReserveMode, RequestSize, Learned, number]>([
    ['the bound is not below the ratio of 999 of 1,000 prompts', 'bound', TEXT, LEARNED, 0.001 + 0.001],
    ['typical has what 99 of 100 used', 'typical', TEXT, LEARNED, 0.00075 + 0.0002],
    [
      'typical has no more than the limit of the request',
      'typical',
      { ...TEXT, maxOutput: 5 },
      LEARNED,
      0.00075 + 0.00005,
    ],
    ['a prompt has a token for each four bytes at least', 'bound', TEXT, { ratioP999: 0.02 }, 0.000625 + 0.001],
    ['typical is the bound as long as nothing was learned', 'typical', TEXT, {}, 0.00125 + 0.001],
  ])('follows what was learned: %s', (_, mode, asked, learned, usd) => {
    expect(reserve(prices, asked, GPT_5, { learned, mode })).toBe(nano(usd));
  });

  it('is no less than the cost of any request within its bounds, at every shipped model', () => {
    const rows = SHIPPED_PRICES.list();
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    const parts = fc.record({
      input: share,
      output: share,
      cached: share,
      written: share,
      hour: share,
      media: share,
      image: share,
    });
    const request = fc.record({
      textBytes: fc.nat(1_500_000),
      maxOutput: fc.nat(100_000),
      media: fc.array(fc.constantFrom({ kind: 'image' as const }, { kind: 'audio' as const, bytes: 50_000 }), {
        maxLength: 3,
      }),
      tier: fc.constantFrom(undefined, 'batch' as const, 'flex' as const, 'priority' as const),
    });
    let compared = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...rows),
        request,
        parts,
        fc.constantFrom(undefined, 'regional'),
        (row, asked, used, geo) => {
          const place = at(row.provider, row.model, { geo, day: '2027-06-01' });
          const most = reserve(prices, { ...asked, cacheWrite: '1h' }, place);
          const cost = prices.cost(usageWithin(asked, used), place);
          if (typeof cost !== 'number' || typeof most !== 'number') return;
          // Each kind is rounded by itself.
          compared += 1;
          expect(most).toBeGreaterThanOrEqual(cost - 10);
        },
      ),
      { numRuns: 3000 },
    );
    expect(compared).toBeGreaterThan(1000);
  });
});

type Shares = Readonly<Record<'input' | 'output' | 'cached' | 'written' | 'hour' | 'media' | 'image', number>>;

function usageWithin({ textBytes, maxOutput = 0, media = [], tier }: RequestSize, used: Shares): Usage {
  const of = (most: number, share: number): number => Math.floor(most * share);
  const pictures = media.filter(({ kind }) => kind === 'image').length * of(4784, used.media);
  const sounds = media.filter(({ kind }) => kind === 'audio').length * of(1600, used.media);
  const text = of(textBytes / 2, used.input);
  const cached = of(text, used.cached);
  const written = of(text - cached, used.written);
  const input = text + pictures + sounds;
  const output = of(maxOutput, used.output);
  return {
    input,
    output,
    total: input + output,
    cacheRead: cached,
    cacheWrite: written,
    cacheWrite1h: of(written, used.hour),
    inputImage: pictures,
    inputAudio: sounds,
    outputImage: of(output, used.image),
    ...(tier && { tier }),
  };
}

describe('what was learned of a model', () => {
  const M = { key: 'a', model: 'm' };
  const usage = (input: number, output: number): Usage => ({ input, output, total: input + output });

  it('is nothing before there are enough requests', () => {
    const sizes = new LearnedSizes();
    for (let count = 0; count < 199; count += 1) sizes.add(M, 400, usage(100, 10));
    expect(sizes.of(M)).toEqual({ ratioP999: undefined, ratioP99: undefined, outputP99: undefined });
    expect(sizes.of({ ...M, model: 'other' })).toEqual({});
  });

  it('is within 5 % above the percentile', () => {
    const sizes = new LearnedSizes();
    for (let count = 0; count < 5000; count += 1) {
      const rare = count % 1000 === 0;
      sizes.add(M, 400, usage(rare ? 300 : 100, count % 100 === 0 ? 5000 : 50));
    }
    const { ratioP999, ratioP99, outputP99 } = sizes.of(M);
    expect(ratioP99).toBeGreaterThanOrEqual(0.25);
    expect(ratioP99).toBeLessThan(0.25 * 1.06);
    expect(ratioP999).toBeGreaterThanOrEqual(0.25);
    expect(outputP99).toBeGreaterThanOrEqual(50);
  });

  it('forgets slowly: new requests count more than older ones', () => {
    const sizes = new LearnedSizes();
    for (let count = 0; count < 30_000; count += 1) sizes.add(M, undefined, usage(1, 1000));
    for (let count = 0; count < 120_000; count += 1) sizes.add(M, undefined, usage(1, 10));
    expect(sizes.of(M).outputP99).toBeLessThan(20);
  });

  it('says nothing of the requests of other keys, and none of it is kept beyond a bound', () => {
    const sizes = new LearnedSizes();
    for (let count = 0; count < 3000; count += 1) sizes.add(M, 4000, usage(10, 1));
    expect(sizes.of(M).outputP99).toBeLessThan(2);
    expect([sizes.of({ ...M, key: 'b' }), sizes.of({ ...M, key: undefined })]).toEqual([{}, {}]);
    for (let count = 0; count < 2000; count += 1) sizes.add({ key: 'b', model: `m${count}` }, 4000, usage(10, 1));
    expect(sizes.of(M)).toEqual({});
  });
});
