import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ERRORS, GatewayError, UpstreamError, type ErrorCode } from '../../plugin/index.ts';
import type { Exchange } from '../kernel/index.ts';
import { ERROR_LABELS, ERROR_TYPES } from './error-types.ts';
import { attemptOf, endOf, exchangeOf, replyOf, streamedExchange, tryOf, vertex, WALL } from './exchange.testkit.ts';
import { recordOf as recordWith } from './make-record.ts';
import type { RecordEnd } from './attempt-end.ts';
import type { RequestRecord } from './record.ts';

const upstream = (code: ErrorCode): UpstreamError => new UpstreamError(code, 'no');

function recordOf(exchange: Exchange, end: RecordEnd, endedAt: number): RequestRecord {
  return recordWith(exchange, end, { endedAt, receivedAt: WALL });
}

describe('the error labels', () => {
  it('have a type from the closed list for every code', () => {
    expect(Object.keys(ERROR_LABELS).sort()).toEqual(Object.keys(ERRORS).sort());
    for (const { errorType } of Object.values(ERROR_LABELS)) expect(ERROR_TYPES).toContain(errorType);
  });

  it('use every type of the list', () => {
    expect(new Set(Object.values(ERROR_LABELS).map(({ errorType }) => errorType))).toEqual(new Set(ERROR_TYPES));
  });
});

