import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import Anthropic, { NotFoundError } from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';

/** Errors for routes that the gateway does not serve: in the client's own API format, with an alternative. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.close());

const ask = (method: string, path: string, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}${path}`, { method, headers: { 'x-api-key': KEY, ...headers } });
const caught = (work: Promise<unknown>) => work.catch((error: unknown) => error);

const P = '/v1/projects/test-project/locations/us-central1/publishers/google/models';

describe('what is not served', () => {
  it.each([
    ['GET', '/v1/messages', 405, 'POST'],
    ['OPTIONS', '/v1/messages', 405, 'POST'],
    ['DELETE', '/v1/messages/count_tokens', 405, 'POST'],
    ['POST', '/v1/messages/batches', 404, null],
    ['GET', '/v1/messages/batches/msgbatch_1', 404, null],
  ])('%s %s is an error of the Messages API', async (method, path, status, allow) => {
    const answer = await ask(method, path);
    expect([answer.status, answer.headers.get('allow')]).toEqual([status, allow]);
    expect(await answer.json()).toMatchObject({
      type: 'error',
      error: { type: status === 404 ? 'not_found_error' : 'invalid_request_error' },
      request_id: answer.headers.get('request-id'),
    });
  });

  it.each([
    ['POST', `${P}/gemini-2.5-flash:generateText`, 405],
    ['POST', `${P}/gemini-2.5-flash:streamGenerateText?alt=sse`, 405],
    ['POST', `${P}/gemini-2.5-flash`, 405],
    ['POST', '/v1/projects/p-1/locations/us-central1/endpoints/123:countTokens', 404],
    ['GET', '/v1/projects/p-1/locations/us-central1/publishers/meta/models', 404],
  ])('%s %s is an error of Google’s', async (method, path, status) => {
    const answer = await ask(method, path);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({
      error: { code: status, message: expect.stringContaining(path.split('?')[0]!), status: expect.any(String) },
    });
  });

  it.each([
    ['POST', '/oauth/token', 401, 'invalid_grant'],
    ['POST', '/v1/oauth/token/', 401, 'invalid_grant'],
    ['POST', '/oauth/device_authorization', 400, 'unauthorized_client'],
    ['GET', '/oauth/token', 404, 'not_found'],
    ['GET', '/oauth/authorize?response_type=code', 404, 'not_found'],
    ['POST', '/oauth/revoke', 404, 'not_found'],
    ['GET', '/api/oauth/usage', 404, 'not_found'],
    ['GET', '/.well-known/oauth-authorization-server', 404, 'not_found'],
    ['GET', '/.well-known/oauth-authorization-server/v1', 404, 'not_found'],
    ['GET', '/.well-known/oauth-protected-resource', 404, 'not_found'],
    ['GET', '/.well-known/openid-configuration', 404, 'not_found'],
    ['GET', '/managed/settings', 404, 'not_found'],
  ])('%s %s is refused as OAuth has it, with %s %s and no key', async (method, path, status, error) => {
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const form = { method, body: 'grant_type=refresh_token&refresh_token=r-secret' };
    const answer = await fetch(gateway.url + path, { headers: type, ...(method === 'POST' && form) });
    const text = await answer.text();
    expect([answer.status, JSON.parse(text)]).toEqual([status, { error, error_description: expect.any(String) }]);
    // RFC 6749, section 5.2: no quotes and no backslashes.
    expect((JSON.parse(text) as Record<string, string>)['error_description']).toMatch(
      /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/,
    );
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('content-type')).toContain('application/json');
    expect(answer.headers.get('x-should-retry')).toBe(status === 401 ? 'false' : null);
    expect(text + gateway.logText()).not.toContain('r-secret');
  });

  it.each(['/oauthx', '/x/oauth/token', '/managed/settings/x', '/.well-known/other', '/v1/metrics'])(
    '%s is no such path',
    async (path) => {
      const answer = await ask('POST', path);
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ error: { code: 'not_found' } });
    },
  );

  it('is a 426 for a WebSocket', async () => {
    const headers = { 'x-api-key': KEY, connection: 'Upgrade', upgrade: 'websocket' };
    const [reply] = (await once(get(`${gateway.url}/v1/chat/completions`, { headers }), 'response')) as [
      IncomingMessage,
    ];
    const body = JSON.parse(await text(reply)) as object;
    expect([reply.statusCode, reply.headers['upgrade']]).toEqual([426, 'HTTP/1.1']);
    expect(body).toMatchObject({ error: { code: 'upgrade_required', message: expect.stringContaining('POST') } });
  });

  it('is an Anthropic error with a request id for Anthropic’s client on any path, recognized by its header', async () => {
    const client = new Anthropic({ baseURL: gateway.url, apiKey: KEY, maxRetries: 0 });
    for (const work of [client.beta.messages.batches.list(), client.messages.batches.list()]) {
      const failure = await caught(Promise.resolve(work));
      expect(failure).toBeInstanceOf(NotFoundError);
      expect(failure).toMatchObject({ type: 'not_found_error', requestID: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    }
  });

  it('names the path that was meant where only the base URL is another API’s', async () => {
    const anthropic = new Anthropic({ baseURL: `${gateway.url}/v1`, apiKey: KEY, maxRetries: 0 });
    const openai = new OpenAI({ baseURL: gateway.url, apiKey: KEY, maxRetries: 0 });
    const turn = { model: '@sim/m', max_tokens: 5, messages: [{ role: 'user' as const, content: 'hi' }] };
    expect(String(await caught(anthropic.messages.create(turn)))).toContain('Did you mean /v1/messages?');
    expect(String(await caught(openai.chat.completions.create(turn)))).toContain('Did you mean /v1/chat/completions?');
    expect(await (await ask('POST', '//v1/messages')).text()).toContain('Did you mean /v1/messages?');
    expect(await (await ask('GET', '/v1/batches')).text()).not.toContain('Did you mean');
  });

  it('needs no key, and has one label', async () => {
    expect((await ask('GET', `/v1/messages/${'x'.repeat(500)}`, { 'x-api-key': '' })).status).toBe(404);
    const text = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
    const routes = [...text.matchAll(/gatehouse_requests_total\{route="([^"]*)"[^}]*\} [1-9]/g)].map(
      ([, route]) => route,
    );
    expect(new Set(routes)).toEqual(new Set(['unmatched']));
  });
});
