import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { VertexEntry } from '../../../../schemas/types.generated.ts';
import { Secret } from '../../../plugin/index.ts';
import { noTokenCalls, testSetup } from '../setup.testkit.ts';
import { vertexAi } from './index.ts';

function create(changes: Partial<VertexEntry> = {}) {
  const { setup, problems, sent } = testSetup(noTokenCalls);
  const settings: VertexEntry = { slug: 'express', provider: 'vertex-ai', ...changes };
  return { entry: vertexAi.create(settings, setup), problems, sent };
}
const api_key = new Secret('AQ.CANARY');

describe('a vertex-ai entry with an API key', () => {
  test('has a path without a project, and sends its key for every caller', async () => {
    const { entry, problems } = create({ api_key });
    expect(problems).toEqual([]);
    expect(entry?.locate('gemini-2.5-flash', { task: 'generate', stream: true })).toMatchObject({
      origin: 'https://aiplatform.googleapis.com',
      path: '/v1/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
    });
    await entry?.open?.();
    expect(entry?.authorize({ upstreamToken: new Secret('Bearer mine') })).toEqual({ 'x-goog-api-key': 'AQ.CANARY' });
    expect([entry?.tokenKey, entry?.forgetCredentials?.({})]).toEqual([undefined, false]);
  });

  test('accepts a base_url and a version', () => {
    const { entry } = create({ api_key, base_url: 'https://proxy.example/vertex/', api_version: 'v1beta1' });
    expect(entry?.locate('gemini-2.5-flash', { task: 'generate', stream: false })).toMatchObject({
      origin: 'https://proxy.example',
      path: '/vertex/v1beta1/publishers/google/models/gemini-2.5-flash:generateContent',
    });
  });

  test.each(['', 'a CANARY', 'CANARY\n'])(
    'reports a key that is invalid in a header, without showing it: %j',
    (key) => {
      const { entry, problems } = create({ api_key: new Secret(key) });
      expect(entry).toBeUndefined();
      expect(problems).toMatchObject([{ path: ['api_key'] }]);
      expect(JSON.stringify(problems)).not.toContain('CANARY');
    },
  );

  test('shows no secret when it is printed', () => {
    const { entry } = create({ api_key });
    expect(inspect(entry, { depth: 10, showHidden: true }) + JSON.stringify(entry)).not.toContain('CANARY');
  });
});

test('an entry created in code with neither region nor API key is reported', () => {
  const { entry, problems } = create({ project_id: 'my-project' });
  expect(entry).toBeUndefined();
  expect(problems).toEqual([{ path: [], message: expect.stringContaining('api_key') }]);
});

test('a problem with one endpoint makes the entry unusable, and is reported at its path', () => {
  const { entry, problems } = create({
    region: 'us-central1',
    project_id: 'my-project',
    endpoints: { a: { id: 'a/b' } },
  });
  expect(entry).toBeUndefined();
  expect(problems).toEqual([{ path: ['endpoints', 'a', 'id'], message: expect.stringContaining('id') }]);
});
