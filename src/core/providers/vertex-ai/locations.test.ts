import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { VertexEntry } from '../../../../schemas/types.generated.ts';
import { GatewayError } from '../../../plugin/index.ts';
import type { Problem } from '../../kernel/report.ts';
import { HOSTILE_NAMES } from '../hostile-names.testkit.ts';
import { betaFilter, countedBetas } from './betas.ts';
import { readEmbeddingSettings } from './task-models.ts';
import { readEndpoints } from './endpoint-settings.ts';
import { EXPRESS_HOST, isEndpointId, isProjectId, isRegion, vertexHost } from './hosts.ts';
import { expressLocations, vertexLocations, type RegionalProject } from './locations.ts';
import { runs } from '../../../../test/support/effort.ts';

type Endpoints = NonNullable<VertexEntry['endpoints']>;

/** @param more of the entry */
function read(endpoints: Endpoints, more: Partial<VertexEntry> = {}) {
  const problems: Problem[] = [];
  const entry: VertexEntry = { slug: 'v', provider: 'vertex-ai', region: 'us-central1', endpoints, ...more };
  return { endpoints: readEndpoints(entry, (problem) => problems.push(problem)), problems };
}

const at = (region: string, changes: Partial<RegionalProject> = {}) =>
  vertexLocations({
    base: { origin: `https://${vertexHost(region)}`, prefix: '' },
    version: 'v1',
    projectId: 'my-project',
    region,
    takesFeature: betaFilter(),
    takesInCounts: countedBetas(undefined),
    endpoints: new Map(),
    embeddings: readEmbeddingSettings(),
    ...changes,
  });
const withEndpoints = (endpoints: Endpoints) => at('us-central1', { endpoints: read(endpoints).endpoints! });

const PLAIN = { task: 'generate', stream: false } as const;
const STREAM = { task: 'generate', stream: true } as const;
const P = '/v1/projects/my-project/locations/us-central1';

describe('vertexHost', () => {
  test.each([
    ['global', 'aiplatform.googleapis.com'],
    ['us', 'aiplatform.us.rep.googleapis.com'],
    ['eu', 'aiplatform.eu.rep.googleapis.com'],
    ['us-central1', 'us-central1-aiplatform.googleapis.com'],
    ['europe-west4', 'europe-west4-aiplatform.googleapis.com'],
    ['northamerica-northeast1', 'northamerica-northeast1-aiplatform.googleapis.com'],
  ])('of %s is %s, and the path contains the location', (region, host) => {
    for (const model of [
      'gemini-2.5-pro',
      'anthropic.claude-x',
      'meta.llama-x',
      'mistralai.m',
      'endpoints.1',
      'qwen/x',
    ]) {
      const location = at(region)(model, PLAIN);
      expect(location.origin).toBe(`https://${host}`);
      expect(location.path).toContain(`/v1/projects/my-project/locations/${region}/`);
    }
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
  ])('is never called with %j, which isRegion refuses', (region) => {
    expect(isRegion(region)).toBe(false);
  });
});

describe('isProjectId', () => {
  test.each(['my-project', 'example.com:my-project', '123456789012'])('accepts %s', (id) => {
    expect(isProjectId(id)).toBe(true);
  });
  test.each(['', 'My-Project', 'a', 'my/project', '../my-project', 'my-project?', 'my-project\n'])(
    'refuses %j',
    (id) => {
      expect(isProjectId(id)).toBe(false);
    },
  );
});

describe('isEndpointId', () => {
  test.each(['1', '5464397967697903616', 'mg-endpoint-0a1b', 'my_llama', 'openapi2'])('accepts %s', (id) => {
    expect(isEndpointId(id)).toBe(true);
  });
  test.each(['', 'openapi', '-1', '1-', '1.2', '1/2', '1:predict', '1?', '../1', '1\n', '%31', 'x'.repeat(64)])(
    'refuses %j',
    (id) => {
      expect(isEndpointId(id)).toBe(false);
    },
  );
});

