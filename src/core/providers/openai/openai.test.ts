import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { OpenAiEntry } from '../../../../schemas/types.generated.ts';
import type { FormatName } from '../../../formats/conversation.ts';
import { Secret } from '../../../plugin/index.ts';
import { HOSTILE_IN_BODY } from '../hostile-names.testkit.ts';
import { noTokenCalls, testSetup } from '../setup.testkit.ts';
import { openai } from './index.ts';

const api_key = new Secret('sk-proj-CANARY');
const noCaller = { upstreamToken: undefined };

function create(changes: Partial<OpenAiEntry>) {
  const { setup, problems } = testSetup(noTokenCalls);
  return { entry: openai.create({ slug: 'own', provider: 'openai', ...changes }, setup), problems };
}

const urlOf = (base_url: string, changes: Partial<OpenAiEntry> = {}) => {
  const { entry, problems } = create({ base_url, ...changes });
  const location = entry?.locate('m', { task: 'generate', stream: false });
  return { url: location && location.origin + location.path, problems };
};

describe('an openai entry', () => {
  test('has the address of OpenAI when it has only a key', async () => {
    const { entry, problems } = create({ api_key });
    expect(problems).toEqual([]);
    expect(entry?.locate('gpt-4o', { task: 'generate', stream: true })).toEqual({
      customTools: true,
      extensions: new Set(),
      origin: 'https://api.openai.com',
      path: '/v1/chat/completions',
      format: 'openai-chat',
      model: 'gpt-4o',
      host: 'direct',
      headers: {},
      streamUsage: true,
      signatureScope: expect.stringMatching(/^[0-9a-f]{12}$/),
    });
    expect(await entry?.authorize(noCaller)).toEqual({ authorization: 'Bearer sk-proj-CANARY' });
    expect(entry).toMatchObject({ slug: 'own', provider: 'openai', semconvName: 'openai', allowInsecure: false });
  });

  test('sends no credentials to a server that needs none, rather than an empty bearer', async () => {
    const { entry } = create({ base_url: 'http://127.0.0.1:11434/v1', allow_insecure: true });
    expect(await entry?.authorize(noCaller)).toEqual({});
    expect(entry?.allowInsecure).toBe(true);
  });

  test.each<[string, Partial<OpenAiEntry>, string, boolean, string, string]>([
    ['a client of the API', {}, 'openai-responses', false, 'gpt-4o', '/v1/responses'],
    ['tools of a model that refuses them on chat', {}, 'anthropic-messages', true, 'gpt-5.4-mini', '/v1/responses'],
    ['the same without tools', {}, 'anthropic-messages', false, 'gpt-5.4', '/v1/chat/completions'],
    ['tools of an older model', {}, 'openai-chat', true, 'gpt-5.1', '/v1/chat/completions'],
    ['anything where chat is demanded', { api: 'chat' }, 'openai-responses', true, 'gpt-6', '/v1/chat/completions'],
    ['anything where responses are demanded', { api: 'responses' }, 'gemini', false, 'm', '/v1/responses'],
    [
      'another server',
      { base_url: 'https://vllm.example/v1' },
      'openai-responses',
      true,
      'gpt-6',
      '/v1/chat/completions',
    ],
    [
      'another server that has it',
      { base_url: 'https://v.example/v1', api: 'responses' },
      'gemini',
      false,
      'm',
      '/v1/responses',
    ],
  ])('chooses the API: %s', (_, changes, client, tools, model, path) => {
    const call = { task: 'generate', stream: true, client: client as FormatName, tools } as const;
    const location = create({ api_key, ...changes }).entry?.locate(model, call);
    expect(location).toMatchObject({
      path,
      format: path === '/v1/responses' ? 'openai-responses' : 'openai-chat',
    });
  });

  test.each<[string, Partial<OpenAiEntry>, boolean]>([
    ['OpenAI', {}, true],
    ['a region of OpenAI', { base_url: 'https://eu.api.openai.com/v1' }, true],
    ['another server', { base_url: 'https://vllm.example/v1' }, false],
    ['another server whose entry says so', { base_url: 'https://relay.example/v1', custom_tools: true }, true],
  ])('takes free-text tools: %s', (_, changes, expected) => {
    const location = create({ api_key, ...changes }).entry?.locate('m', { task: 'generate', stream: false });
    expect(location?.customTools).toBe(expected);
  });

  test.each<[Partial<OpenAiEntry>, FormatName, string | undefined]>([
    [{}, 'openai-responses', 'does not know whether this server has the Responses API'],
    [{}, 'openai-chat', undefined],
    [{ api: 'chat' }, 'openai-responses', undefined],
  ])('gives the reason why %j sends a client of %s to chat completions', (changes, client, reason) => {
    const { entry } = create({ api_key, base_url: 'https://vllm.example/v1', ...changes });
    const location = entry?.locate('m', { task: 'generate', stream: false, client });
    expect(location?.format).toBe('openai-chat');
    if (reason === undefined) expect(location?.formatReason).toBeUndefined();
    else expect(location?.formatReason).toContain(reason);
  });

  test('sends organization and project', () => {
    const { entry } = create({ api_key, organization: 'org-1', project: 'proj_1' });
    expect(entry?.locate('gpt-4o', { task: 'generate', stream: false }).headers).toEqual({
      'openai-organization': 'org-1',
      'openai-project': 'proj_1',
    });
  });

  test('knows when its server refuses requests for usage', () => {
    expect(
      create({ api_key, stream_usage: false }).entry?.locate('m', { task: 'generate', stream: true }).streamUsage,
    ).toBe(false);
  });

  test('never prints its key', () => {
    const { entry } = create({ api_key, secret_headers: { 'x-proxy-token': new Secret('other-CANARY') } });
    const printed = inspect(entry, { depth: 9, showHidden: true }) + JSON.stringify(entry);
    expect(printed + JSON.stringify(entry?.locate('m', { task: 'generate', stream: true }))).not.toContain('CANARY');
  });

  test.each(['', 'sk CANARY', 'sk-CANARY\n', 'sk-CANARÝ'])('refuses the key %j', (key) => {
    const { entry, problems } = create({ api_key: new Secret(key) });
    expect(entry).toBeUndefined();
    expect(problems).toEqual([{ path: ['api_key'], message: expect.stringContaining('api_key') }]);
    expect(JSON.stringify(problems)).not.toContain('CANARY');
  });
});

