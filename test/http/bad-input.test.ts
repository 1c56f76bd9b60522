import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { anthropicReply, entriesFor, json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

/** Every input that cannot be served is a 4xx in OpenAI's shape with a stable code, and the upstream hears nothing of it. */

let upstream: ScriptedUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream((_, res) => json(res, anthropicReply('hi')));
  gateway = await startTestGateway({
    server: { limits: { body: '64KiB', json_depth: 16 } },
    catalog: { providers: entriesFor(upstream.url) },
    keys: {
      keys: [
        { id: 'test', key: `\${env:NONE:-${KEY}}` },
        { id: 'old', key: '${env:NONE:-expired-key-0123}', expires_at: '2020-01-01T00:00:00Z' },
        { id: 'far', key: '${env:NONE:-elsewhere-key-0123}', networks: ['10.0.0.0/8'] },
        {
          id: 'narrow',
          key: '${env:NONE:-narrow-key-0123}',
          providers: ['@gemini'],
          models: ['gemini-2.5-*'],
          configs: ['mine'],
        },
      ],
    },
    gateway: { mine: { provider: '@gemini' }, other: { provider: '@claude' } },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const messages = [{ role: 'user', content: 'hi' }];
const chat = (more: object = {}) =>
  JSON.stringify({ model: '@claude/claude-3-5-haiku-20241022', max_tokens: 5, messages, ...more });

interface Case {
  readonly body?: string | Buffer;
  readonly headers?: Record<string, string>;
  readonly path?: string;
  readonly method?: string;
  readonly key?: string | null;
}

async function send({ body = chat(), headers = {}, path = '/v1/chat/completions', method = 'POST', key = KEY }: Case) {
  const response = await fetch(gateway.url + path, {
    method,
    headers: { 'content-type': 'application/json', ...(key !== null && { 'x-gateway-api-key': key }), ...headers },
    ...(method === 'POST' && { body: new Uint8Array(Buffer.from(body)) }),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as { error: Record<string, unknown> },
  };
}

const nested = (depth: number) => `{"model":"m","messages":[],"x":${'['.repeat(depth)}${']'.repeat(depth)}}`;

describe('bad input', () => {
  it.each<[string, Case, number, string, string | null]>([
    ['a body that is no JSON', { body: '{"model": ' }, 400, 'invalid_json', null],
    ['an empty body', { body: '' }, 400, 'invalid_json', null],
    ['a body that is an array', { body: '[1]' }, 400, 'invalid_request', null],
    [
      'bytes that are no UTF-8',
      { body: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]) },
      400,
      'invalid_json',
      null,
    ],
    ['a model that is no string', { body: chat({ model: 7 }) }, 400, 'invalid_request', 'model'],
    ['no model', { body: JSON.stringify({ messages }) }, 400, 'missing_required_parameter', 'model'],
    ['no messages', { body: JSON.stringify({ model: 'm' }) }, 400, 'missing_required_parameter', 'messages'],
    ['messages that are no list', { body: chat({ messages: 'hi' }) }, 400, 'invalid_request', 'messages'],
    [
      'a message without a role',
      { body: chat({ messages: [{ content: 'hi' }] }) },
      400,
      'missing_required_parameter',
      'messages[0].role',
    ],
    ['a temperature in words', { body: chat({ temperature: 'hot' }) }, 400, 'invalid_request', 'temperature'],
    ['a stream flag in words', { body: chat({ stream: 'yes' }) }, 400, 'invalid_request', 'stream'],
    ['a body over the limit', { body: chat({ pad: 'x'.repeat(70_000) }) }, 413, 'request_too_large', null],
    ['deep nesting', { body: nested(20) }, 400, 'body_too_deep', null],
    ['nesting that would break a parser', { body: nested(20_000) }, 400, 'body_too_deep', null],
    ['a top-level key twice', { body: `{"model":"@gemini/x",${chat().slice(1)}` }, 400, 'duplicate_parameter', 'model'],
    ['another media type', { headers: { 'content-type': 'text/plain' } }, 415, 'unsupported_media_type', null],
    [
      'a body in an unknown coding',
      { headers: { 'content-encoding': 'compress' } },
      415,
      'unsupported_media_type',
      null,
    ],
    ['a body in two codings', { headers: { 'content-encoding': 'gzip, gzip' } }, 415, 'unsupported_media_type', null],
    ['a body that is not in its coding', { headers: { 'content-encoding': 'gzip' } }, 400, 'invalid_encoding', null],
    ['no key', { key: null }, 401, 'missing_api_key', null],
    ['a wrong key', { key: 'wrong-key-0123456789' }, 401, 'invalid_api_key', null],
    ['an expired key', { key: 'expired-key-0123' }, 401, 'expired_api_key', null],
    ['a key of another network', { key: 'elsewhere-key-0123' }, 403, 'network_not_allowed', null],
    ['a provider the key may not use', { key: 'narrow-key-0123' }, 403, 'provider_not_allowed', null],
    [
      'a model the key may not use',
      { key: 'narrow-key-0123', body: chat({ model: '@gemini/gemini-3-pro' }) },
      403,
      'model_not_allowed',
      'model',
    ],
    [
      'a config the key may not use',
      { key: 'narrow-key-0123', headers: { 'x-gateway-config': 'other' } },
      403,
      'config_not_allowed',
      null,
    ],
    ['an unknown slug', { body: chat({ model: '@cloude/claude-3' }) }, 400, 'unknown_provider', 'model'],
    [
      'an unknown provider',
      { body: chat({ model: 'm' }), headers: { 'x-gateway-provider': 'azure' } },
      400,
      'unknown_provider',
      null,
    ],
    ['no provider at all', { body: chat({ model: 'm' }) }, 400, 'provider_required', null],
    ['a model that climbs the path', { body: chat({ model: '@gemini/x/../../y' }) }, 400, 'invalid_model', 'model'],
    ['a model with a query', { body: chat({ model: '@gemini/x?key=1' }) }, 400, 'invalid_model', 'model'],
    ['a slug without a model', { body: chat({ model: '@gemini/' }) }, 400, 'invalid_model', 'model'],
    ['several answers of Claude', { body: chat({ n: 2 }) }, 400, 'unsupported_parameter', 'n'],
    ['an unknown config', { headers: { 'x-gateway-config': 'nobody' } }, 400, 'unknown_config', null],
    ['a config id that is a path', { headers: { 'x-gateway-config': '../keys' } }, 400, 'invalid_header', null],
    ['metadata that is no JSON', { headers: { 'x-gateway-metadata': '{' } }, 400, 'invalid_header', null],
    ['metadata that is no text', { headers: { 'x-gateway-metadata': '{"a":1}' } }, 400, 'invalid_header', null],
    [
      'a compliance flag in words',
      { headers: { 'x-gateway-strict-open-ai-compliance': 'perhaps' } },
      400,
      'invalid_header',
      null,
    ],
    [
      'a caller-credential entry without credentials',
      { body: chat({ model: '@gemini/gemini-2.5-flash' }) },
      401,
      'upstream_credentials_required',
      null,
    ],
    [
      'a project without a region',
      {
        body: chat({ model: 'gemini-2.5-flash' }),
        headers: { 'x-gateway-provider': 'vertex-ai', 'x-gateway-vertex-project-id': 'my-project' },
      },
      400,
      'invalid_header',
      null,
    ],
    [
      'a region that is a host',
      {
        body: chat({ model: 'gemini-2.5-flash' }),
        headers: {
          'x-gateway-provider': 'vertex-ai',
          'x-gateway-vertex-project-id': 'my-project',
          'x-gateway-vertex-region': 'evil.example.com/',
        },
      },
      400,
      'invalid_header',
      null,
    ],
    [
      'an unknown parameter under strict params',
      { body: chat({ wishes: 3 }), headers: { 'x-gateway-strict-params': 'true' } },
      400,
      'unsupported_parameter',
      'wishes',
    ],
    ['an unknown route', { path: '/v1/nothing' }, 404, 'not_found', null],
    ['a known route by another method', { method: 'GET' }, 405, 'method_not_allowed', null],
  ])('%s is refused', async (_, request, status, code, param) => {
    const before = upstream.seen.length;
    const answer = await send(request);
    expect(answer.body.error).toEqual({ message: expect.stringMatching(/\S/), type: expect.any(String), param, code });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('x-gateway-request-id')).toMatch(/^[\w-]{36}$/);
    expect(upstream.seen.length).toBe(before);
  });

  it('that is only unknown is passed over and told', async () => {
    const answer = await send({ body: chat({ wishes: 3, seed: 1 }) });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-gateway-dropped-params')?.split(',').sort()).toEqual(['seed', 'wishes']);
    expect(upstream.seen.at(-1)?.json).not.toHaveProperty('wishes');
  });

  it('leaves the gateway serving', async () => {
    expect((await send({})).status).toBe(200);
  });
});
