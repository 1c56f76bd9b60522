import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { operations } from '../../operations/index.ts';
import { compileRoutes, guessFormat } from './routes.ts';

const routes = compileRoutes(operations);

function route(path: string, headers: Record<string, string> = {}, querystring = '') {
  const found = routes.filter((each) => each.path.test(path));
  expect(new Set(found.map(({ method }) => method)).size).toBe(found.length);
  // A path of GET may be one of POST too: `/v1/models/{+id}`, and a method behind a colon.
  const { operation, params, refusal } = found.at(-1)?.read({ path, headers, querystring }) ?? {};
  return { id: operation?.id, format: operation?.format.name, params, refused: refusal?.code };
}

describe('routes', () => {
  it.each([
    ['/v1/chat/completions', 'chat.completions'],
    ['/V1/Chat/Completions/', 'chat.completions'],
    ['/v1/messages', 'messages'],
    ['/v1/messages/count_tokens', 'messages.count_tokens'],
    ['/v1/models', 'models.list'],
    ['/v1/models/', 'models.list'],
    ['/v1/models/x', 'models.retrieve'],
    ['/v1/models/%zz', 'models.retrieve'],
    ['/v1/modelsx', undefined],
    ['/v1', undefined],
    ['/v1/projects/p/locations/l/publishers/google/models/m:countTokens', 'vertex.count_tokens'],
    ['/v1/projects/p/locations/l/publishers/google/models/m:generateContent', 'gemini.generate_content'],
    ['/v1beta1/publishers/google/models/m:streamGenerateContent', 'gemini.stream_generate_content'],
    ['/v1beta/models/m:generateContent', 'gemini.generate_content'],
    ['/V1alpha/Models/@sim/a/b:c:streamGenerateContent/', 'gemini.stream_generate_content'],
    ['/v1/models/m:countTokens', 'gemini.count_tokens'],
    ['/v1beta1/publishers/google/models', 'models.list'],
    ['/v1/projects/p/locations/l/publishers/google/models', 'models.list'],
    ['/v1beta1/publishers/@vertex/models/m', 'models.retrieve'],
    ['/v1beta1/publishers/google/models/@vertex/m', 'models.retrieve'],
    ['/v2/models/m:countTokens', undefined],
    ['/v1beta/models/:countTokens', 'models.retrieve'],
    ['/v1/projects/p/locations/l/publishers/google/models/m:generateText', 'models.retrieve'],
    ['/v1/projects/p/locations/l/publishers/google/models/a/b:countTokens', 'vertex.count_tokens'],
    ['/v1/publishers/@studio/models/m:countTokens', 'vertex.count_tokens'],
    ['/v1/publishers/anthropic/models/@hub/m:rawPredict', 'messages'],
    ['/v1/projects/p/locations/l/publishers/google/models/:countTokens', 'models.retrieve'],
    ['/x/v1/projects/p/locations/l/publishers/google/models/m:countTokens', undefined],
  ])('%s is %s', (path, id) => {
    expect(route(path).id).toBe(id);
  });

  it('select the operation that a header names', () => {
    const headers = { 'anthropic-version': '2023-06-01' };
    expect(route('/v1/models')).toMatchObject({ id: 'models.list', format: 'openai-chat' });
    expect(route('/v1/models', headers)).toMatchObject({ id: 'models.list', format: 'anthropic-messages' });
    expect(route('/v1/models/x', headers)).toMatchObject({ id: 'models.retrieve', format: 'anthropic-messages' });
    expect(route('/v1/chat/completions', headers)).toMatchObject({ id: 'chat.completions', format: 'openai-chat' });
  });

  it('select the operation that a query parameter names', () => {
    const path = '/v1beta/models/m:streamGenerateContent';
    const form = (query: string) =>
      routes.findLast((each) => each.path.test(path))?.read({ path, headers: {}, querystring: query });
    expect(form('alt=sse')?.operation?.format.contentType.stream).toBe('text/event-stream');
    for (const query of ['', 'alt=json', 'alt=SSE', 'x=1&alt=', 'alt=json&alt=sse'])
      expect(form(query)?.operation?.format.contentType.stream).toBe('application/json; charset=UTF-8');
  });

  it('decode each path parameter once', () => {
    expect(route('/v1/models/@sim/a%2520b').params).toEqual({ id: '@sim/a%20b' });
    expect(route('/v1/projects/p/locations/l/publishers/anthropic/models/c@1:x:countTokens').params).toEqual({
      version: 'v1',
      project: 'p',
      location: 'l',
      publisher: 'anthropic',
      model: 'c@1:x',
    });
  });

  it.each([
    ['/V1/Models', '/v1/models'],
    ['/V1/models/@sim/A%20b/', '/v1/models/@sim/A%20b'],
    ['/v1/models/%40sim%2f%41', '/v1/models/@sim/A'],
    ['/v1/models/x%2F', '/v1/models/x%2F'],
    [
      '/V1/Projects/P/locations/l/publishers/google/models/%67emini@1%2f2:COUNTTOKENS',
      '/v1/projects/P/locations/l/publishers/google/models/gemini@1/2:countTokens',
    ],
    ['/V1BETA/models/%40Sim%2Fa%3Ab:GENERATECONTENT/', '/v1beta/models/@Sim/a:b:generateContent'],
    ['/v1/models/%zz', '/v1/models/%zz'],
  ])('spell %s as %s, and that again as itself', (path, own) => {
    const route = (at: string) => routes.findLast((each) => each.path.test(at))!;
    expect(route(path).normalise(path)).toBe(own);
    expect(route(own).normalise(own)).toBe(own);
    const read = (at: string) => route(at).read({ path: at, headers: {} }).params;
    expect(read(own)).toEqual(read(path));
  });

  it.each(['%', '%zz', '%E0%A4%A', '%ff'])('refuse %s, which encodes nothing', (part) => {
    expect(route(`/v1/models/${part}`)).toMatchObject({ refused: 'invalid_request', params: {} });
  });

  it('restore any name that a client has encoded', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (name) => {
        expect(route(`/v1/models/${encodeURIComponent(name)}`).params).toEqual({ id: name });
        const path = `/v1/projects/p/locations/l/publishers/google/models/${encodeURIComponent(name)}:countTokens`;
        expect(route(path).params?.['model']).toBe(name);
      }),
    );
  });
});

describe('the guessed API of a request without a route', () => {
  const version = { 'anthropic-version': '2023-06-01' };
  it.each<[string, Record<string, string>, string | undefined]>([
    ['/v1/messages/batches', {}, 'anthropic-messages'],
    ['/V1/Messages', {}, 'anthropic-messages'],
    ['/v1/projects/p/locations/l/publishers/google/models/m:generateContent', {}, 'gemini'],
    ['/v1/projects/p/locations/l/publishers/google/models/m:generateContent', version, 'gemini'],
    ['/v1/chat/completions/x', version, 'openai-chat'],
    ['/v1/models/x', {}, 'openai-chat'],
    ['/v1/models/x', version, 'anthropic-messages'],
    ['/v1/batches', {}, undefined],
    ['/', {}, undefined],
  ])('%s %j: %s', (path, headers, format) => {
    expect(guessFormat(operations, { path, headers })?.name).toBe(format);
  });
});