describe('base_url', () => {
  test.each([
    ['https://api.groq.com/openai/v1', 'https://api.groq.com/openai/v1/chat/completions'],
    ['https://api.mistral.ai/v1/', 'https://api.mistral.ai/v1/chat/completions'],
    ['https://api.z.ai/api/paas/v4//', 'https://api.z.ai/api/paas/v4/chat/completions'],
    [
      'https://generativelanguage.googleapis.com/v1beta/openai/',
      'https://generativelanguage.googleapis.com/v1beta/openai/chat/completions',
    ],
    ['https://gateway.example/v1/acme/openai', 'https://gateway.example/v1/acme/openai/chat/completions'],
  ])('%s results in %s', (base, expected) => {
    expect(urlOf(base)).toEqual({ url: expected, problems: [] });
  });

  test.each([
    ['https://vllm.example:8000', 'https://vllm.example:8000/v1/chat/completions'],
    ['https://vllm.example:8000/', 'https://vllm.example:8000/v1/chat/completions'],
    ['https://api.groq.com/openai', 'https://api.groq.com/openai/v1/chat/completions'],
    ['https://vllm.example/v1x-y', 'https://vllm.example/v1x-y/v1/chat/completions'],
  ])('%s has no version: it results in %s, with a warning', (base, expected) => {
    expect(urlOf(base)).toEqual({
      url: expected,
      problems: [{ path: ['base_url'], severity: 'warning', message: expect.stringContaining('no version') }],
    });
  });

  test('is not changed for an API without a version', () => {
    expect(urlOf('https://models.example/inference', { unversioned: true })).toEqual({
      url: 'https://models.example/inference/chat/completions',
      problems: [],
    });
  });

  test.each([{ base_url: 'https://api.groq.com/openai/v1' }, { api_key }])(
    'of %j has a version, so `unversioned` gets a warning',
    (changes) => {
      const { entry, problems } = create({ ...changes, unversioned: true });
      expect(entry?.locate('m', { task: 'generate', stream: false }).path).toContain('/v1/chat/completions');
      expect(problems).toMatchObject([{ path: ['unversioned'], severity: 'warning' }]);
    },
  );

  test.each([
    ['https://api.groq.com/openai/v1/chat/completions', '/chat/completions, which is added'],
    ['https://api.groq.com/openai/v1/completions/', '/completions, which is added'],
    ['https://vllm.example/v1/embeddings', '/embeddings, which is added'],
    ['https://vllm.example/v1/v1', '/v1 twice'],
    ['https://vllm.example/api/v4/v4/', '/v4 twice'],
    ['https://api.openai.com/v1', 'needs an api_key'],
    ['https://eu.api.openai.com/v1', 'needs an api_key'],
    ['https://res.openai.azure.com/openai/v1', 'azure-openai'],
    ['http://vllm.example/v1', 'plain http'],
  ])('%s is reported as a mistake at its path', (base, words) => {
    expect(urlOf(base)).toEqual({
      url: undefined,
      problems: [{ path: ['base_url'], message: expect.stringContaining(words) }],
    });
  });
});

