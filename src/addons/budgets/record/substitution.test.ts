import { describe, expect, it } from 'vitest';
import { RequestBody, type Attempt } from '../../../core/kernel/index.ts';
import type { Usage } from '../../../formats/events.ts';
import { requestPrices } from './request-prices.ts';
import { PriceList } from '../prices/price-list.ts';
import {
  anthropic,
  attemptOf,
  endOf,
  exchangeOf,
  replyOf,
  signalsOf,
  tryOf,
  vertex,
  WALL,
} from '../../../core/record/exchange.testkit.ts';
import { recordOf } from '../../../core/record/make-record.ts';

const MILLION = 1_000_000;
const openai = { ...vertex, slug: 'openai', provider: 'openai', semconvName: 'openai', region: undefined };
/** USD per million tokens; a flex or priority tier has prices of its own. */
const prices = new PriceList([
  { model: 'dear', provider: 'openai', prices: { input: 8_000_000 } },
  { model: 'cheap', provider: 'openai', tier: 'flex', prices: { input: 1_000_000 } },
  { model: 'cheap', provider: 'openai', prices: { input: 2_000_000 } },
]);

interface Case {
  readonly asked?: string;
  readonly answered?: string | undefined;
  readonly tier?: unknown;
  readonly usage?: Partial<Usage>;
  readonly more?: Partial<Attempt>;
}

/** The substitution in the record of one request. */
function recordedOf({ asked = 'cheap', answered = asked, tier, usage, more }: Case) {
  const exchange = exchangeOf();
  const counted = { input: MILLION, output: 0, total: MILLION, ...usage };
  exchange.attempts.push(
    attemptOf({
      resolved: { ...openai, model: asked },
      body: RequestBody.read(Buffer.from(JSON.stringify(tier === undefined ? {} : { service_tier: tier })), 64),
      reply: replyOf(false),
      tries: [tryOf(5, 100)],
      signals: signalsOf({ usage: counted, ended: true, model: answered }),
      ...more,
    }),
  );
  const { attempts } = recordOf(
    exchange,
    endOf(),
    { endedAt: 10, receivedAt: WALL },
    { prices: requestPrices(prices) },
  );
  return attempts[0]!;
}

describe('an answer', () => {
  it.each<[string, Case, string | undefined]>([
    ['of the model that was asked', {}, undefined],
    ['of another model', { answered: 'dear' }, 'model'],
    ['of the same model under the name of its version', { answered: 'cheap-2026-01-01' }, undefined],
    ['of the same model under the number of its build', { answered: 'cheap-0613' }, undefined],
    ['of the same model under its path', { answered: 'publishers/x/models/cheap' }, undefined],
    ['of a later model of the same name', { answered: 'cheap-4-1' }, 'model'],
    ['of a deployment, whose name has no price', { asked: 'my-deployment', answered: 'cheap' }, undefined],
    ['that names no model', { more: { signals: signalsOf({ ended: true }) } }, undefined],
    ['of the tier that was asked', { tier: 'flex', usage: { tier: 'flex' } }, undefined],
    ['of the standard tier in place of flex', { tier: 'flex' }, 'tier'],
    ['of the standard tier in place of priority', { tier: 'PRIORITY' }, 'tier'],
    ['of a dearer tier in place of the standard one', { tier: 'default', usage: { tier: 'priority' } }, 'tier'],
    ['of a tier that the provider chose', { tier: 'auto', usage: { tier: 'priority' } }, undefined],
    ['of a tier that nobody asked for', { usage: { tier: 'priority' } }, undefined],
    ['of another model and tier', { tier: 'flex', answered: 'dear' }, 'model_and_tier'],
    ['of a cache, whose tier is that of another request', { tier: 'flex', more: { cache: 'hit' } }, undefined],
    ['to a tier that is no text', { tier: 5 }, undefined],
    ['that never came', { tier: 'flex', more: { signals: undefined } }, undefined],
  ])('%s is %j → %s', (_, asked, expected) => expect(recordedOf(asked).substitution).toBe(expected));

  it('costs as what answered, or where that has no price as what was asked', () => {
    const costOf = (asked: Case) => recordedOf(asked).cost?.nano;
    expect([
      costOf({}),
      costOf({ answered: 'dear' }),
      costOf({ tier: 'flex', usage: { tier: 'flex' } }),
      costOf({ tier: 'flex' }),
      costOf({ answered: 'no-price' }),
    ]).toEqual([2e9, 8e9, 1e9, 2e9, 2e9]);
    expect(recordedOf({ answered: 'no-price' }).substitution).toBe('model');
  });

  it('of Claude under the name of its version is that of the model that was asked', () => {
    const more = { resolved: { ...anthropic, model: 'claude-sonnet-4-5@20250929' } };
    expect(recordedOf({ answered: 'claude-sonnet-4-5-20250929', more }).substitution).toBeUndefined();
  });
});