describe('models in a project and location', () => {
  test.each([
    ['gemini-2.5-pro', false, '/publishers/google/models/gemini-2.5-pro:generateContent'],
    ['gemini-2.5-pro', true, '/publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse'],
    ['google.gemini-2.5-pro', false, '/publishers/google/models/gemini-2.5-pro:generateContent'],
    [
      'gemini-2.5-flash-preview-09-2025',
      false,
      '/publishers/google/models/gemini-2.5-flash-preview-09-2025:generateContent',
    ],
    [
      'anthropic.claude-sonnet-4-5@20250929',
      false,
      '/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict',
    ],
    [
      'anthropic.claude-sonnet-4-5@20250929',
      true,
      '/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict',
    ],
    ['familya.claude-opus-4-6', true, '/publishers/anthropic/models/claude-opus-4-6:streamRawPredict'],
    ['mistralai.mistral-large@2407', false, '/publishers/mistralai/models/mistral-large@2407:rawPredict'],
    ['mistralai.mistral-small-2503', true, '/publishers/mistralai/models/mistral-small-2503:streamRawPredict'],
    ['meta.llama-4-scout-17b-16e-instruct-maas', false, '/endpoints/openapi/chat/completions'],
    ['familyb.llama-4-scout-17b-16e-instruct-maas', true, '/endpoints/openapi/chat/completions'],
    ['deepseek-ai/deepseek-v3.1-maas', true, '/endpoints/openapi/chat/completions'],
    ['endpoints.5464397967697903616', false, '/endpoints/5464397967697903616/chat/completions'],
    ['endpoints.mg-endpoint-0a1b', true, '/endpoints/mg-endpoint-0a1b/chat/completions'],
    ['claude-x@20250929', false, '/publishers/google/models/claude-x@20250929:generateContent'],
    ['5464397967697903616', false, '/publishers/google/models/5464397967697903616:generateContent'],
    ['a;b', false, '/publishers/google/models/a%3Bb:generateContent'],
    ['a b:rawPredict', false, '/publishers/google/models/a%20b%3ArawPredict:generateContent'],
    ['mistralai.a b:x', false, '/publishers/mistralai/models/a%20b%3Ax:rawPredict'],
    ['other.model', false, '/publishers/google/models/other.model:generateContent'],
    [
      'deepseek-ai.deepseek-v3.1-maas',
      false,
      '/publishers/google/models/deepseek-ai.deepseek-v3.1-maas:generateContent',
    ],
  ])('%j (stream %s) has the path %s', (model, stream, path) => {
    expect(at('us-central1')(model, { task: 'generate', stream }).path).toBe(`${P}${path}`);
  });

  test.each([
    ['gemini-2.5-pro', 'gemini', 'gemini-2.5-pro'],
    ['google.gemini-2.5-pro', 'gemini', 'gemini-2.5-pro'],
    ['anthropic.claude-sonnet-4-5@20250929', 'anthropic-messages', 'claude-sonnet-4-5@20250929'],
    ['familya.claude-opus-4-6', 'anthropic-messages', 'claude-opus-4-6'],
    ['meta.llama-4-scout-17b-16e-instruct-maas', 'openai-chat', 'meta/llama-4-scout-17b-16e-instruct-maas'],
    ['familyb.llama-3.3-70b-instruct-maas', 'openai-chat', 'meta/llama-3.3-70b-instruct-maas'],
    ['meta/llama-3.3-70b-instruct-maas', 'openai-chat', 'meta/llama-3.3-70b-instruct-maas'],
    ['deepseek-ai/deepseek-v3.1-maas', 'openai-chat', 'deepseek-ai/deepseek-v3.1-maas'],
    ['qwen/qwen3-235b-a22b-instruct-2507-maas', 'openai-chat', 'qwen/qwen3-235b-a22b-instruct-2507-maas'],
    ['openai/gpt-oss-120b-maas', 'openai-chat', 'openai/gpt-oss-120b-maas'],
    ['google/gemini-2.5-flash', 'openai-chat', 'google/gemini-2.5-flash'],
    ['mistralai.mistral-large@2407', 'openai-chat', 'mistral-large'],
    ['mistralai.mistral-small-2503', 'openai-chat', 'mistral-small-2503'],
    ['endpoints.5464397967697903616', 'openai-chat', '5464397967697903616'],
  ])('%j has the format %s and the name %j', (model, format, name) => {
    expect(at('global')(model, PLAIN)).toMatchObject({ format, model: name, host: 'vertex' });
  });

  test('requests usage on streams of all models except Mistral', () => {
    expect(at('global')('mistralai.mistral-small-2503', STREAM).streamUsage).toBe(false);
    for (const model of ['meta.llama-x', 'qwen/x', 'endpoints.1'])
      expect(at('global')(model, STREAM).streamUsage).toBeUndefined();
  });

  test('filters betas for Claude only', () => {
    const takesFeature = (name: string) => name === 'mine';
    const locations = at('global', { takesFeature });
    expect(locations('anthropic.claude-x', PLAIN).quirks?.takesFeature).toBe(takesFeature);
    for (const model of ['gemini-2.5-pro', 'meta.llama-x', 'mistralai.m', 'endpoints.1'])
      expect(locations(model, PLAIN).quirks?.takesFeature).toBeUndefined();
  });

  test.each([
    ['anthropic/claude-x', 'anthropic.claude-x'],
    ['familya/claude-x', 'familya.claude-x'],
    ['mistralai/mistral-large', 'mistralai.mistral-large'],
    ['endpoints/123', 'endpoints.123'],
  ])('names the right spelling of %s', (model, right) => {
    expect(() => at('global')(model, PLAIN)).toThrowError(
      expect.objectContaining({ code: 'invalid_model', message: expect.stringContaining(`write \`${right}\``) }),
    );
  });

  test.each([
    ...HOSTILE_NAMES,
    'google.',
    'anthropic.',
    'meta.',
    'mistralai.',
    'mistralai..',
    'meta..',
    'endpoints.',
    'familya.../x',
    'anthropic./../../google/models/x',
    'mistralai.a/b',
    'meta.llama/x',
    'endpoints.openapi',
    'endpoints.1/2',
    'endpoints.1:predict',
    'endpoints.1?x',
    'endpoints..',
    'endpoints.%2e',
    'endpoints.a b',
    'deepseek-ai/../x',
    'deepseek-ai/..',
    'deepseek-ai/a/b',
    'deepseek-ai/',
    '/deepseek-maas',
    'Deepseek/x',
    'deepseek-ai/x y',
    'deepseek-ai/x\n',
    'deepseek-ai/x?y',
    'deepseek-ai/x#y',
    'deepseek-ai%2Fx/y',
    `qwen/${'x'.repeat(300)}`,
  ])('refuses %j with a 400', (model) => {
    for (const call of [PLAIN, STREAM]) {
      expect(() => at('global')(model, call)).toThrowError(
        expect.objectContaining({ code: 'invalid_model', status: 400 }),
      );
    }
  });

  test('never leaves its project and location for any model name', () => {
    const prefix = fc.constantFrom('', 'anthropic.', 'meta.', 'mistralai.', 'endpoints.', 'qwen/', 'google.', '../');
    const rest = fc.string({
      unit: fc.oneof(fc.constantFrom('.', '/', ':', '@', '%', '?', '#', '2', 'e'), fc.string()),
    });
    fc.assert(
      fc.property(prefix, rest, fc.boolean(), (start, end, stream) => {
        let path: string;
        try {
          ({ path } = at('us-central1')(start + end, { task: 'generate', stream }));
        } catch (error) {
          expect(error).toBeInstanceOf(GatewayError);
          return;
        }
        const url = new URL(`https://host.example${path}`);
        expect(url.pathname + url.search).toBe(path);
        expect(path).toMatch(
          /^\/v1\/projects\/my-project\/locations\/us-central1\/(?:publishers\/(?:google|anthropic|mistralai)\/models\/[^/?#:]+:(?:raw|streamRaw|generate|streamGenerate)\w+(?:\?alt=sse)?|endpoints\/[\w-]+\/chat\/completions)$/,
        );
      }),
      { numRuns: runs(500) },
    );
  });

  test('puts the path prefix of a base_url before its own path', () => {
    const locations = at('us-central1', { base: { origin: 'https://proxy.example', prefix: '/llm' } });
    expect(locations('gemini-2.5-pro', PLAIN)).toMatchObject({
      origin: 'https://proxy.example',
      path: `/llm${P}/publishers/google/models/gemini-2.5-pro:generateContent`,
    });
  });

  test('counts the tokens of Claude only in count_tokens_region', () => {
    const base = { origin: 'https://us-east5-aiplatform.googleapis.com', prefix: '' };
    const locations = at('europe-west1', { claudeCounts: { base, region: 'us-east5' } });
    const count = { task: 'count_tokens', stream: false } as const;
    const path = '/publishers/anthropic/models/count-tokens:rawPredict';
    expect(locations('anthropic.claude-x', count)).toMatchObject({
      origin: base.origin,
      path: `/v1/projects/my-project/locations/us-east5${path}`,
      model: 'claude-x',
      modelInBody: true,
    });
    const elsewhere = [
      locations('anthropic.claude-x', PLAIN),
      locations('gemini-2.5-pro', count),
      at('europe-west1')('anthropic.claude-x', count),
    ];
    for (const location of elsewhere) {
      expect(location.origin).toBe('https://europe-west1-aiplatform.googleapis.com');
      expect(location.path).toContain('/locations/europe-west1/');
    }
  });

  test('puts the version of the entry into every path', () => {
    const locations = at('us-central1', { version: 'v1beta1', endpoints: read({ tuned: { id: '7' } }).endpoints! });
    for (const model of ['gemini-2.5-pro', 'anthropic.c', 'meta.l', 'mistralai.m', 'endpoints.1', 'endpoints.tuned'])
      expect(locations(model, PLAIN).path).toMatch(/^\/v1beta1\/projects\//);
  });
});

describe('endpoints of the settings', () => {
  test.each([
    [{}, false, '/endpoints/42/chat/completions', 'openai-chat'],
    [{}, true, '/endpoints/42/chat/completions', 'openai-chat'],
    [{ method: 'chat' as const }, true, '/endpoints/42/chat/completions', 'openai-chat'],
    [{ method: 'raw_predict' as const }, false, '/endpoints/42:rawPredict', 'openai-chat'],
    [{ method: 'raw_predict' as const }, true, '/endpoints/42:streamRawPredict', 'openai-chat'],
    [{ method: 'predict' as const }, false, '/endpoints/42:predict', 'openai-chat'],
    [{ method: 'predict' as const }, true, '/endpoints/42:predict', 'openai-chat'],
    [{ method: 'gemini' as const }, false, '/endpoints/42:generateContent', 'gemini'],
    [{ method: 'gemini' as const }, true, '/endpoints/42:streamGenerateContent?alt=sse', 'gemini'],
  ])('%j (stream %s) have the path %s', (settings, stream, path, format) => {
    const location = withEndpoints({ 'my-model.v2': { id: '42', ...settings } })('endpoints.my-model.v2', {
      task: 'generate',
      stream,
    });
    expect(location).toMatchObject({ path: `${P}${path}`, format, model: '42', host: 'vertex' });
    expect(location.quirks?.envelope !== undefined).toBe(path.endsWith(':predict'));
  });

  test('may name the model for the body, and refuse stream options', () => {
    const locations = withEndpoints({ llama: { id: '42', model: 'meta-llama/Llama-3.1-8B', stream_usage: false } });
    expect(locations('endpoints.llama', STREAM)).toMatchObject({
      model: 'meta-llama/Llama-3.1-8B',
      streamUsage: false,
    });
  });

  test('have their dedicated host, which other models do not use', () => {
    const dns = '42.us-central1-123456789012.prediction.vertexai.goog';
    const locations = withEndpoints({ llama: { id: '42', dedicated_dns: dns }, other: { id: '43' } });
    expect(locations('endpoints.llama', PLAIN)).toMatchObject({
      origin: `https://${dns}`,
      path: `${P}/endpoints/42/chat/completions`,
    });
    for (const model of ['endpoints.other', 'endpoints.42', 'gemini-2.5-pro'])
      expect(locations(model, PLAIN).origin).toBe('https://us-central1-aiplatform.googleapis.com');
  });

  test('are found by their exact name only', () => {
    const locations = withEndpoints({ llama: { id: '42' } });
    expect(locations('llama', PLAIN).path).toBe(`${P}/publishers/google/models/llama:generateContent`);
    expect(locations('endpoints.constructor', PLAIN).path).toBe(`${P}/endpoints/constructor/chat/completions`);
  });

  test.each<[string, Endpoints[string], string]>([
    ['id', { id: 'openapi' }, 'not the id'],
    ['id', { id: '../x' }, 'not the id'],
    ['dedicated_dns', { id: '42', dedicated_dns: 'evil.example' }, 'not of the form'],
    [
      'dedicated_dns',
      { id: '42', dedicated_dns: '42.us-central1-123456789012.prediction.vertexai.goog.evil.example' },
      'not of the form',
    ],
    [
      'dedicated_dns',
      { id: '42', dedicated_dns: 'evil.example/42.us-central1-123456789012.prediction.vertexai.goog' },
      'not of the form',
    ],
    [
      'dedicated_dns',
      { id: '42', dedicated_dns: '42.us-central1-123456789012.prediction.vertexai.goog:8443' },
      'not of the form',
    ],
    [
      'dedicated_dns',
      { id: '42', dedicated_dns: '43.us-central1-123456789012.prediction.vertexai.goog' },
      'another endpoint',
    ],
    [
      'dedicated_dns',
      { id: '42', dedicated_dns: '42.europe-west4-123456789012.prediction.vertexai.goog' },
      'another region',
    ],
    [
      'dedicated_dns',
      { id: '42', method: 'gemini', dedicated_dns: '42.us-central1-123456789012.prediction.vertexai.goog' },
      'tuned Gemini',
    ],
  ])('with a wrong %s are reported at load: %j', (key, settings, words) => {
    const { endpoints, problems } = read({ llama: settings });
    expect(endpoints).toBeUndefined();
    expect(problems).toEqual([{ path: ['endpoints', 'llama', key], message: expect.stringContaining(words) }]);
  });

  test('with a base_url have that host, and a dedicated host gets a warning', () => {
    const dedicated_dns = '42.us-central1-123456789012.prediction.vertexai.goog';
    const base_url = 'https://proxy.example';
    const { endpoints, problems } = read({ llama: { id: '42', dedicated_dns } }, { base_url });
    expect(problems).toMatchObject([{ path: ['endpoints', 'llama', 'dedicated_dns'], severity: 'warning' }]);
    const locations = at('us-central1', { base: { origin: base_url, prefix: '' }, endpoints: endpoints! });
    expect(locations('endpoints.llama', PLAIN).origin).toBe(base_url);
  });
});

describe('models in express mode', () => {
  const express = expressLocations({
    base: { origin: `https://${EXPRESS_HOST}`, prefix: '' },
    version: 'v1',
    embeddings: readEmbeddingSettings(),
  });

  test.each([
    ['gemini-2.5-flash', false, '/v1/publishers/google/models/gemini-2.5-flash:generateContent'],
    ['google.gemini-2.5-flash', true, '/v1/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse'],
  ])('%s (stream %s) has the path %s', (model, stream, path) => {
    expect(express(model, { task: 'generate', stream })).toEqual({
      origin: 'https://aiplatform.googleapis.com',
      path,
      format: 'gemini',
      model: 'gemini-2.5-flash',
      host: 'vertex',
      headers: {},
    });
  });

  test.each(['anthropic.claude-x', 'meta.llama-x', 'mistralai.m', 'endpoints.1', 'qwen/qwen3-maas'])(
    'refuses %s, which an API key does not serve',
    (model) => {
      expect(() => express(model, PLAIN)).toThrowError(
        expect.objectContaining({ code: 'invalid_model', message: expect.stringContaining('express mode') }),
      );
    },
  );

  test.each(HOSTILE_NAMES.map((name) => [name]))('refuses %j with a 400', (model) => {
    expect(() => express(model, PLAIN)).toThrowError(expect.objectContaining({ code: 'invalid_model' }));
  });
});
