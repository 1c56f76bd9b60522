import { describe, expect, it } from 'vitest';
import { hasCorpus, recorded } from './corpus.testkit.ts';
import { anthropicMessages as format } from './index.ts';
import { isObject, objectOf } from '../json/object.ts';

describe('decodeError', () => {
  it.each([
    [
      529,
      '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}',
      { status: 529, message: 'Overloaded', kind: 'overloaded_error' },
    ],
    [
      400,
      '{"type":"error","error":{"type":"invalid_request_error","message":"m","details":{"error_code":"thread_not_found"}}}',
      { status: 400, message: 'm', kind: 'invalid_request_error', code: 'thread_not_found' },
    ],
    [
      429,
      '[{"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"x"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1.5s"}]}}]',
      { status: 429, message: 'Quota', kind: 'RESOURCE_EXHAUSTED', retryAfterMs: 1500 },
    ],
    [
      404,
      '{"error":{"code":404,"message":"no model","status":"NOT_FOUND"}}',
      { status: 404, message: 'no model', kind: 'NOT_FOUND' },
    ],
    [500, '{"error":"plain"}', { status: 500, message: 'plain' }],
    [503, '{"message":"proxy"}', { status: 503, message: 'proxy' }],
    [502, '<html>Bad gateway</html>', { status: 502, message: '<html>Bad gateway</html>' }],
    [500, '', { status: 500, message: 'The upstream answered HTTP 500 without a message.' }],
    [
      500,
      '{"type":"error","error":{"type":"api_error"}}',
      { status: 500, message: 'The upstream reported api_error.', kind: 'api_error' },
    ],
    [500, '{}', { status: 500, message: '{}' }],
    [500, 'null', { status: 500, message: 'null' }],
  ])('reads %i %s', (status, text, failure) => {
    expect(format.decodeError(status, text)).toEqual(failure);
  });

  it('reads OAuth’s error for a refused token', () => {
    const text = '{"error":"invalid_grant","error_description":"Token has been expired or revoked."}';
    expect(format.decodeError(401, text)).toEqual({ status: 401, message: 'Token has been expired or revoked.' });
  });

  it.each([
    ['0.0001s', 1],
    ['34.074024224s', 34075],
    [{ seconds: 3, nanos: 1 }, 3001],
    [{ seconds: '3' }, 3000],
    [{ nanos: 500_000_000 }, 500],
    [{}, undefined],
    ['soon', undefined],
  ])('rounds a wait of %j up to %s ms', (retryDelay, expected) => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay }];
    const text = JSON.stringify({ error: { code: 429, message: 'm', status: 'RESOURCE_EXHAUSTED', details } });
    expect(format.decodeError(429, text).retryAfterMs).toBe(expected);
  });

  it('cuts a page to 1 KB', () => {
    expect(format.decodeError(502, 'x'.repeat(5000)).message).toHaveLength(1024);
  });

  it.skipIf(!hasCorpus)('keeps the message and status of every recorded error', () => {
    const failed = recorded('anthropic', 'vertex-anthropic', 'anthropic-other').filter(
      (record) => record.response_status >= 400,
    );
    for (const { response_status: status, response_body: body } of failed) {
      const message = isObject(body) ? objectOf(body.error)?.message : undefined;
      expect(format.decodeError(status, JSON.stringify(body))).toMatchObject({ status, message });
    }
    expect(failed.length).toBeGreaterThan(0);
  });
});

describe('encodeError', () => {
  const error = {
    status: 404,
    message: 'No such model.',
    type: 'not_found_error',
    code: null,
    param: null,
    requestId: 'req_1',
  };

  it('writes the body of B7', () => {
    expect(format.encodeError(error)).toEqual({
      status: 404,
      body: {
        type: 'error',
        error: { type: 'not_found_error', message: 'No such model.' },
        request_id: 'req_1',
      },
    });
  });

  it.each([
    ['invalid_request_error', 400, 'invalid_request_error'],
    ['invalid_request_error', 404, 'not_found_error'],
    ['invalid_request_error', 409, 'conflict_error'],
    ['invalid_request_error', 413, 'request_too_large'],
    ['server_error', 503, 'overloaded_error'],
    ['server_error', 502, 'api_error'],
    ['insufficient_quota', 402, 'billing_error'],
    ['server_error', 504, 'timeout_error'],
    ['invalid_request_error', 422, 'invalid_request_error'],
    ['words_of_another_api', 418, 'invalid_request_error'],
  ])('maps %s with %i to Anthropic’s type %s', (type, status, expected) => {
    expect(format.encodeError({ ...error, type, status }).body).toMatchObject({ error: { type: expected } });
  });

  it.each([
    ['server_error', 503, 'overloaded', 529],
    ['overloaded_error', 503, null, 529],
    ['server_error', 529, 'overloaded', 529],
    ['server_error', 503, null, 503],
    ['server_error', 502, 'overloaded', 502],
    ['rate_limit_error', 429, 'rate_limit_exceeded', 429],
  ])('answers %s, %i, %s with status %i', (type, status, code, expected) => {
    expect(format.encodeError({ ...error, type, status, code }).status).toBe(expected);
  });

  it('names the code and the parameter in the details, and writes the same as a stream event', () => {
    const detailed = { ...error, code: 'invalid_value', param: 'n' };
    const { body } = format.encodeError(detailed);
    expect(body).toMatchObject({ error: { details: { error_code: 'invalid_value', param: 'n' } } });
    expect(format.encodeStreamError(detailed)).toBe(`event: error\ndata: ${JSON.stringify(body)}\n\n`);
  });
});
