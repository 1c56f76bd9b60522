import { describe, expect, it } from 'vitest';
import { GatewayError, UpstreamError, type Attempt, type ModelTask } from '../plugin/index.ts';
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
} from './exchange.testkit.ts';
import { recordOf } from './make-record.ts';
import type { RecordEnd } from './record.ts';

/** Tokens of a prompt that is not a long one. */
const INPUT = 100_000;
const usage = { input: INPUT, output: 0, total: INPUT };
const whole = signalsOf({ usage, ended: true });
const sent = [tryOf(5, 100)];
const answered = { resolved: anthropic, reply: replyOf(false), tries: sent, signals: whole };
const aborted = endOf({ state: 'aborted' });

function costsOf(attempts: readonly Partial<Attempt>[], end: RecordEnd = endOf(), task: ModelTask = 'generate') {
  const exchange = exchangeOf();
  exchange.attempts.push(...attempts.map((parts, number) => attemptOf({ number, ...parts })));
  Object.assign(exchange.request, { bodyBytes: 4 * INPUT });
  if (exchange.operation) Object.assign(exchange, { operation: { ...exchange.operation, task } });
  const prices = new PriceList([{ model: 'claude-sonnet-4-5', entry: 'cheap', prices: { input: 1_000_000 } }]);
  return recordOf(exchange, end, { endedAt: 200, receivedAt: WALL }, { prices }).attempts.map(({ cost }) => cost);
}

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
        tries: [tryOf(5, 100, { status: undefined })],
        error: new UpstreamError('timeout_first_byte', 'no'),
      },
      endOf({ state: 'failed' }),
      'generate',
      estimated(0.3),
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

  it('is booked for each attempt, lost ones too', () => {
    const lost = { ...answered, signals: signalsOf({}), error: new UpstreamError('stream_interrupted', 'cut') };
    expect(costsOf([lost, answered])).toEqual([estimated(0.3), reported(0.3)]);
  });
});
