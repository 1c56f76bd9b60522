import { describe, expect, test } from 'vitest';
import { HOSTILE_NAMES } from '../../core/providers/hostile-names.testkit.ts';
import { noTokenCalls, testSetup } from '../../core/providers/setup.testkit.ts';
import { simulator } from './provider.ts';

function create(changes: { base_url?: string; allow_insecure?: boolean } = {}) {
  const { setup, problems } = testSetup(noTokenCalls);
  return { entry: simulator.create({ slug: 'sim', provider: 'simulator', ...changes }, setup), problems };
}

describe('a simulator entry', () => {
  test('starts nothing before it is opened', () => {
    const { entry } = create();
    expect(entry?.locate('sim-fast', { task: 'generate', stream: false })).toEqual({
      origin: 'http://127.0.0.1:0',
      customTools: true,
      path: '/v1/chat/completions',
      format: 'openai-chat',
      model: 'sim-fast',
      host: 'direct',
      headers: {},
    });
    expect(entry?.allowInsecure).toBe(true);
    expect(entry?.authorize({ upstreamToken: undefined })).toEqual({});
  });

  test('serves embeddings, and refuses tasks that it does not support', () => {
    const { entry } = create({ base_url: 'https://sim.example/x' });
    expect(entry?.locate('m', { task: 'embeddings', stream: false })).toMatchObject({
      path: '/x/v1/embeddings',
      codec: { mode: 'pass-through' },
    });
    for (const [task, code] of [
      ['images', 'unsupported_task'],
      ['count_tokens', 'not_supported'],
    ] as const)
      expect(() => entry?.locate('m', { task, stream: false })).toThrowError(expect.objectContaining({ code }));
  });

  test('with a base_url is a separate process behind the egress guard', async () => {
    const { entry } = create({ base_url: 'https://sim.example/x' });
    expect(entry?.locate('m', { task: 'generate', stream: true })).toMatchObject({
      origin: 'https://sim.example',
      path: '/x/v1/chat/completions',
    });
    expect(entry?.allowInsecure).toBe(false);
    await entry?.open?.();
    expect(entry?.locate('m', { task: 'generate', stream: true }).origin).toBe('https://sim.example');
  });

  test('needs allow_insecure for plain http elsewhere', () => {
    expect(create({ base_url: 'http://127.0.0.1:9000' }).problems).toMatchObject([{ path: ['base_url'] }]);
    expect(create({ base_url: 'http://127.0.0.1:9000', allow_insecure: true }).entry?.allowInsecure).toBe(true);
  });

  test.each(HOSTILE_NAMES.map((name) => [name]))('refuses the model %j with a 400', (model) => {
    expect(() => create().entry?.locate(model, { task: 'generate', stream: false })).toThrowError(
      expect.objectContaining({ code: 'invalid_model' }),
    );
  });
});