describe('the record of a request', () => {
  it('counts time without waiting for an upstream as overhead', () => {
    const { durationMs, overheadMs, firstContentMs, attempts } = recordOf(streamedExchange(), endOf(), 1305);
    expect({ durationMs, overheadMs, firstContentMs }).toEqual({
      durationMs: 1305,
      overheadMs: 10,
      firstContentMs: 305,
    });
    expect(attempts[0]?.firstContentMs).toBe(300);
  });

  it('has the address of each target without its query, whichever came before', () => {
    const place = fc.record({
      origin: fc.constantFrom('https://a.test', 'https://b.test', ''),
      path: fc.constantFrom('', '/v1/messages', '/v1/messages?key=canary', '/v1?key=canary', '/v1'),
    });
    fc.assert(
      fc.property(fc.array(place, { maxLength: 20 }), (places) => {
        for (const { origin, path } of places) {
          const exchange = exchangeOf({ attempts: [attemptOf({ resolved: { ...vertex, origin, path } })] });
          expect(recordOf(exchange, endOf(), 1).attempts[0]!.place!.url).toBe(origin + path.split('?')[0]!);
        }
      }),
    );
  });

  it('counts backoff between tries as waiting, time between attempts as overhead, overlapping attempts once', () => {
    const exchange = exchangeOf();
    exchange.attempts.push(
      attemptOf({ tries: [tryOf(10, 20), tryOf(120, 130)], error: upstream('overloaded') }),
      attemptOf({ number: 1, tries: [tryOf(140, 200)], error: upstream('overloaded') }),
      attemptOf({ number: 2, tries: [tryOf(150, 300)], reply: replyOf(false) }),
    );
    expect(recordOf(exchange, endOf(), 300).overheadMs).toBe(300 - (130 - 10) - (300 - 140));
  });

  it('ends an attempt that was refused before it was sent where the next one begins', () => {
    const exchange = exchangeOf();
    const at = exchange.startedAt;
    exchange.attempts.push(
      attemptOf({ startedAt: at + 10, tries: [], error: upstream('limit_requests') }),
      attemptOf({ number: 1, startedAt: at + 15, tries: [tryOf(at + 20, at + 300)], reply: replyOf(false) }),
    );
    const { attempts } = recordOf(exchange, endOf(), at + 300);
    expect(attempts.map(({ durationMs }) => durationMs)).toEqual([5, 285]);
  });

  it.each([
    ['and shares the reply', { cache: 'shared', wait: { from: 10, to: 200 } }, 210, 20],
    [
      'and then sends its own request',
      { cache: 'miss', wait: { from: 10, to: 100 }, tries: [tryOf(105, 200)] },
      210,
      25,
    ],
  ] as const)('counts as waiting that a request waits for another’s answer %s', (_, parts, endedAt, overheadMs) => {
    const exchange = exchangeOf();
    exchange.attempts.push(
      attemptOf({ ...parts, tries: 'tries' in parts ? [...parts.tries] : [], reply: replyOf(false) }),
    );
    expect(recordOf(exchange, endOf(), endedAt)).toMatchObject({ overheadMs, cache: parts.cache });
  });

  it('has the stage `waiting` for a client that disconnected while it waited for another request', () => {
    const exchange = exchangeOf();
    exchange.attempts.push(attemptOf({ cache: 'miss', wait: { from: 10, to: 50 } }));
    const end = endOf({ state: 'aborted', bytes: 0 });
    expect(recordOf(exchange, end, 50)).toMatchObject({ disconnectStage: 'waiting', rejection: undefined });
  });

  it.each([
    ['complete', endOf(), { status: 200, outcomeStatus: 200, outcome: 'success', errorType: '' }],
    [
      'refused',
      endOf({ state: 'failed', status: 401, error: new GatewayError('invalid_api_key', 'no') }),
      { status: 401, outcomeStatus: 401, outcome: 'error', errorType: 'auth', rejection: 'auth' },
    ],
    [
      'interrupted after its 200',
      endOf({ state: 'failed', status: 200, error: upstream('stream_interrupted') }),
      { status: 200, outcomeStatus: 502, outcome: 'error', errorType: 'network', rejection: undefined },
    ],
    [
      'abandoned by its client',
      endOf({ state: 'aborted', status: 200 }),
      {
        status: 499,
        outcomeStatus: 499,
        outcome: 'aborted',
        errorCode: 'client_closed',
        errorType: 'client_disconnected',
      },
    ],
  ] as const)('of a request that is %s has status, outcome and error', (_, end, expected) => {
    expect(recordOf(exchangeOf(), end, 10)).toMatchObject(expected);
  });

  it.each([
    ['queued', [], 0],
    ['waiting', [tryOf(1, undefined)], 0],
    ['streaming', [tryOf(1, undefined)], 20],
  ] as const)('says that a client left while %s', (stage, tries, bytes) => {
    const exchange = exchangeOf();
    exchange.attempts.push(attemptOf({ tries: [...tries] }));
    const record = recordOf(exchange, endOf({ state: 'aborted', bytes }), 50);
    expect(record.disconnectStage).toBe(stage);
    expect(record.attempts[0]).toMatchObject({
      outcome: 'aborted',
      errorType: 'client_disconnected',
      durationMs: 48,
      counted: tries.length > 0,
    });
  });

  it('attributes an interrupted stream to the last attempt and its last try', () => {
    const exchange = streamedExchange();
    const { attempts } = recordOf(exchange, endOf({ state: 'failed', error: upstream('timeout_idle') }), 1305);
    expect(attempts[0]).toMatchObject({ outcome: 'error', errorType: 'timeout_idle' });
    expect(attempts[0]?.tries).toMatchObject([{ outcome: 'error', errorType: 'timeout_idle' }]);
  });

  it('does not attribute a plugin’s failure to the upstream', () => {
    const exchange = streamedExchange();
    exchange.error = new GatewayError('internal_error', 'plugin');
    const { attempts, errorType } = recordOf(
      exchange,
      endOf({ state: 'failed', status: 500, error: exchange.error }),
      1305,
    );
    expect(errorType).toBe('other');
    expect(attempts[0]).toMatchObject({ outcome: 'success', errorType: '' });
  });

  it.each([
    ['by the drain', new GatewayError('shutting_down', 'stop'), 'shutdown'],
    ['for a client that does not read', new GatewayError('timeout_request', 'late'), 'timeout_request'],
  ])(
    'of a stream that the gateway ends %s is neither a success nor a failure of the upstream',
    (_, error, errorType) => {
      const exchange = streamedExchange();
      exchange.attempts[0]!.signals!.ended = false;
      const record = recordOf(exchange, endOf({ state: 'failed', error }), 1305);
      expect(record).toMatchObject({ state: 'failed', outcome: 'error', errorType });
      expect(record.attempts[0]).toMatchObject({
        outcome: 'aborted',
        errorType,
        tries: [{ outcome: 'aborted', errorType }],
      });
      // A completely received reply is a success, even if the client did not read it.
      exchange.attempts[0]!.signals!.ended = true;
      expect(recordOf(exchange, endOf({ state: 'failed', error }), 1305).attempts[0]).toMatchObject({
        outcome: 'success',
      });
    },
  );

  it('is aborted for an attempt that the drain ends before it has answered', () => {
    const exchange = exchangeOf();
    const error = new GatewayError('shutting_down', 'stop');
    exchange.attempts.push(attemptOf({ tries: [tryOf(1, 2, { error })], error }));
    expect(recordOf(exchange, endOf({ state: 'failed', status: 503, error }), 10).attempts[0]).toMatchObject({
      outcome: 'aborted',
      answered: false,
      tries: [{ outcome: 'aborted' }],
    });
  });

  it('is an error for an attempt that ran until the request’s deadline, because the upstream was too slow', () => {
    const exchange = streamedExchange();
    const { attempts } = recordOf(exchange, endOf({ state: 'failed', error: upstream('timeout_request') }), 1305);
    expect(attempts[0]).toMatchObject({ outcome: 'error', errorType: 'timeout_request' });
  });

  it('marks the attempt that answered: the last one, if it produced a reply', () => {
    const exchange = exchangeOf();
    exchange.attempts.push(
      attemptOf({ tries: [tryOf(1, 2)], error: upstream('stream_interrupted') }),
      attemptOf({ number: 1, tries: [tryOf(3, 4)], reply: replyOf(true) }),
    );
    const answered = (end: RecordEnd) => recordOf(exchange, end, 10).attempts.map((attempt) => attempt.answered);
    expect(answered(endOf())).toEqual([false, true]);
    expect(answered(endOf({ state: 'failed', error: upstream('timeout_idle') }))).toEqual([false, true]);
    exchange.attempts.pop();
    exchange.attempts[0]!.tries[0]!.firstContentAt = 2;
    const lost = endOf({ state: 'failed', status: 502, error: upstream('stream_interrupted') });
    expect(answered(lost)).toEqual([false]);
    expect(recordOf(exchange, lost, 10).firstContentMs, 'no content of the reply').toBeUndefined();
  });

  it.each([
    [401, 'auth'],
    [403, 'permission'],
    [404, 'not_found'],
    [418, 'invalid_request'],
    [429, 'rate_limited'],
    [503, 'overloaded'],
    [500, 'server_error'],
  ])('reads a try that was refused with %s and repeated at once as %s', (status, errorType) => {
    const exchange = exchangeOf();
    exchange.attempts.push(attemptOf({ tries: [tryOf(1, 2, { status }), tryOf(3, 4)], reply: replyOf(false) }));
    expect(recordOf(exchange, endOf(), 5).attempts[0]?.tries).toMatchObject([
      { outcome: 'error', errorType },
      { outcome: 'success', errorType: '' },
    ]);
  });

  it('is a rejection only while no upstream was tried', () => {
    const exchange = exchangeOf();
    const end = endOf({ state: 'failed', status: 404, error: upstream('model_not_found') });
    expect(recordOf(exchange, end, 10).rejection).toBe('routing');
    exchange.attempts.push(attemptOf({ tries: [tryOf(1, 2, { status: 404 })], error: upstream('model_not_found') }));
    expect(recordOf(exchange, end, 10).rejection).toBeUndefined();
  });

  it.each([
    ['credentials_failed', true],
    ['egress_refused', true],
    ['unsupported_parameter', false],
    ['model_not_allowed', false],
  ] as const)('of an attempt that ended with %s before any try: upstream attempt %s', (code, counted) => {
    const exchange = exchangeOf();
    exchange.attempts.push(attemptOf({ error: new GatewayError(code, 'no') }));
    const end = endOf({ state: 'failed', status: 502, error: exchange.attempts[0]!.error });
    expect(recordOf(exchange, end, 10).attempts[0]?.counted).toBe(counted);
  });

  it('marks a requested stream even when an error was sent in its place', () => {
    const exchange = exchangeOf({ json: { model: 'm', stream: true }, reply: replyOf(false) });
    expect(
      recordOf(exchange, endOf({ state: 'failed', status: 400, error: upstream('upstream_rejected') }), 10).stream,
    ).toBe(true);
  });
});