describe('headers of an entry', () => {
  test('are sent with every request, the secret ones hidden from plugins', async () => {
    const { entry, problems } = create({
      api_key,
      headers: { 'HTTP-Referer': 'https://app.example', 'X-Title': 'My app' },
      secret_headers: { 'CF-Access-Client-Secret': new Secret('cf-CANARY') },
    });
    expect(problems).toEqual([]);
    expect(entry?.locate('m', { task: 'generate', stream: false }).headers).toEqual({
      'http-referer': 'https://app.example',
      'x-title': 'My app',
    });
    expect(await entry?.authorize(noCaller)).toEqual({
      authorization: 'Bearer sk-proj-CANARY',
      'cf-access-client-secret': 'cf-CANARY',
    });
  });

  test('may contain another kind of authorization where there is no key', async () => {
    const { entry } = create({
      base_url: 'https://llm.example/v1',
      secret_headers: { Authorization: new Secret('Basic Q0FOQVJZ') },
    });
    expect(await entry?.authorize(noCaller)).toEqual({ authorization: 'Basic Q0FOQVJZ' });
  });

  test.each<[string, Partial<OpenAiEntry>, (string | number)[], string]>([
    [
      'a credential in the open',
      { headers: { 'X-Auth-Token': 'CANARY' } },
      ['headers', 'X-Auth-Token'],
      'secret_headers',
    ],
    ['one of the connection', { headers: { Host: 'other.example' } }, ['headers', 'Host'], 'belongs to the connection'],
    [
      'the body’s',
      { headers: { 'Content-Type': 'text/plain' } },
      ['headers', 'Content-Type'],
      'written by the gateway',
    ],
    ['a name with a space', { headers: { 'X Title': 'a' } }, ['headers', 'X Title'], 'name that no header'],
    ['a value with a line break', { headers: { 'X-Title': 'a\r\nX-Evil: 1' } }, ['headers', 'X-Title'], 'has a value'],
    ['an empty value', { headers: { 'X-Title': '' } }, ['headers', 'X-Title'], 'has a value'],
    ['one name twice', { headers: { 'X-Title': 'a', 'x-title': 'b' } }, ['headers', 'x-title'], 'already'],
    [
      'what `organization` writes',
      { organization: 'org-1', headers: { 'OpenAI-Organization': 'org-2' } },
      ['headers', 'OpenAI-Organization'],
      'already',
    ],
    [
      'what `api_key` writes',
      { secret_headers: { Authorization: new Secret('Bearer CANARY') } },
      ['secret_headers', 'Authorization'],
      'already',
    ],
    [
      'a secret no header can carry',
      { secret_headers: { 'X-Proxy-Token': new Secret('CANARY\n') } },
      ['secret_headers', 'X-Proxy-Token'],
      'has a value',
    ],
  ])('cannot be %s', (_title, changes, path, words) => {
    const { entry, problems } = create({ api_key, ...changes });
    expect(entry).toBeUndefined();
    expect(problems).toEqual([expect.objectContaining({ path, message: expect.stringContaining(words) })]);
    expect(JSON.stringify(problems)).not.toContain('CANARY');
  });
});

describe('model names', () => {
  const locate = (model: string) => create({ api_key }).entry?.locate(model, { task: 'generate', stream: false });

  test.each([
    'gpt-4o',
    'ft:gpt-4o-mini:acme::AbC123',
    'meta-llama/Llama-3.1-8B-Instruct',
    'qwen2.5:7b',
    'hf.co/bartowski/Llama-3.2-3B-Instruct-GGUF:Q4_K_M',
    'accounts/fireworks/models/x#accounts/acme/deployments/y',
    '/models/own-model',
    '@cf/meta/llama-3.1-8b-instruct',
  ])('of other servers are sent in the body unchanged: %s', (model) => {
    expect(locate(model)).toMatchObject({ model, path: '/v1/chat/completions' });
  });

  test.each(HOSTILE_IN_BODY)('that are hostile are refused: %j', (model) => {
    expect(() => locate(model)).toThrowError(expect.objectContaining({ code: 'invalid_model', status: 400 }));
  });
});
