import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BadRequest, readRequest } from './explain-request.ts';

const CANARY = 'canary-0123456789';
const read = (text: string, headers: readonly string[] = [], rest: { method?: string; path?: string } = {}) => {
  const { body, ...request } = readRequest(text, 'r.json', { headers, ...rest });
  return { ...request, body: body.toString() };
};
const chat = { method: 'POST', path: '/v1/chat/completions' };
const json = { 'content-type': 'application/json' };

describe('a request file', () => {
  it.each([
    ['a body', '{"model":"@a/b","messages":[]}'],
    ['a body with a field named like a part of a request', '{"body":{},"model":"@a/b"}'],
    ['a body whose only field resembles a part of a request', '{"pat":"/a"}'],
    ['an empty body', '{}'],
    ['a body with numbers that JavaScript would round, and spaces', '{ "seed": 12345678901234567890, "a": 1.0 }\n'],
  ])('with %s is sent unchanged to the chat route', (_, text) => {
    expect(read(text)).toEqual({ ...chat, headers: json, body: text });
  });

  it('with only the fields method, path, headers and body is a whole request', () => {
    const text = '{"method":"get","path":"/v1/models?limit=1","headers":{"X-Gateway-Config":"prod"}}';
    expect(read(text)).toEqual({
      method: 'GET',
      path: '/v1/models?limit=1',
      headers: { 'x-gateway-config': 'prod' },
      body: '',
    });
  });

  it('keeps the body of a whole request unchanged', () => {
    const body = '{ "seed": 12345678901234567890,\n "n": 1.0 }';
    expect(read(`{"body": ${body} , "path": "/v1/messages"}`)).toMatchObject({ path: '/v1/messages', body });
    fc.assert(
      fc.property(fc.json(), (any) => {
        expect(JSON.parse(read(`{\n\t"path": "/", "body": ${any}}`).body)).toEqual(JSON.parse(any));
      }),
      { numRuns: 50 },
    );
  });

  it('is overridden by flags, with header names in any case', () => {
    const text = '{"method":"PUT","path":"/a","headers":{"x-a":"1","x-b":"2"},"body":{}}';
    expect(read(text, ['X-A: 3:4 ', 'Content-Type:text/plain'], { method: 'post', path: '/b' })).toEqual({
      method: 'POST',
      path: '/b',
      headers: { 'x-a': '3:4', 'x-b': '2', 'content-type': 'text/plain' },
      body: '{}',
    });
  });
});

describe('an input that is not a request', () => {
  it.each<[string, string, readonly string[], { method?: string; path?: string }, string]>([
    ['text', `{"a": ${CANARY}}`, [], {}, 'r.json is not JSON'],
    ['an empty file', ' \n', [], {}, 'r.json is empty'],
    ['truncated JSON', '{"a":', [], {}, 'r.json is not JSON: it ends unexpectedly'],
    ['a byte order mark', '\ufeff{}', [], {}, 'r.json begins with a byte order mark'],
    [
      'a request with a misspelt field',
      '{"path":"/a","boddy":{}}',
      [],
      {},
      '"boddy" in r.json is not part of a request; did you mean "body"?',
    ],
    ['headers in the singular', '{"header":{},"body":{}}', [], {}, 'did you mean "headers"?'],
    ['a list', '[]', [], {}, 'r.json is not a JSON object'],
    ['a number', '1', [], {}, 'r.json is not a JSON object'],
    ['a method that is not text', '{"method":1}', [], {}, '"method" in r.json must be text'],
    ['headers in a list', '{"headers":[]}', [], {}, '"headers" in r.json must be an object'],
    ['a header that is not text', '{"headers":{"x-a":1}}', [], {}, '"headers.x-a" in r.json must be text'],
    ['a header without a colon', '{}', [CANARY], {}, "a header is written 'name: value', with a colon"],
    ['a header without a name', '{}', [`: ${CANARY}`], {}, "a header is written 'name: value', with a colon"],
    ['an invalid header name', '{}', [`${CANARY} x: 1`], {}, 'the name of a header is not valid'],
    ['a value with a line break', '{}', [`x-a: ${CANARY}\r\nx-b: 1`], {}, 'the header x-a has a character'],
    ['an invalid path', '{}', [], { path: 'v1/messages' }, 'the path must begin with /'],
    ['a path with a line break', '{"path":"/a\\nb"}', [], {}, 'the path must begin with /'],
    ['an invalid method', '{}', [], { method: 'P T' }, '"P T" is not an HTTP method'],
  ])('as %s is reported without quoting it', (_, text, headers, rest, message) => {
    const error = (() => {
      try {
        return read(text, headers, rest);
      } catch (thrown) {
        return thrown;
      }
    })();
    if (!(error instanceof BadRequest)) throw new Error('it was read');
    expect(error.message).toContain(message);
    expect(error.message).not.toContain('canary');
  });
});
