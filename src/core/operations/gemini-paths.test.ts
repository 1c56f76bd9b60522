import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../plugin/index.ts';
import { RequestBody } from '../kernel/index.ts';
import { onPublishedModel } from './gemini-paths.ts';

const fieldsOf = (publisher: string, model: string, body: object = {}) =>
  onPublishedModel('countTokens')[0]?.fieldsInPath?.(
    { publisher, model },
    RequestBody.read(Buffer.from(JSON.stringify(body)), 9),
  );

describe('the model in the path', () => {
  it.each([
    ['google', 'gemini-2.5-flash', 'gemini-2.5-flash'],
    ['anthropic', 'claude-sonnet-4-5@20250929', 'anthropic.claude-sonnet-4-5@20250929'],
    ['meta', 'llama-4', 'meta.llama-4'],
    ['mistralai', 'mistral-small', 'mistralai.mistral-small'],
    ['qwen', 'qwen3-maas', 'qwen/qwen3-maas'],
    ['google', '@studio/gemini-2.5-flash', '@studio/gemini-2.5-flash'],
    ['anthropic', '@vertex/anthropic.claude-x', '@vertex/anthropic.claude-x'],
    ['@studio', 'gemini-2.5-flash', '@studio/gemini-2.5-flash'],
    ['@hub', 'meta/llama', '@hub/meta/llama'],
    ['google', 'team/fast', 'team/fast'],
  ])('of publisher %s, %s, has the gateway name %s', (publisher, model, name) => {
    expect(fieldsOf(publisher, model)).toEqual({ model: name });
  });

  it.each([
    ['meta', '@other/gemini'],
    ['@other', '@another/gemini'],
    ['anthropic', 'a/b'],
    ['a/b', 'gemini'],
    ['Google', 'gemini'],
    ['a.b', 'gemini'],
    ['', 'gemini'],
  ])('of %j, %j, is refused', (publisher, model) => {
    const failure = (() => {
      try {
        return fieldsOf(publisher, model);
      } catch (error) {
        return error;
      }
    })();
    expect(failure).toBeInstanceOf(GatewayError);
    expect(failure).toMatchObject({ code: 'invalid_model', param: 'model' });
  });

  it.each([
    'gemini',
    'models/gemini',
    'publishers/google/models/gemini',
    'projects/p/locations/l/publishers/google/models/gemini',
  ])('may be repeated in the body: %s', (model) => {
    expect(fieldsOf('google', 'gemini', { model })).toEqual({ model: 'gemini' });
  });

  it.each([
    'emini',
    'other',
    'publishers/meta/models/gemini',
    'projects/p/locations/l/publishers/google/models/x',
    '',
    7,
    null,
  ])('must not be contradicted by the body: %j', (model) => {
    expect(() => fieldsOf('google', 'gemini', { model })).toThrow('not the model that the path names');
  });
});
