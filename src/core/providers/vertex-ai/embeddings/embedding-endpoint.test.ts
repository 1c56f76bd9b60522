import { describe, expect, test } from 'vitest';
import { EMBED } from './encode.testkit.ts';
import { readEmbeddingSettings } from '../task-models.ts';
import { ENDPOINT_METHODS, readFamily } from '../families.ts';
import { createAdHocVertex } from '../index.ts';
import { expressLocations } from '../locations.ts';

const settings = readEmbeddingSettings();
const endpointOf = (name: string) => {
  const { family, model } = readFamily(name);
  return family(model, EMBED, settings);
};

describe('embeddings on Vertex AI', () => {
  test.each([
    ['text-embedding-005', 'text-embedding-005:predict'],
    ['google.text-embedding-004', 'text-embedding-004:predict'],
    ['text-multilingual-embedding-002', 'text-multilingual-embedding-002:predict'],
    ['textembedding-gecko@003', 'textembedding-gecko@003:predict'],
    ['textembedding-gecko-multilingual@001', 'textembedding-gecko-multilingual@001:predict'],
    ['my-embedder-007', 'my-embedder-007:predict'],
    ['gemini-embedding-001', 'gemini-embedding-001:predict'],
    ['gemini-embedding-2', 'gemini-embedding-2:embedContent'],
    ['gemini-embedding-2-preview', 'gemini-embedding-2-preview:embedContent'],
    ['multimodalembedding@001', 'multimodalembedding@001:predict'],
  ])('of %s have the path %s', (name, path) => {
    expect(endpointOf(name)).toMatchObject({ path: `publishers/google/models/${path}`, format: 'gemini' });
  });

  test.each([
    'gemini-2.5-flash',
    'imagen-4.0-generate-001',
    'anthropic.claude-sonnet-4-5@20250929',
    'meta.llama-4-scout-17b-16e-instruct-maas',
    'mistralai.mistral-small-2503',
    'deepseek-ai/deepseek-v3.1-maas',
    'endpoints.1234567890',
  ])('are refused for %s', (name) => {
    expect(() => endpointOf(name)).toThrow(
      expect.objectContaining({ code: 'unsupported_task', param: 'model' }) as Error,
    );
  });

  test('are available in express mode', () => {
    const base = { origin: 'https://aiplatform.googleapis.com', prefix: '' };
    const express = expressLocations({ base, version: 'v1', embeddings: settings });
    expect(express('text-embedding-005', EMBED)).toMatchObject({
      path: '/v1/publishers/google/models/text-embedding-005:predict',
      codec: { mode: 'translate' },
    });
  });

  test('are available without a catalog entry', () => {
    const place = createAdHocVertex({ projectId: 'their-project', region: 'europe-west4' });
    expect(place.locate('text-embedding-005', EMBED)).toMatchObject({
      origin: 'https://europe-west4-aiplatform.googleapis.com',
      path: '/v1/projects/their-project/locations/europe-west4/publishers/google/models/text-embedding-005:predict',
      codec: { mode: 'translate' },
    });
  });

  test('of a deployed model use the method of its endpoint', () => {
    expect(ENDPOINT_METHODS.predict('42', EMBED, settings)).toMatchObject({
      path: 'endpoints/42:predict',
      codec: { mode: 'translate' },
    });
    const raw = ENDPOINT_METHODS.raw_predict('42', { ...EMBED, stream: true }, settings);
    expect(raw).toMatchObject({ path: 'endpoints/42:rawPredict', codec: { mode: 'pass-through' } });
    for (const method of ['chat', 'gemini'] as const)
      expect(() => ENDPOINT_METHODS[method]('42', EMBED, settings)).toThrow('embeddings');
  });
});
