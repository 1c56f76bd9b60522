import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { AnthropicEntry } from '../../../../schemas/types.generated.ts';
import { Secret } from '../../../plugin/index.ts';
import { HOSTILE_NAMES } from '../hostile-names.testkit.ts';
import { noTokenCalls, testSetup } from '../setup.testkit.ts';
import { anthropic } from './index.ts';

function create(changes: Partial<AnthropicEntry> = {}) {
  const { setup, problems } = testSetup(noTokenCalls);
  const settings = { slug: 'claude', provider: 'anthropic', api_key: new Secret('sk-ant-CANARY'), ...changes } as const;
  return { entry: anthropic.create(settings, setup), problems };
}

describe('an anthropic entry', () => {
  test('has the address of the Messages API, with the version that the gateway encodes', () => {
    expect(create().entry?.locate('claude-sonnet-4-5-20250929', { task: 'generate', stream: true })).toEqual({
      origin: 'https://api.anthropic.com',
      path: '/v1/messages',
      format: 'anthropic-messages',
      model: 'claude-sonnet-4-5-20250929',
      host: 'direct',
      headers: { 'anthropic-version': '2023-06-01' },
      quirks: { bodyLimit: { bytes: 33_554_432, words: 'the Anthropic API (32 MB)' } },
    });
  });

  test('has the address in base_url', () => {
    expect(
      create({ base_url: 'https://proxy.example/anthropic/' }).entry?.locate('claude-x', {
        task: 'generate',
        stream: false,
      }),
    ).toMatchObject({
      origin: 'https://proxy.example',
      path: '/anthropic/v1/messages',
    });
  });

  test.each([
    ['https://api.anthropic.com/v1', 'https://api.anthropic.com'],
    ['https://api.anthropic.com/v1/messages/', 'https://api.anthropic.com'],
    ['https://proxy.example/a/v1/messages/count_tokens', 'https://proxy.example/a'],
  ])('refuses the base_url %s, whose ending the gateway adds itself', (base_url, suggestion) => {
    const { entry, problems } = create({ base_url });
    expect(entry).toBeUndefined();
    expect(problems).toEqual([{ path: ['base_url'], message: expect.stringContaining('/v1'), suggestion }]);
  });

  test('sends its key as x-api-key for every caller', () => {
    expect(create().entry?.authorize({ upstreamToken: new Secret('mine') })).toEqual({ 'x-api-key': 'sk-ant-CANARY' });
  });

  test.each(HOSTILE_NAMES.map((name) => [name]))('refuses the model %j with a 400', (model) => {
    expect(() => create().entry?.locate(model, { task: 'generate', stream: false })).toThrowError(
      expect.objectContaining({ code: 'invalid_model' }),
    );
  });

  test.each(['', 'CANARY\n', 'CAN ARY', 'CANARY\r\nx: y', 'CANARYé'])(
    'reports the key %j at load, without showing it',
    (key) => {
      const { entry, problems } = create({ api_key: new Secret(key) });
      expect(entry).toBeUndefined();
      expect(problems).toEqual([{ path: ['api_key'], message: expect.stringContaining('api_key') }]);
      expect(JSON.stringify(problems)).not.toContain('CANARY');
    },
  );

  test('shows no secret when it is printed', () => {
    const { entry } = create();
    expect(inspect(entry, { depth: 10, showHidden: true }) + JSON.stringify(entry)).not.toContain('CANARY');
  });
});
