import { describe, expect, it } from 'vitest';
import { readEmbeddingSettings, taskEndpoint } from '../task-models.ts';
import { faultOf } from './images.testkit.ts';

const at = (model: string) =>
  taskEndpoint({ task: 'images', model }, (method) => `models/${model}${method}`, readEmbeddingSettings());

describe('the endpoint of an image model', () => {
  it.each([
    ['imagen-4.0-generate-001', ':predict'],
    ['imagen-4.0-ultra-generate-001', ':predict'],
    ['imagen-4.0-fast-generate-001', ':predict'],
    ['imagen-3.0-generate-001', ':predict'],
    ['imagen-3.0-generate-002', ':predict'],
    ['imagen-3.0-fast-generate-001', ':predict'],
    ['imagegeneration@006', ':predict'],
    ['imagegeneration@005', ':predict'],
    ['imagegeneration@002', ':predict'],
    ['gemini-2.0-flash-preview-image-generation', ':generateContent'],
    ['gemini-2.5-flash-image', ':generateContent'],
    ['gemini-2.5-flash-image-preview', ':generateContent'],
    ['gemini-3-pro-image-preview', ':generateContent'],
    ['gemini-3.1-flash-image', ':generateContent'],
  ])('of %s is %s, with errors in Google’s format', (model, method) => {
    expect(at(model)).toMatchObject({ path: `models/${model}${method}`, format: 'gemini', model });
  });

  it.each(['gemini-2.5-pro', 'text-embedding-005', 'imagetext', 'my-imagen-3', 'veo-3.0-generate-001'])(
    'does not exist for %s',
    (model) => {
      expect(faultOf(() => at(model))).toMatchObject({ code: 'unsupported_task', status: 400, param: 'model' });
    },
  );
});
