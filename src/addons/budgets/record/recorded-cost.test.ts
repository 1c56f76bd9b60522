import { CostHeader, requestPrices } from './request-prices.ts';
import { describe, expect, it } from 'vitest';
import { GatewayError, UpstreamError, type ModelTask, type ReplyEnd } from '../../../plugin/index.ts';
import type { Attempt, EmbeddingCall } from '../../../core/kernel/index.ts';
import { PriceList, PricesInForce } from '../prices/price-list.ts';
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
import type { RecordEnd } from '../../../core/record/attempt-end.ts';
import { settledCost } from './recorded-cost.ts';

/** Tokens of a prompt that is not a long one. */
const INPUT = 100_000;
const usage = { input: INPUT, output: 0, total: INPUT };
const advised = (model: string | undefined) => ({ ...usage, otherModels: [{ model, usage }] });
const whole = signalsOf({ usage, ended: true });
const sent = [tryOf(5, 100)];
/** A try that got no answer in time. */
const silent = tryOf(5, 50, { status: undefined, sentAt: 6, error: new UpstreamError('timeout_first_byte', 'no') });
const answered = { resolved: anthropic, reply: replyOf(false), tries: sent, signals: whole };
const aborted = endOf({ state: 'aborted' });
/** 0.9 USD, and 1,000 tokens of answer. */
const reserve = {
  amounts: { usd: 9e8, tokens: 200_000 },
  isPriced: true,
  prompt: 199_000,
  answers: 1000,
  mostOutput: 1000,
};
const counting = { counted: ['key'], usd: 9e8, tokens: undefined, output: 1000, warned: [] };
const reset = new UpstreamError('stream_interrupted', 'cut');

function exchangeWith(attempts: readonly Partial<Attempt>[], task: ModelTask = 'generate') {
  const exchange = exchangeOf();
  exchange.attempts.push(...attempts.map((parts, number) => attemptOf({ number, ...parts })));
  Object.assign(exchange.request, { bodyBytes: 4 * INPUT });
  if (exchange.operation) Object.assign(exchange, { operation: { ...exchange.operation, task } });
  return exchange;
}

const prices = new PriceList([{ model: 'claude-sonnet-4-5', entry: 'cheap', prices: { input: 1_000_000 } }]);

const recordOfAttempts = (attempts: readonly Partial<Attempt>[], end: RecordEnd = endOf(), task?: ModelTask) =>
  recordOf(exchangeWith(attempts, task), end, { endedAt: 200, receivedAt: WALL }, { prices: requestPrices(prices) });

const costsOf = (attempts: readonly Partial<Attempt>[], end?: RecordEnd, task?: ModelTask) =>
  recordOfAttempts(attempts, end, task).attempts.map(({ cost }) => cost);

const reported = (usd: number) => ({
  nano: Math.round(usd * 1e9),
  unknown: undefined,
  source: 'reported',
  saved: undefined,
});
const estimated = (usd: number) => ({ ...reported(usd), source: 'estimated' });
const unknown = (reason: string, source = 'reported') => ({ ...reported(0), nano: undefined, unknown: reason, source });

