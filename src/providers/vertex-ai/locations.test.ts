import { describe, expect, test } from 'vitest';
import { HOSTILE_NAMES } from '../hostile-names.testkit.ts';
import { isProjectId, isRegion, vertexHost } from './hosts.ts';
import { VertexLocations } from './locations.ts';

const at = (region: string) =>
  new VertexLocations({ origin: `https://${vertexHost(region)}`, prefix: '' }, 'my-project', region);
const P = '/v1/projects/my-project/locations/us-central1/publishers';

describe('vertexHost', () => {
  test.each([
    ['global', 'aiplatform.googleapis.com'],
    ['us', 'aiplatform.us.rep.googleapis.com'],
    ['eu', 'aiplatform.eu.rep.googleapis.com'],
    ['us-central1', 'us-central1-aiplatform.googleapis.com'],
    ['europe-west4', 'europe-west4-aiplatform.googleapis.com'],
    ['northamerica-northeast1', 'northamerica-northeast1-aiplatform.googleapis.com'],
  ])('of %s is %s, and the path says the location too', (region, host) => {
    const location = at(region).locate('gemini-2.5-pro', false);
    expect(location.origin).toBe(`https://${host}`);
    expect(location.path).toContain(`/locations/${region}/`);
  });

  test.each([
    '',
    'us-central1.evil.example',
    'us_central1',
    'US',
    'us-',
    'a/b',
    'us-central1\n',
    'a@b',
    'x'.repeat(53),
  ])('is never asked about %j', (region) => {
    expect(isRegion(region)).toBe(false);
  });
});

describe('isProjectId', () => {
  test.each(['my-project', 'example.com:my-project', '123456789012'])('knows %s', (id) => {
    expect(isProjectId(id)).toBe(true);
  });
  test.each(['', 'My-Project', 'a', 'my/project', '../my-project', 'my-project?', 'my-project\n'])(
    'refuses %j',
    (id) => {
      expect(isProjectId(id)).toBe(false);
    },
  );
});

describe('VertexLocations', () => {
  test.each([
    ['gemini-2.5-pro', false, `${P}/google/models/gemini-2.5-pro:generateContent`],
    ['gemini-2.5-pro', true, `${P}/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse`],
    ['google.gemini-2.5-pro', false, `${P}/google/models/gemini-2.5-pro:generateContent`],
    ['gemini-2.5-flash-preview-09-2025', false, `${P}/google/models/gemini-2.5-flash-preview-09-2025:generateContent`],
    ['anthropic.claude-sonnet-4-5@20250929', false, `${P}/anthropic/models/claude-sonnet-4-5@20250929:rawPredict`],
    ['anthropic.claude-sonnet-4-5@20250929', true, `${P}/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict`],
    ['familya.claude-opus-4-6', true, `${P}/anthropic/models/claude-opus-4-6:streamRawPredict`],
    ['claude-x@20250929', false, `${P}/google/models/claude-x@20250929:generateContent`],
    ['a;b', false, `${P}/google/models/a%3Bb:generateContent`],
    ['a b:rawPredict', false, `${P}/google/models/a%20b%3ArawPredict:generateContent`],
    ['other.model', false, `${P}/google/models/other.model:generateContent`],
  ])('%j (stream %s) lives at %s', (model, stream, path) => {
    expect(at('us-central1').locate(model, stream).path).toBe(path);
  });

  test.each([
    ['gemini-2.5-pro', 'gemini', 'gemini-2.5-pro'],
    ['google.gemini-2.5-pro', 'gemini', 'gemini-2.5-pro'],
    ['anthropic.claude-sonnet-4-5@20250929', 'anthropic-messages', 'claude-sonnet-4-5@20250929'],
    ['familya.claude-opus-4-6', 'anthropic-messages', 'claude-opus-4-6'],
  ])('%j speaks %s and is %j there', (model, format, name) => {
    expect(at('global').locate(model, false)).toMatchObject({ format, model: name, host: 'vertex' });
  });

  test.each(['meta.llama-4', 'familyb.llama-4', 'mistralai.mistral-large', 'endpoints.123'])(
    'says that %j is not served yet instead of sending it elsewhere',
    (model) => {
      expect(() => at('global').locate(model, false)).toThrowError(
        expect.objectContaining({ code: 'invalid_model', message: expect.stringContaining('does not serve yet') }),
      );
    },
  );

  test.each([...HOSTILE_NAMES, 'google.', 'anthropic.', 'familya.../x', 'anthropic./../../google/models/x'])(
    'refuses %j with a 400',
    (model) => {
      for (const stream of [false, true]) {
        expect(() => at('global').locate(model, stream)).toThrowError(
          expect.objectContaining({ code: 'invalid_model', status: 400 }),
        );
      }
    },
  );

  test('puts the path prefix of a base_url before its own path', () => {
    const locations = new VertexLocations(
      { origin: 'https://proxy.example', prefix: '/llm' },
      'my-project',
      'us-central1',
    );
    expect(locations.locate('gemini-2.5-pro', false)).toMatchObject({
      origin: 'https://proxy.example',
      path: `/llm${P}/google/models/gemini-2.5-pro:generateContent`,
    });
  });
});
