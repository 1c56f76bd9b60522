import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { GoogleAiStudioEntry } from '../../../../schemas/types.generated.ts';
import { Secret, type ModelTask } from '../../../plugin/index.ts';
import { HOSTILE_NAMES } from '../hostile-names.testkit.ts';
import { noTokenCalls, testSetup } from '../setup.testkit.ts';
import { googleAiStudio } from './index.ts';

function create(changes: Partial<GoogleAiStudioEntry> = {}) {
  const { setup, problems } = testSetup(noTokenCalls);
  const settings = { slug: 's', provider: 'google-ai-studio', api_key: new Secret('AIza-CANARY'), ...changes } as const;
  return { entry: googleAiStudio.create(settings, setup), problems };
}

const pathOf = (model: string, task: ModelTask, stream = false) => create().entry?.locate(model, { task, stream }).path;

describe('an entry of Google AI Studio', () => {
  test.each([
    ['gemini-2.5-flash', 'generate', false, 'gemini-2.5-flash:generateContent'],
    ['gemini-2.5-flash', 'generate', true, 'gemini-2.5-flash:streamGenerateContent?alt=sse'],
    ['gemini-2.5-flash', 'count_tokens', false, 'gemini-2.5-flash:countTokens'],
    ['gemini-embedding-001', 'embeddings', false, 'gemini-embedding-001:batchEmbedContents'],
    ['imagen-4.0-generate-001', 'images', false, 'imagen-4.0-generate-001:predict'],
    ['gemini-2.5-flash-image', 'images', false, 'gemini-2.5-flash-image:generateContent'],
  ] as const)('calls %s for %s (stream: %s) at %s', (model, task, stream, path) => {
    expect(pathOf(model, task, stream)).toBe(`/v1beta/models/${path}`);
  });

  test('calls `embedContent` for clients with this form, and a batch for all others', () => {
    const call = { task: 'embeddings', stream: false } as const;
    const paths = (['embedContent', 'batchEmbedContents', 'predict', undefined] as const).map(
      (form) => create().entry?.locate('gemini-embedding-001', { ...call, form }).path,
    );
    const batch = '/v1beta/models/gemini-embedding-001:batchEmbedContents';
    expect(paths).toEqual(['/v1beta/models/gemini-embedding-001:embedContent', batch, batch, batch]);
  });

  test('has Google’s host and format, and sends its key in a header', () => {
    const { entry } = create();
    expect(entry?.locate('gemini-3-pro', { task: 'generate', stream: false })).toEqual({
      origin: 'https://generativelanguage.googleapis.com',
      path: '/v1beta/models/gemini-3-pro:generateContent',
      format: 'gemini',
      model: 'gemini-3-pro',
      host: 'direct',
      headers: {},
    });
    expect(entry?.authorize({ upstreamToken: new Secret('mine') })).toEqual({ 'x-goog-api-key': 'AIza-CANARY' });
  });

  test('takes a base_url without the version, and a version of its own', () => {
    const { entry } = create({ base_url: 'https://proxy.example/g/', api_version: 'v1' });
    expect(entry?.locate('m', { task: 'generate', stream: false })).toMatchObject({
      origin: 'https://proxy.example',
      path: '/g/v1/models/m:generateContent',
    });
    for (const ending of ['/v1beta', '/v1', '/v1alpha/models']) {
      const { entry: none, problems } = create({ base_url: `https://proxy.example/g${ending}` });
      expect(none).toBeUndefined();
      expect(problems).toMatchObject([{ path: ['base_url'], suggestion: 'https://proxy.example/g' }]);
    }
  });

  test.each([
    ['gemini-2.5-flash', ['generate', 'count_tokens']],
    ['gemini-embedding-001', ['count_tokens', 'embeddings']],
    ['imagen-4.0-generate-001', ['images']],
  ])('knows the tasks of %s', (model, tasks) => {
    expect([
      ...(googleAiStudio.tasksOf({ slug: 's', provider: 'google-ai-studio' } as GoogleAiStudioEntry, model) ?? []),
    ]).toEqual(tasks);
  });

  test.each(['generate', 'count_tokens', 'embeddings', 'images'] as const)(
    'refuses every unsafe model name: %s',
    (task) => {
      const { entry } = create();
      for (const name of HOSTILE_NAMES)
        expect(() => entry?.locate(name, { task, stream: false }), JSON.stringify(name)).toThrow(
          expect.objectContaining({ code: 'invalid_model' }) as Error,
        );
    },
  );

  test('shows no secret when it is printed', () => {
    const { entry } = create();
    expect(inspect(entry, { depth: 10, showHidden: true }) + JSON.stringify(entry)).not.toContain('CANARY');
  });
});

describe('embeddings at Google AI Studio', () => {
  function encode(body: object, model = 'gemini-embedding-001') {
    const { codec } = create().entry!.locate(model, { task: 'embeddings', stream: false });
    if (codec?.mode !== 'translate') throw new Error('no codec');
    return codec.encode({ model, ...body }, { model, created: 0, strict: true, labels: {} });
  }

  test('are one batch, with each request’s model and settings', () => {
    const { calls, losses } = encode({ input: ['a', 'b'], dimensions: 3, task_type: 'search_query', user: 'u' });
    const shared = { model: 'models/gemini-embedding-001', taskType: 'RETRIEVAL_QUERY', outputDimensionality: 3 };
    expect(calls).toEqual([{ requests: ['a', 'b'].map((text) => ({ ...shared, content: { parts: [{ text }] } })) }]);
    expect(losses.map(({ param }) => param)).toEqual(['user']);
  });

  test('of more inputs than a batch takes are several, in order', () => {
    const input = Array.from({ length: 201 }, (_, at) => `t${at}`);
    const { calls, decode } = encode({ input });
    expect(calls.map(({ requests }) => (requests as unknown[]).length)).toEqual([100, 100, 1]);
    const reply = decode(
      [100, 100, 1].map((count, call) => ({
        embeddings: Array.from({ length: count }, (_, at) => ({ values: [call, at] })),
      })),
    );
    expect(reply.ok && (reply.body['data'] as { embedding: number[] }[]).map(({ embedding }) => embedding)).toEqual(
      input.map((_, at) => [Math.floor(at / 100), at % 100]),
    );
  });

  test.each([[{}], [{ embeddings: [] }], [{ embeddings: [{ values: [] }] }], [{ embeddings: [{ values: ['x'] }] }]])(
    'cannot be read from %j',
    (reply) => {
      expect(() => encode({ input: 'a' }).decode([reply])).toThrow();
    },
  );
});