describe('the cost of an attempt', () => {
  it.each<[string, Partial<Attempt>, RecordEnd, ModelTask, object | undefined]>([
    ['is what the upstream counted', answered, endOf(), 'generate', reported(0.3)],
    [
      'is that of the model that answered',
      { ...answered, signals: signalsOf({ usage, ended: true, model: 'claude-opus-5' }) },
      endOf(),
      'generate',
      reported(0.5),
    ],
    [
      'is that of the model that was asked, if the name of the answer has no price',
      { ...answered, signals: signalsOf({ usage, ended: true, model: 'my-deployment' }) },
      endOf(),
      'generate',
      reported(0.3),
    ],
    [
      'has that of an advisor, at the price of its model',
      { ...answered, signals: signalsOf({ usage: advised('claude-opus-5'), ended: true }) },
      endOf(),
      'generate',
      reported(0.8),
    ],
    [
      'is unknown where the model of an advisor has no price',
      { ...answered, signals: signalsOf({ usage: advised('unheard-of'), ended: true }) },
      endOf(),
      'generate',
      unknown('model'),
    ],
    [
      'is unknown where an advisor has no name',
      { ...answered, signals: signalsOf({ usage: advised(undefined), ended: true }) },
      endOf(),
      'generate',
      unknown('model'),
    ],
    [
      'follows a rule for the entry',
      { ...answered, resolved: { ...anthropic, slug: 'cheap' } },
      endOf(),
      'generate',
      reported(0.1),
    ],
    [
      'has the factor of its region',
      { ...answered, resolved: { ...vertex, model: 'claude-opus-5', region: 'europe-west1' } },
      endOf(),
      'generate',
      reported(0.55),
    ],
    [
      'is an estimate by the bytes of the request and the pieces of the stream, when the client leaves',
      { ...answered, reply: replyOf(true), signals: signalsOf({ progress: 1000 }) },
      aborted,
      'generate',
      estimated(0.315),
    ],
    [
      'is an estimate by the last counts, when a stream is cut',
      { ...answered, reply: replyOf(true), signals: signalsOf({ usage: { ...usage, output: 1 }, progress: 1000 }) },
      endOf({ state: 'failed', error: new UpstreamError('stream_interrupted', 'cut') }),
      'generate',
      estimated(0.315),
    ],
    [
      'is an estimate where the upstream counts nothing',
      { ...answered, signals: signalsOf({ ended: true }) },
      endOf(),
      'generate',
      estimated(0.3),
    ],
    [
      'is unknown where bytes do not tell',
      { ...answered, signals: signalsOf({ ended: true }) },
      endOf(),
      'speech',
      unknown('usage', 'estimated'),
    ],
    [
      'is unknown, not 0, for a model without a price',
      { ...answered, resolved: { ...anthropic, model: 'claude-99' } },
      endOf(),
      'generate',
      unknown('model'),
    ],
    [
      'is 0 for a reply of the cache, and saves what it would have cost',
      { ...answered, tries: [], cache: 'hit' },
      endOf(),
      'generate',
      { nano: 0, unknown: undefined, source: 'cache', saved: 3e8 },
    ],
    [
      'is none for a refusal',
      { ...answered, signals: undefined, reply: undefined, tries: [tryOf(5, 100, { status: 429 })] },
      endOf({ state: 'failed', error: new UpstreamError('rate_limit_exceeded', 'no') }),
      'generate',
      undefined,
    ],
    [
      'is none where no connection was made',
      {
        ...answered,
        signals: undefined,
        reply: undefined,
        tries: [tryOf(5, 100, { status: undefined })],
        error: new UpstreamError('connection_failed', 'no'),
      },
      endOf({ state: 'failed' }),
      'generate',
      undefined,
    ],
    [
      'is an estimate of the prompt where the answer did not come in time',
      {
        ...answered,
        signals: undefined,
        reply: undefined,
        tries: [silent],
        error: new UpstreamError('timeout_first_byte', 'no'),
      },
      endOf({ state: 'failed' }),
      'generate',
      estimated(0.3),
    ],
    [
      'is an estimate of the prompt where the connection broke before an answer',
      {
        ...answered,
        signals: undefined,
        reply: undefined,
        tries: [{ ...silent, error: new UpstreamError('connection_failed', 'no') }],
        error: new UpstreamError('connection_failed', 'no'),
      },
      endOf({ state: 'failed' }),
      'generate',
      estimated(0.3),
    ],
    [
      'is the reserve where the client left before a plain reply',
      { ...answered, reserve, signals: undefined, reply: undefined, tries: [silent] },
      aborted,
      'generate',
      estimated(0.9),
    ],
    [
      'is the reserve where the client left a stream that had no content yet',
      { ...answered, reserve, reply: replyOf(true), signals: signalsOf({ progress: 1 }) },
      aborted,
      'generate',
      estimated(0.9),
    ],
    [
      'is the reserve where a stream broke before its content',
      {
        ...answered,
        reserve,
        reply: undefined,
        signals: signalsOf({ failure: { status: 502, message: 'cut' } }),
        error: reset,
      },
      endOf({ state: 'failed' }),
      'generate',
      estimated(0.9),
    ],
    [
      'is an estimate, not the reserve, for a stream that was cut in its content',
      { ...answered, reserve, reply: replyOf(true), signals: signalsOf({ progress: 1000, content: true }) },
      aborted,
      'generate',
      estimated(0.315),
    ],
    [
      'is an estimate, not the reserve, for a stream that was cut after a count',
      { ...answered, reserve, reply: replyOf(true), signals: signalsOf({ usage: { ...usage, output: 1 } }) },
      aborted,
      'generate',
      estimated(0.300015),
    ],
    [
      'is an estimate of the prompt where the upstream reports a failure inside a reply',
      {
        ...answered,
        reserve,
        reply: undefined,
        signals: signalsOf({ failure: { status: 529, message: 'busy', kind: 'overloaded_error' } }),
        error: new UpstreamError('overloaded', 'busy'),
      },
      endOf({ state: 'failed' }),
      'generate',
      estimated(0.3),
    ],
    [
      'is an estimate of the prompt where a web page or a redirect answers',
      {
        ...answered,
        reserve,
        signals: undefined,
        reply: undefined,
        tries: [{ ...silent, firstByteAt: 9 }],
        error: new UpstreamError('upstream_error', 'no'),
      },
      endOf({ state: 'failed' }),
      'generate',
      estimated(0.3),
    ],
    [
      'counts the text of a plain reply without a count',
      { ...answered, reserve, signals: signalsOf({ ended: true, content: true, progress: 7, text: 3998 }) },
      endOf(),
      'generate',
      estimated(0.315),
    ],
    [
      'counts the bytes of a plain reply without a count and text',
      {
        ...answered,
        reserve,
        tries: [tryOf(5, 100, { bytesIn: 400 })],
        signals: signalsOf({ ended: true, content: true }),
      },
      endOf(),
      'generate',
      estimated(0.3015),
    ],
    [
      'counts no more bytes than the longest answer has',
      {
        ...answered,
        reserve,
        tries: [tryOf(5, 100, { bytesIn: 1e6 })],
        signals: signalsOf({ ended: true, content: true }),
      },
      endOf(),
      'generate',
      estimated(0.315),
    ],
    [
      'counts no answer of embeddings',
      {
        ...answered,
        reserve,
        tries: [tryOf(5, 100, { bytesIn: 1e6 })],
        signals: signalsOf({ ended: true, content: true }),
      },
      endOf(),
      'embeddings',
      estimated(0.3),
    ],
    [
      'is the reserve where bytes do not tell, and a budget has booked it',
      { ...answered, reserve, budget: counting, signals: signalsOf({ ended: true }) },
      endOf(),
      'speech',
      estimated(0.9),
    ],
    [
      'is unknown where bytes do not tell, and only the ledger follows',
      { ...answered, reserve, signals: signalsOf({ ended: true }) },
      endOf(),
      'speech',
      unknown('usage', 'estimated'),
    ],
    ['is none for a count of tokens', answered, endOf(), 'count_tokens', undefined],
    [
      'is none where nothing was sent',
      { ...answered, tries: [], error: new GatewayError('invalid_request', 'no') },
      endOf(),
      'generate',
      undefined,
    ],
  ])('%s', (_, attempt, end, task, cost) => {
    expect(costsOf([attempt], end, task)).toEqual([cost]);
  });

  it.each<[string, Partial<Attempt>, readonly object[], object | undefined]>([
    [
      'of a try without an answer as the prompt, estimated',
      { ...answered, tries: [silent, ...sent] },
      [estimated(0.3)],
      reported(0.3),
    ],
    [
      'of a reply that broke as what the upstream had counted, estimated',
      {
        ...answered,
        tries: [tryOf(5, 50, { signals: signalsOf({ usage: { ...usage, output: 1000 } }) }), ...sent],
      },
      [estimated(0.315)],
      reported(0.3),
    ],
    [
      'of a try without an answer as the reserve',
      { ...answered, reserve, tries: [silent, ...sent] },
      [estimated(0.9)],
      reported(0.3),
    ],
    [
      'of a stream that broke in its content as the text that had arrived',
      {
        ...answered,
        reserve,
        reply: replyOf(true),
        tries: [tryOf(5, 50, { signals: signalsOf({ content: true, text: 4000 }) }), ...sent],
      },
      [estimated(0.315)],
      reported(0.3),
    ],
    [
      'of the calls of a batch as their parts of the reserve',
      {
        ...answered,
        reserve,
        signals: undefined,
        tries: [silent, { ...silent, call: 1 }],
        error: new UpstreamError('timeout_first_byte', 'no'),
      },
      [estimated(0.45), estimated(0.45)],
      undefined,
    ],
    [
      'of the calls of a batch as no less than the reserve, where it does not divide',
      {
        ...answered,
        reserve: { ...reserve, amounts: { ...reserve.amounts, usd: 900_000_001 } },
        signals: undefined,
        tries: [silent, { ...silent, call: 1 }],
        error: new UpstreamError('timeout_first_byte', 'no'),
      },
      [estimated(0.450000001), estimated(0.450000001)],
      undefined,
    ],
    ['of a refusal as nothing', { ...answered, tries: [tryOf(5, 50, { status: 503 }), ...sent] }, [], reported(0.3)],
    [
      'of a try that was not sent as nothing',
      {
        ...answered,
        tries: [tryOf(5, 50, { status: undefined, error: new UpstreamError('connection_failed', 'no') }), ...sent],
      },
      [],
      reported(0.3),
    ],
    [
      'of the calls of a batch that failed, each by its part of the bytes',
      {
        ...answered,
        signals: undefined,
        tries: [tryOf(5, 50), tryOf(5, 50, { call: 1, status: 500 })],
        error: new UpstreamError('upstream_error', 'no'),
      },
      [estimated(0.15)],
      undefined,
    ],
    [
      'of a call of a batch that was sent again',
      { ...answered, tries: [tryOf(5, 50), tryOf(5, 50, { call: 1 }), tryOf(60, 90, { call: 1 })] },
      [estimated(0.15)],
      reported(0.3),
    ],
  ])('of earlier tries is booked: %s', (_, attempt, lost, cost) => {
    const { attempts } = recordOfAttempts([attempt]);
    expect([attempts[0]!.lostCosts, attempts[0]!.cost]).toEqual([lost, cost]);
  });

  const call = { slug: 'openai', modelLabel: 'v', from: 0, to: 5, tokens: 1000, result: 'success' as const };
  const place = {
    provider: 'openai',
    model: 'text-embedding-3-small',
    region: undefined,
    answered: undefined,
    bytes: 8000,
  };
  it.each<[string, Partial<EmbeddingCall>, object | undefined]>([
    ['by the tokens that the upstream counted', { sent: place }, reported(0.00002)],
    [
      'by the bytes of the request where it was late',
      { sent: place, tokens: undefined, result: 'late' },
      estimated(0.00004),
    ],
    ['not at all where nothing was sent', { tokens: undefined, result: 'failed' }, undefined],
    ['as unknown for a model without a price', { sent: { ...place, model: 'own' } }, unknown('model')],
  ])('of a call for vectors is booked %s', (_, parts, cost) => {
    const semantic = { result: 'differs', embedding: { ...call, ...parts } } as const;
    const { attempts } = recordOfAttempts([{ ...answered, semantic }]);
    expect(attempts[0]!.semantic?.embedding?.cost).toEqual(cost);
  });

  it('is booked for each attempt, lost ones too', () => {
    const lost = { ...answered, signals: signalsOf({}), error: new UpstreamError('stream_interrupted', 'cut') };
    expect(costsOf([lost, answered])).toEqual([estimated(0.3), reported(0.3)]);
  });
});

