import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { UpstreamFailure } from '../../formats/events.ts';
import { ERRORS, UpstreamError } from '../../plugin/index.ts';
import { readRetryAfter, toUpstreamError } from './upstream-error.ts';

const failure = (status: number, kind?: string, more: Partial<UpstreamFailure> = {}): UpstreamFailure => ({
  status,
  message: 'what the provider said',
  ...(kind && { kind }),
  ...more,
});

describe('a failure of the provider', () => {
  it.each<[number, string | undefined, string, number, boolean]>([
    [400, 'INVALID_ARGUMENT', 'upstream_rejected', 400, false],
    [400, 'FAILED_PRECONDITION', 'upstream_rejected', 400, false],
    [400, 'invalid_request_error', 'upstream_rejected', 400, false],
    [401, 'UNAUTHENTICATED', 'invalid_api_key', 401, false],
    [401, 'invalid_request_error', 'invalid_api_key', 401, false],
    [402, 'billing_error', 'insufficient_quota', 402, false],
    [403, 'permission_error', 'upstream_permission', 403, false],
    [404, 'NOT_FOUND', 'model_not_found', 404, false],
    [408, undefined, 'upstream_error', 408, true],
    [409, 'ABORTED', 'upstream_conflict', 409, true],
    [413, 'request_too_large', 'request_too_large', 413, false],
    [422, undefined, 'upstream_rejected', 422, false],
    [429, 'RESOURCE_EXHAUSTED', 'rate_limit_exceeded', 429, true],
    [429, 'rate_limit_error', 'rate_limit_exceeded', 429, true],
    [429, 'insufficient_quota', 'insufficient_quota', 429, false],
    [499, 'CANCELLED', 'upstream_error', 499, true],
    [500, 'INTERNAL', 'upstream_error', 500, true],
    [500, 'api_error', 'upstream_error', 500, true],
    [502, undefined, 'upstream_error', 502, true],
    [503, 'UNAVAILABLE', 'overloaded', 503, true],
    [504, 'DEADLINE_EXCEEDED', 'timeout', 504, true],
    [524, undefined, 'upstream_error', 524, true],
    [529, 'overloaded_error', 'overloaded', 529, true],
    // Without an error status: the kind decides, or else it is a 502.
    [200, 'overloaded_error', 'overloaded', 529, true],
    [200, 'RESOURCE_EXHAUSTED', 'rate_limit_exceeded', 429, true],
    [200, 'something new', 'upstream_error', 502, true],
    [0, undefined, 'upstream_error', 502, true],
    // Kinds of the gateway's own readers.
    [502, 'stream_interrupted', 'stream_interrupted', 502, true],
    [502, 'reply_too_large', 'reply_too_large', 502, false],
    [502, 'unreadable_reply', 'upstream_error', 502, true],
  ])('of HTTP %i, %s, is %s with status %i', (...[status, kind, code, expected, retryable]) => {
    const error = toUpstreamError(failure(status, kind));
    expect(error).toBeInstanceOf(UpstreamError);
    expect(error).toMatchObject({ code, status: expected, retryable, message: 'what the provider said' });
  });

  it.each(['stream_interrupted', 'reply_too_large', 'unreadable_reply'])(
    'with a kind of the gateway’s own (%s) has no upstream kind',
    (kind) => expect(toUpstreamError(failure(502, kind)).upstreamKind).toBeUndefined(),
  );

  it('keeps the provider’s kind, parameter and wait, and names the entry', () => {
    const error = toUpstreamError(failure(429, 'rate_limit_error', { param: 'messages', retryAfterMs: 3000 }), {
      provider: 'claude',
    });
    expect(error).toMatchObject({
      upstreamKind: 'rate_limit_error',
      param: 'messages',
      retryAfterMs: 3000,
      provider: 'claude',
    });
    expect(toUpstreamError(failure(429, 'x', { retryAfterMs: 3000 }), { retryAfterMs: 5000 }).retryAfterMs).toBe(5000);
  });

  it.each([
    ['content_policy_violation', 'content_filter', 'content_policy_violation'],
    ['content_filter', 'content_filter', 'content_filter'],
    ['ResponsibleAIPolicyViolation', 'content_filter', undefined],
    ['tool_use_failed', 'upstream_rejected', 'tool_use_failed'],
    ['429', 'upstream_rejected', undefined],
    ['DeploymentNotFound', 'upstream_rejected', undefined],
    ['RATE_LIMIT_EXCEEDED', 'upstream_rejected', undefined],
    [`x${'y'.repeat(64)}`, 'upstream_rejected', undefined],
  ])('keeps the provider’s code %s only in the form of OpenAI’s codes', (given, code, kept) => {
    expect(toUpstreamError(failure(400, 'invalid_request_error', { code: given }))).toMatchObject({
      code,
      upstreamCode: kept,
    });
  });

  it('of any shape becomes an error of the table with an error status', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -1, max: 1000 }),
        fc.string(),
        fc.option(fc.string(), { nil: undefined }),
        (status, message, kind) => {
          const error = toUpstreamError({ status, message, ...(kind !== undefined && { kind }) });
          expect(ERRORS).toHaveProperty(error.code);
          expect(error.status).toBeGreaterThanOrEqual(400);
          expect(error.status).toBeLessThan(600);
          expect(error.message).not.toBe('');
        },
      ),
    );
  });

  it.each([
    [{ status: 401, kind: 'authentication_error', message: 'Bad key sk-…abcd.' }, undefined],
    [{ status: 401, kind: 'invalid_request_error', message: 'Bad key sk-…abcd.', code: 'invalid_api_key' }, undefined],
    [{ status: 200, kind: 'UNAUTHENTICATED', message: 'Bad key sk-…abcd.' }, true],
  ])('of the entry’s own key names the entry and omits the upstream’s message: %j', (failure, inStream) => {
    const context = { provider: 'prod', shouldRetry: true, inStream };
    expect(toUpstreamError(failure, { ...context, credentials: 'entry' })).toMatchObject({
      code: 'upstream_credentials_refused',
      status: 401,
      clientStatus: 502,
      message: 'The upstream refused the credentials of the catalog entry @prod (401).',
      provider: 'prod',
      upstreamCode: undefined,
      upstreamKind: failure.kind,
      toCallersToken: false,
      shouldRetry: true,
      inStream: inStream ?? false,
    });
    expect(toUpstreamError(failure, { ...context, credentials: 'caller' })).toMatchObject({
      code: 'invalid_api_key',
      status: 401,
      clientStatus: 401,
      message: 'Bad key sk-…abcd.',
      toCallersToken: true,
    });
  });

  it('never contains a credential that was sent, nor a parameter of unlimited length', () => {
    const key = 'c0ffee0123456789';
    const said = { message: `no ${key}`, code: key, param: `${'x'.repeat(250)}${key}`, kind: `kind_${key}` };
    const error = toUpstreamError({ status: 400, ...said }, { secrets: [key] });
    expect(error).toMatchObject({ message: 'no [secret]', upstreamCode: undefined, upstreamKind: 'kind_[secret]' });
    expect(error.param).toBe(`${'x'.repeat(250)}[secre`);
    expect(JSON.stringify(error.upstreamReport)).not.toContain(key);
  });

  it.each(['', 'none', 'test', 'EMPTY', 'sk-1234'])(
    'keeps a message as it is where the credential was %j',
    (secret) => {
      const message = `the latest test model is none of these: ${secret}`;
      expect(toUpstreamError({ status: 400, message }, { secrets: [secret] }).message).toBe(message);
    },
  );

  it('reports the upstream in its own words, except for a refused credential, whose message may quote a part of it', () => {
    const said = { message: 'Not so.', code: 'DeploymentNotFound', param: 'model' };
    expect(toUpstreamError({ status: 404, ...said }).upstreamReport).toEqual(said);
    for (const credentials of ['entry', 'caller'] as const)
      expect(toUpstreamError({ status: 401, ...said }, { credentials }).upstreamReport).toEqual({
        code: 'DeploymentNotFound',
        param: 'model',
      });
    expect(toUpstreamError(failure(502, 'stream_interrupted')).upstreamReport).toBeUndefined();
    expect(toUpstreamError(failure(500, undefined, { message: '' })).upstreamReport).toEqual({});
  });

  it('without a message names the status', () => {
    expect(toUpstreamError(failure(500, undefined, { message: '' })).message).toBe('The upstream answered HTTP 500.');
  });
});

