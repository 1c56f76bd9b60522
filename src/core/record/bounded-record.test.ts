import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Loss } from '../../formats/conversation.ts';
import { GatewayError, UpstreamError } from '../../plugin/index.ts';
import type { Attempt, Exchange } from '../kernel/index.ts';
import { createCaller, createConfig, createTarget } from '../../plugin/testing/index.ts';
import { boundRecord, MAX_RECORD_BYTES } from './bounded-record.ts';
import { MAX_TEXT } from './cut.ts';
import { attemptOf, endOf, exchangeOf, signalsOf, streamedExchange, tryOf, vertex, WALL } from './exchange.testkit.ts';
import { recordOf } from './make-record.ts';
import { recordJson, recordLine } from './json.ts';
import type { RequestRecord } from './record.ts';
import { runs } from '../../../test/support/effort.ts';

const record = (exchange: Exchange): RequestRecord => recordOf(exchange, endOf(), { endedAt: 5000, receivedAt: WALL });

/** The worst input of a caller or an upstream: long, and of characters that take six bytes each in JSON. */
const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 400 }),
  fc.constantFrom('\u0000', '\ud800', '"', '\\', '漢', '😀', 'a', '‮').map((unit) => unit.repeat(3000)),
);
const manyTimes = fc.constantFrom(0, 1, 3, 30, 300);

const loss = hostile.map((param): Loss => ({ param, action: 'dropped', reason: '' }));

const attempt: fc.Arbitrary<Attempt> = fc
  .record({ text: hostile, tries: manyTimes, losses: manyTimes, files: manyTimes, one: loss, fails: fc.boolean() })
  .map(({ text, tries, losses, files, one, fails }) =>
    attemptOf({
      target: createTarget({ path: `config.targets[0]${text}` }),
      resolved: { ...vertex, model: text, path: `/${text}?key=canary` },
      tries: Array.from({ length: tries }, (_, index) => tryOf(index, index + 1, { status: 503 })),
      losses: Array.from({ length: losses }, () => one),
      storedFiles: Array.from({ length: files }, (_, index) => ({
        id: `file-gh${String(index).padStart(32, '0')}`,
        bytes: Number.MAX_SAFE_INTEGER,
        mime: text,
        param: text,
        way: 'uri',
        uri: text,
      })),
      signals: signalsOf({ model: text, usage: { input: 1, output: 1, total: 2 } }),
      ...(fails && {
        error: new UpstreamError('overloaded', text, {
          upstreamKind: text,
          upstreamReport: { message: text, param: text, code: text },
          retryAfterMs: 5,
        }),
      }),
    }),
  );

const exchange: fc.Arbitrary<Exchange> = fc
  .record({ text: hostile, attempts: fc.array(attempt, { maxLength: 40 }), skipped: manyTimes })
  .map(({ text, attempts, skipped }) => {
    const made = exchangeOf({
      headers: { 'user-agent': text },
      caller: createCaller({ keyId: 'team' }),
      config: createConfig({ id: 'prod' }),
      error: new GatewayError('invalid_json', text),
      skipped: Array.from({ length: skipped }, () => ({
        target: createTarget({ path: text }),
        reason: 'circuit_open' as const,
        after: 0,
      })),
    });
    made.attempts.push(...attempts);
    return { ...made, request: { ...made.request, method: text, path: text } };
  });

const bytesOf = (value: object): number => Buffer.byteLength(JSON.stringify(value));

describe('a bounded record', () => {
  it('is plain JSON of bounded size for any input', () => {
    fc.assert(
      fc.property(exchange, (one) => {
        const bounded = boundRecord(record(one));
        const json = recordJson(bounded);
        for (const value of [bounded, json, recordLine(json)])
          expect(bytesOf(value)).toBeLessThanOrEqual(MAX_RECORD_BYTES);
        expect(JSON.stringify(json)).not.toContain('canary');
      }),
      { numRuns: runs(60) },
    );
  });

  it('counts the omitted items, and contains the first and the last attempt', () => {
    fc.assert(
      fc.property(exchange, (one) => {
        const whole = record(one);
        const bounded = boundRecord(whole);
        const { leftOut = { attempts: 0, tries: 0, losses: 0, skipped: 0 } } = bounded;
        expect(bounded.attempts.length + leftOut.attempts).toBe(whole.attempts.length);
        expect(bounded.skipped.length + leftOut.skipped).toBe(whole.skipped.length);
        expect(bounded.attempts.at(-1)?.startedMs).toBe(whole.attempts.at(-1)?.startedMs);
        expect(bounded.attempts.length).toBeLessThanOrEqual(20);
      }),
      { numRuns: runs(60) },
    );
  });

  it('lists at most twenty items of any list, the first and the last ones', () => {
    const one = exchangeOf();
    one.attempts.push(
      ...Array.from({ length: 30 }, (_, number) => attemptOf({ number })),
      attemptOf({ number: 30, tries: Array.from({ length: 25 }, (_, at) => tryOf(at, at + 1, { status: 500 + at })) }),
    );
    const bounded = boundRecord(record(one));
    expect(bounded.attempts.map(({ number }) => number)).toEqual([
      ...Array.from({ length: 10 }, (_, index) => index),
      ...Array.from({ length: 10 }, (_, index) => 21 + index),
    ]);
    const statuses = bounded.attempts.at(-1)!.tries.map(({ status }) => status);
    expect([statuses.length, statuses[9], statuses[10]]).toEqual([20, 509, 515]);
    expect(bounded.leftOut).toEqual({ attempts: 11, tries: 5, losses: 0, files: 0, skipped: 0 });
  });

  it('lists at most twenty stored files, each once', () => {
    const one = exchangeOf();
    const storedFiles = Array.from({ length: 50 }, (_, at) => ({
      id: `file-gh${at % 25}`,
      bytes: at,
      mime: 'image/png',
      param: `messages[0].content[${at}]`,
      way: 'inline' as const,
      uri: undefined,
    }));
    one.attempts.push(attemptOf({ storedFiles }));
    const bounded = boundRecord(record(one));
    expect(bounded.attempts[0]!.files.length).toBe(20);
    expect(bounded.leftOut).toMatchObject({ files: 5 });
  });

  it('counts unnamed losses among the omitted ones', () => {
    const one = exchangeOf();
    const named = Array.from({ length: 100 }, (_, at): Loss => ({ param: `k${at}`, action: 'dropped', reason: '' }));
    const further: Loss = { param: '(+99900 more)', action: 'dropped', reason: '', count: 99_900 };
    one.attempts.push(attemptOf({ losses: [...named, further] }));
    expect(boundRecord(record(one)).leftOut).toMatchObject({ losses: 99_980 });
  });

  it('is the same object for a small record', () => {
    const whole = record(streamedExchange());
    expect(boundRecord(whole)).toBe(whole);
  });

  it('has truncated texts without control characters', () => {
    const one = exchangeOf();
    const path = `/\u001b[2J\u202e${'p'.repeat(5000)}`;
    const cut = record({ ...one, request: { ...one.request, path } }).path;
    expect(cut.length).toBe(MAX_TEXT + 1);
    expect(cut.startsWith('/\ufffd[2J\ufffdppp')).toBe(true);
    expect(cut.endsWith('p…')).toBe(true);
  });
});
