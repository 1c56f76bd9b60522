import { describe, expect, it } from 'vitest';
import { KEY } from '../support/gateway.ts';
import { startPair } from '../support/pair.ts';
import { json, openaiReply, type Script } from '../support/upstream.ts';

const PAGE = 'https://chat.example.com';
const cors = { plugin: 'cors', options: { origins: [PAGE] } };
const entry = ['telemetry', cors, 'errors', 'auth', 'models', 'body', 'responses', 'config'];
const answers: Script = (_, res) => json(res, openaiReply('hi'), 200, { 'access-control-allow-origin': '*' });

const start = (server: object = { chains: { entry } }) => startPair(answers, { server });

async function send(
  url: string,
  init: RequestInit & { headers: Record<string, string> },
  path = '/v1/chat/completions',
) {
  const response = await fetch(`${url}${path}`, init);
  await response.text();
  return response;
}

const preflight = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' };
const body = JSON.stringify({ model: '@openai/m', messages: [{ role: 'user', content: 'hi' }] });
const post = (headers: Record<string, string>) => ({
  method: 'POST',
  body,
  headers: { 'content-type': 'application/json', ...headers },
});
const corsOf = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));

describe('a web page', () => {
  it('of a listed origin gets the answer to its preflight without a key, and may read replies and errors', async () => {
    const { gateway, upstream } = await start();
    const before = await send(gateway.url, { method: 'OPTIONS', headers: { origin: PAGE, ...preflight } });
    expect(before.status).toBe(204);
    expect(corsOf(before)).toMatchObject({
      'access-control-allow-origin': PAGE,
      'access-control-allow-headers': 'authorization',
    });
    expect(upstream.seen).toEqual([]);

    const reply = await send(gateway.url, post({ origin: PAGE, authorization: `Bearer ${KEY}` }));
    expect(reply.status).toBe(200);
    expect(reply.headers.get('access-control-allow-origin')).toBe(PAGE);
    expect(reply.headers.get('vary')).toContain('Origin');
    // Every header of the gateway that the reply has is one that the page may read.
    const exposed = reply.headers.get('access-control-expose-headers')!.split(', ');
    const own = [...reply.headers.keys()].filter(
      (name) => name.startsWith('x-gateway-') || name.endsWith('request-id'),
    );
    expect(own.length).toBeGreaterThan(3);
    expect(own.filter((name) => !exposed.includes(name))).toEqual([]);

    const error = await send(gateway.url, post({ origin: PAGE }));
    expect([error.status, error.headers.get('access-control-allow-origin')]).toEqual([401, PAGE]);
  });

  it('of another origin gets no permission, neither of the gateway nor of an upstream', async () => {
    const { gateway } = await start();
    const origin = 'https://evil.example.com';
    const before = await send(gateway.url, { method: 'OPTIONS', headers: { origin, ...preflight } });
    expect([before.status, corsOf(before)]).toEqual([405, {}]);
    const reply = await send(gateway.url, post({ origin, authorization: `Bearer ${KEY}` }));
    expect([reply.status, corsOf(reply)]).toEqual([200, {}]);
    expect(reply.headers.get('vary')).toContain('Origin');
  });

  it('gets no permission from a gateway without the plugin', async () => {
    const { gateway } = await start({});
    const before = await send(gateway.url, { method: 'OPTIONS', headers: { origin: PAGE, ...preflight } });
    expect([before.status, corsOf(before)]).toEqual([405, {}]);
    const reply = await send(gateway.url, post({ origin: PAGE, authorization: `Bearer ${KEY}` }));
    expect(reply.headers.get('access-control-expose-headers')).toBeNull();
  });
});