describe('the wait that an upstream requests', () => {
  const YEAR = 366 * 24 * 3600 * 1000;
  const now = Date.UTC(2026, 10, 21, 10, 0, 0);
  it.each<[string, Record<string, string>, number | undefined, number | undefined]>([
    ['in milliseconds', { 'retry-after-ms': '1500', 'retry-after': '9' }, undefined, 1500],
    ['in seconds', { 'retry-after': '7' }, undefined, 7000],
    ['in parts of a second', { 'retry-after': '0.25' }, undefined, 250],
    ['of zero', { 'retry-after': '0' }, undefined, 0],
    ['as an HTTP date', { 'retry-after': 'Sat, 21 Nov 2026 10:00:30 GMT' }, undefined, 30_000],
    ['as an obsolete date', { 'retry-after': 'Saturday, 21-Nov-26 10:01:00 GMT' }, undefined, 60_000],
    ['as a date that has passed', { 'retry-after': 'Sat, 21 Nov 2026 09:00:00 GMT' }, undefined, 0],
    ['in the body (Google)', {}, 3000, 3000],
    ['in both, the header counts', { 'retry-after': '1' }, 3000, 1000],
    ['not at all', {}, undefined, undefined],
    ['in an invalid form', { 'retry-after': 'soon', 'retry-after-ms': '-5' }, undefined, undefined],
    ['for longer than the limit', { 'retry-after': '9'.repeat(400) }, undefined, YEAR],
    ['for longer than a number can express', { 'retry-after-ms': '9'.repeat(30) }, undefined, YEAR],
    ['until the last possible date', { 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' }, undefined, YEAR],
    ['for too long in the body', {}, Infinity, YEAR],
    ['in a notation that headers do not have', { 'retry-after': '1e308' }, undefined, undefined],
    ['as a negative number', { 'retry-after': '-5' }, 3000, 3000],
  ])('%s', (_, headers, retryAfterMs, expected) => {
    const said = retryAfterMs === undefined ? undefined : failure(429, undefined, { retryAfterMs });
    expect(readRetryAfter(headers, said, now)).toBe(expected);
  });
});
