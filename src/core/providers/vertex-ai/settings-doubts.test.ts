import { expect, test } from 'vitest';
import type { VertexEntry } from '../../../../schemas/types.generated.ts';
import { noTokenCalls, testSetup } from '../setup.testkit.ts';
import { vertexAi } from './index.ts';

function create(changes: Partial<VertexEntry>) {
  const { setup, problems } = testSetup(noTokenCalls);
  const place = { project_id: 'my-project', region: 'us-central1' } as const;
  return { entry: vertexAi.create({ slug: 'vertex', provider: 'vertex-ai', ...place, ...changes }, setup), problems };
}

test.each<[Partial<VertexEntry>, readonly (string | number)[]]>([
  [{ region: 'europe' }, ['region']],
  [{ count_tokens_region: 'asia' }, ['count_tokens_region']],
  [{ anthropic_betas: { allow: ['*'] } }, ['anthropic_betas', 'allow', 0]],
  [{ endpoints: { a: { id: '1', method: 'predict', stream_usage: false } } }, ['endpoints', 'a', 'stream_usage']],
  [{ endpoints: { a: { id: '1', method: 'gemini', extensions: 'drop' } } }, ['endpoints', 'a', 'extensions']],
])('%j gets a warning, and works', (changes, path) => {
  const { entry, problems } = create(changes);
  expect(problems).toEqual([expect.objectContaining({ path, severity: 'warning' })]);
  expect(entry).toBeDefined();
});

test.each<Partial<VertexEntry>>([
  { region: 'global' },
  { region: 'us', count_tokens_region: 'eu' },
  { endpoints: { a: { id: '1', method: 'predict' }, b: { id: '2', stream_usage: false } } },
])('%j gets no warning', (changes) => {
  expect(create(changes).problems).toEqual([]);
});

test.each([
  ['endpoints.mine', 'mine'],
  ['endpoints.', undefined],
  ['', undefined],
])('an endpoint cannot have the name %j', (name, suggestion) => {
  const { entry, problems } = create({ endpoints: { [name]: { id: '1' } } });
  expect(entry).toBeUndefined();
  expect(problems).toEqual([
    {
      path: ['endpoints', name],
      on: 'key',
      message: expect.stringContaining('a name without `endpoints.`'),
      ...(suggestion !== undefined && { suggestion }),
    },
  ]);
});
