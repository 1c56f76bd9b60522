import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { UpstreamFailure } from '../events.ts';
import type { ClientError } from '../client-error.ts';
import { openaiChat } from './index.ts';

const { decodeError, encodeError, encodeStreamError } = openaiChat;

describe('decodeError', () => {
  it.each<[string, number, string, Partial<UpstreamFailure>]>([
    [
      'OpenAI’s object',
      400,
      '{"error":{"message":"Bad.","type":"invalid_request_error","param":"n","code":"invalid_value"}}',
      { message: 'Bad.', kind: 'invalid_request_error', param: 'n', code: 'invalid_value' },
    ],
    ['nulls', 401, '{"error":{"message":"No.","type":"t","param":null,"code":null}}', { message: 'No.', kind: 't' }],
    ['a bare text', 500, '{"error":"boom"}', { message: 'boom' }],
    ['a message at the top', 422, '{"message":"boom","type":"t"}', { message: 'boom', kind: 't' }],
    ['FastAPI’s detail', 404, '{"detail":"Not Found"}', { message: 'Not Found' }],
    ['a list of details', 422, '{"detail":[{"msg":"x"}]}', { message: '{"detail":[{"msg":"x"}]}' }],
    [
      'Google’s list of one',
      429,
      '[{"error":{"code":429,"message":"Quota.","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"3.5s"}]}}]',
      { message: 'Quota.', kind: 'RESOURCE_EXHAUSTED', retryAfterMs: 3500 },
    ],
    [
      'an object without a message',
      500,
      '{"error":{"type":"server_error"}}',
      { message: 'server_error', kind: 'server_error' },
    ],
    [
      'Azure’s filter',
      400,
      '{"error":{"message":"Filtered.","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{}}}}',
      { message: 'Filtered.', param: 'prompt', code: 'content_filter' },
    ],
    [
      'Azure’s filter behind a number',
      400,
      '{"error":{"message":"Filtered.","code":"400","innererror":{"code":"ResponsibleAIPolicyViolation"}}}',
      { message: 'Filtered.', code: 'content_filter' },
    ],
    [
      'Azure’s filter of images',
      400,
      '{"error":{"message":"Filtered.","code":"content_policy_violation","inner_error":{"code":"ResponsibleAIPolicyViolation"}}}',
      { message: 'Filtered.', code: 'content_policy_violation' },
    ],
    ['an empty object', 500, '{"error":{}}', { message: '{}' }],
    ['HTML', 502, '<html>Bad Gateway</html>\n', { message: '<html>Bad Gateway</html>' }],
    ['cut JSON', 500, '{"error":{"mess', { message: '{"error":{"mess' }],
    ['nothing', 503, '', { message: 'The upstream answered 503 without a message.' }],
    ['space', 503, ' \r\n ', { message: 'The upstream answered 503 without a message.' }],
    ['an empty list', 500, '[]', { message: '[]' }],
    ['a number', 500, '7', { message: '7' }],
    ['null', 500, 'null', { message: 'null' }],
  ])('reads %s, and keeps the status', (_title, status, text, expected) => {
    expect(decodeError(status, text)).toEqual({ status, ...expected });
  });

  it('limits the shown part of a page, at a whole character', () => {
    const { message } = decodeError(500, '🙂'.repeat(10_000));
    expect(message.length).toBeLessThanOrEqual(1024);
    expect(message.isWellFormed()).toBe(true);
    expect(decodeError(500, `x${'🙂'.repeat(10_000)}`).message.isWellFormed()).toBe(true);
  });

  it('reads nested lists that are deeper than the stack', () => {
    const depth = 200_000;
    expect(decodeError(500, '['.repeat(depth) + ']'.repeat(depth)).message).toMatch(/^\[+$/);
  });

  it('always has a message and the status, for any body', () => {
    const body = fc.oneof(
      fc.string(),
      fc.json(),
      fc.jsonValue().map((value) => JSON.stringify({ error: value })),
    );
    fc.assert(
      fc.property(body, (text) => {
        const failure = decodeError(418, text);
        expect(failure.status).toBe(418);
        expect(failure.message).not.toBe('');
      }),
    );
  });
});

describe('errors for the client', () => {
  const error: ClientError = {
    status: 400,
    message: 'A "bad" value.',
    type: 'invalid_request_error',
    code: null,
    param: 'n',
    requestId: 'r',
  };

  it('have all four keys', () => {
    expect(encodeError(error)).toEqual({
      status: 400,
      body: { error: { message: 'A "bad" value.', type: 'invalid_request_error', param: 'n', code: null } },
    });
  });

  it.each([
    [529, 503],
    [503, 503],
    [502, 502],
    [429, 429],
  ])('answer %i with %i', (status, expected) => expect(encodeError({ ...error, status }).status).toBe(expected));

  it('end a stream as one event, read as an error by this format', () => {
    const text = encodeStreamError(error);
    expect(text).toBe(
      'data: {"error":{"message":"A \\"bad\\" value.","type":"invalid_request_error","param":"n","code":null}}\n\n',
    );
    const decoder = openaiChat.decodeStream({ model: 'm', newCallId: () => '' });
    expect(decoder.push(Buffer.from(text))).toEqual([
      { type: 'error', failure: { status: 400, message: error.message, kind: error.type, param: 'n' } },
    ]);
    expect(decoder.end()).toEqual([]);
  });
});
