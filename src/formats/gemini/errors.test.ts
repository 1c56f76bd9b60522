import { describe, expect, it } from 'vitest';
import type { ClientError } from '../client-error.ts';
import { decodeError, decodeInnerFailure, encodeError, encodeStreamError } from './errors.ts';

const google = (error: object) => JSON.stringify({ error });
const retry = (retryDelay: unknown) => [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay }];

describe('errors of the upstream', () => {
  it('keep status, status word and message', () => {
    expect(decodeError(429, google({ code: 429, message: 'Quota.', status: 'RESOURCE_EXHAUSTED' }))).toEqual({
      status: 429,
      message: 'Quota.',
      kind: 'RESOURCE_EXHAUSTED',
    });
  });

  it('may come as an array of one', () => {
    const text = `[${google({ code: 404, message: 'Gone.', status: 'NOT_FOUND' })}]`;
    expect(decodeError(404, text)).toEqual({ status: 404, message: 'Gone.', kind: 'NOT_FOUND' });
  });

  it.each([
    ['3s', 3000],
    ['0.5s', 500],
    ['34.074824224s', 34075],
    ['34.074024224s', 34075],
    ['0.0001s', 1],
    [{ seconds: '2', nanos: 500000000 }, 2500],
    ['soon', undefined],
    [7, undefined],
  ])('a retry delay of %j is %s ms', (delay, expected) => {
    expect(decodeError(429, google({ message: 'm', details: retry(delay) })).retryAfterMs).toBe(expected);
  });

  it('ignore a type that is not text', () => {
    const details = [{ '@type': { toString: 1 }, reason: 'X' }];
    expect(decodeError(400, google({ message: 'm', details }))).toEqual({ status: 400, message: 'm' });
  });

  it('have the reason code and the field', () => {
    const details = [
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' },
      { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [{ field: 'contents[0].role' }] },
    ];
    expect(decodeError(400, google({ message: 'm', details }))).toMatchObject({
      code: 'API_KEY_INVALID',
      param: 'contents[0].role',
    });
  });

  it('in HTML become text of at most 1 KB, cut at a whole character', () => {
    const { status, message } = decodeError(502, `<html>${'é'.repeat(2000)}`);
    expect(status).toBe(502);
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(1024);
    expect(message).toMatch(/^<html>é+$/);
  });

  it.each(['', '   ', '{}', '[]', 'null', '{"error":{}}', '{"error":{"message":""}}', '{"error":[]}'])(
    '%j still has a message',
    (text) => {
      expect(decodeError(503, text).message).not.toBe('');
    },
  );

  it('of the token server have their own shape', () => {
    expect(decodeError(400, '{"error":"invalid_grant","error_description":"Bad."}')).toEqual({
      status: 400,
      kind: 'invalid_grant',
      message: 'Bad.',
    });
    expect(decodeError(500, '{"message":"Oops."}')).toEqual({ status: 500, message: 'Oops.' });
  });

  it.each([
    [{ code: 503, message: 'm', status: 'UNAVAILABLE' }, 503],
    [{ message: 'm', status: 'DEADLINE_EXCEEDED' }, 504],
    [{ message: 'm', status: 'CANCELLED' }, 499],
    [{ code: 14, message: 'm' }, 502],
  ])('in a stream, %j means status %i', (error, status) => {
    expect(decodeInnerFailure(error).status).toBe(status);
  });
});

describe('errors for the client', () => {
  const error: ClientError = {
    status: 400,
    message: 'No.',
    type: 'invalid_request_error',
    code: 'invalid_value',
    param: 'tools',
    requestId: 'r',
  };

  it('have Google’s shape and decode to the same errors', () => {
    const { status, body } = encodeError(error);
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { code: 400, message: 'No.', status: 'INVALID_ARGUMENT' } });
    expect(decodeError(400, JSON.stringify(body))).toEqual({
      status: 400,
      message: 'No.',
      kind: 'INVALID_ARGUMENT',
      code: 'invalid_value',
      param: 'tools',
      details: [expect.anything(), expect.anything()],
    });
  });

  it.each([
    [401, 'UNAUTHENTICATED'],
    [402, 'INVALID_ARGUMENT'],
    [429, 'RESOURCE_EXHAUSTED'],
    [502, 'UNAVAILABLE'],
    [503, 'UNAVAILABLE'],
    [504, 'DEADLINE_EXCEEDED'],
  ])('status %i is %s', (status, word) => {
    expect(encodeError({ ...error, status, code: null, param: null })).toEqual({
      status,
      body: { error: { code: status, message: 'No.', status: word } },
    });
  });

  const google = (name: string, fields: object) => ({ '@type': `type.googleapis.com/google.rpc.${name}`, ...fields });

  it.each([429, 503, 529])('have the wait of an upstream after %i, as Google writes it', (status) => {
    const { body } = encodeError({ ...error, status, code: null, param: null, retryAfterMs: 1500 });
    expect(body['error']).toMatchObject({ details: [google('RetryInfo', { retryDelay: '1.5s' })] });
  });

  it('have no wait after a status after which clients do not wait', () => {
    const { body } = encodeError({ ...error, status: 500, code: null, param: null, retryAfterMs: 1500 });
    expect(body['error']).not.toHaveProperty('details');
  });

  it('keep Google’s own details before the gateway’s, without a second wait', () => {
    const quota = google('QuotaFailure', { violations: [{ quotaId: 'PerDay-FreeTier', quotaMetric: 'm' }] });
    const wait = google('RetryInfo', { retryDelay: '34s' });
    const own = { error: { code: 429, message: 'm', status: 'RESOURCE_EXHAUSTED', details: [quota, wait] } };
    const { details, retryAfterMs } = decodeError(429, JSON.stringify(own));
    const client = { ...error, status: 429, code: 'rate_limit_exceeded', param: null, retryAfterMs: retryAfterMs! };
    const { body } = encodeError({ ...client, upstreamDetails: details! });
    expect(body['error']).toMatchObject({
      details: [quota, wait, google('ErrorInfo', { reason: 'rate_limit_exceeded', domain: 'gatehouse' })],
    });
  });

  it.each<[string, unknown, unknown]>([
    [
      'of the server alone',
      [google('DebugInfo', { detail: 'stack' }), google('RequestInfo', { requestId: 'x' })],
      undefined,
    ],
    [
      'of the account',
      [google('ErrorInfo', { reason: 'R', metadata: { consumer: 'projects/x', containerInfo: '7', service: 's' } })],
      [google('ErrorInfo', { reason: 'R', metadata: { service: 's' } })],
    ],
    ['without a type', [{ a: 1 }, 7, 'x', null], undefined],
    ['of no list', 7, undefined],
    ['that are too large', [google('Help', { links: ['x'.repeat(9000)] })], undefined],
    [
      'that are too deep',
      `[${JSON.stringify(google('Help', {})).slice(0, -1)},"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}]`,
      undefined,
    ],
  ])('leave out details %s', (_, details, read) => {
    const text = typeof details === 'string' ? details : JSON.stringify(details);
    expect(decodeError(429, `{"error":{"code":429,"message":"m","details":${text}}}`).details).toEqual(read);
  });

  it('send Anthropic’s 529 as Google’s overload', () => {
    expect(encodeError({ ...error, status: 529, code: null, param: null })).toEqual({
      status: 503,
      body: { error: { code: 503, message: 'No.', status: 'UNAVAILABLE' } },
    });
  });

  it('end a stream as its last event', () => {
    expect(encodeStreamError(error)).toBe(`data: ${JSON.stringify(encodeError(error).body)}\r\n\r\n`);
  });
});