const failed = {
  ...answered,
  signals: undefined,
  reply: undefined,
  error: new UpstreamError('timeout_first_byte', 'no'),
};

describe('what the settlement of an attempt counts', () => {
  it.each<[string, Partial<Attempt>, ReplyEnd, object]>([
    ['the cost of the reply', answered, endOf(), { nano: 3e8, source: 'reported' }],
    ['the sum of all tries', { ...answered, tries: [silent, ...sent] }, endOf(), { nano: 6e8, source: 'estimated' }],
    ['the prompt of a lost attempt', { ...failed, tries: [silent] }, endOf(), { nano: 3e8, source: 'estimated' }],
    [
      'nothing for a refusal',
      { ...failed, tries: [tryOf(5, 50, { status: 429 })] },
      endOf(),
      { nano: 0, source: 'none' },
    ],
    [
      'nothing for a reply of the cache',
      { ...answered, tries: [], cache: 'hit' },
      endOf(),
      { nano: 0, source: 'none' },
    ],
    [
      'an unknown cost as unknown, not 0',
      { ...answered, resolved: { ...anthropic, model: 'claude-99' } },
      endOf(),
      { nano: 'unknown', reason: 'model', source: 'reported', usage },
    ],
    [
      'the text that arrived of a stream that was cut',
      {
        ...answered,
        reply: replyOf(true),
        signals: signalsOf({ progress: 30, text: 8000, usage: { input: INPUT, output: 1, total: INPUT + 1 } }),
      },
      endOf({ state: 'aborted' }),
      { nano: 3.3e8, source: 'estimated', usage: { input: INPUT, output: 2000, total: INPUT + 2000 } },
    ],
    [
      'the reserve of an attempt that brought neither a count nor content',
      { ...failed, reserve, tries: [silent] },
      endOf(),
      { nano: 9e8, source: 'estimated', usage: undefined },
    ],
    [
      'the pieces of a stream whose text is shorter',
      { ...answered, reply: replyOf(true), signals: signalsOf({ progress: 2000, text: 10 }) },
      endOf({ state: 'aborted' }),
      { nano: 3.3e8, source: 'estimated', usage: { input: INPUT, output: 2000, total: INPUT + 2000 } },
    ],
  ])('is %s', (_, attempt, end, settled) => {
    const exchange = exchangeWith([attempt]);
    const cost = settledCost(exchange, exchange.attempts[0]!, prices, { end, receivedAt: WALL });
    expect(cost).toMatchObject({ reason: undefined, ...settled });
  });
});

describe('the header of a reply', () => {
  const header = new CostHeader(new PricesInForce(prices));
  it.each<[string, readonly Partial<Attempt>[], Partial<ReturnType<typeof replyOf>>, string | undefined]>([
    ['has the cost of all attempts', [{ ...failed, tries: [silent] }, answered], {}, '0.6'],
    ['has 0 for a reply of the cache', [{ ...answered, tries: [], cache: 'hit' }], {}, '0'],
    ['says that a cost is unknown', [{ ...answered, resolved: { ...anthropic, model: 'claude-99' } }], {}, 'unknown'],
    ['is not on a stream', [answered], { stream: true }, undefined],
    ['is not on a refusal before any target', [], {}, undefined],
  ])('%s', (_, attempts, parts, value) => {
    expect(header.of(exchangeWith(attempts), { ...replyOf(false), ...parts }, WALL)).toBe(value);
  });
});
