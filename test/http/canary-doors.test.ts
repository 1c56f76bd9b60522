import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testPrivateKey } from '../../src/core/providers/setup.testkit.ts';
import { DOORS, knock, showsAnswer, type Door } from '../operations/doors.ts';
import { PROBE_PROMPT } from '../operations/probes.ts';
import { catalogFor } from '../operations/upstreams.ts';
import { answer } from '../operations/wires.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import { connect, refusal } from './websockets/kit.testkit.ts';

/** No door tells a secret, wherever a client puts its key, and none sends the key on. */

const privateKey = testPrivateKey();
const CANARIES = {
  accessToken: 'canary-access-token-e10c77',
  privateKey: privateKey.split('\n')[3]!,
  gatewayKey: 'canary-gateway-key-7f3a91',
  vendorKey: 'canary-vendor-key-55ab02',
  callerToken: 'canary-caller-token-90dd4e',
};
const KEY = CANARIES.gatewayKey;

/** Where clients put their key. */
const PLACES: Readonly<Record<string, (key: string) => { headers?: Record<string, string>; query?: string }>> = {
  'x-gateway-api-key': (key) => ({
    headers: { 'x-gateway-api-key': key, authorization: `Bearer ${CANARIES.callerToken}` },
  }),
  authorization: (key) => ({ headers: { authorization: `Bearer ${key}` } }),
  'x-api-key': (key) => ({ headers: { 'x-api-key': key } }),
  'x-goog-api-key': (key) => ({ headers: { 'x-goog-api-key': key } }),
  query: (key) => ({ query: `key=${key}` }),
};

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let folder: string;
const outputs: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-canary-doors-'));
  // To a request about errors it repeats everything that it received.
  upstream = await startUpstream((request, res) => {
    if (request.url === '/token') return json(res, { access_token: CANARIES.accessToken, expires_in: 3600 });
    if (!request.text.includes('feature: errors')) return answer(request, res);
    const message = `bad request: ${request.url} ${JSON.stringify(request.headers)}`;
    const error = { code: 400, message, type: 'invalid_request_error', status: 'INVALID_ARGUMENT' };
    json(res, { type: 'error', error }, 400, { 'x-request-id': message.slice(0, 500) });
  });
  const token_uri = `${upstream.url}/token`;
  const account = {
    project_id: 'test-project',
    client_email: 'a@b.example',
    token_uri,
    private_key: '${env:PRIVATE_KEY}',
  };
  const entries = (catalogFor(upstream.url) as { readonly providers: readonly { readonly slug: string }[] }).providers;
  gateway = await startTestGateway(
    {
      server: {
        telemetry: { log: { level: 'debug' } },
        egress: { token_uris: [token_uri] },
        files: { dir: folder, url: 'https://files.example.com/v1/files' },
      },
      catalog: {
        providers: entries.map((entry) => ({
          ...entry,
          ...(entry.slug === 'vertex' ? { service_account: account } : { api_key: '${env:VENDOR_KEY}' }),
        })),
      },
      keys: { keys: [{ id: 'k', key: '${env:GATEWAY_KEY}' }] },
      prompts: { probe: PROBE_PROMPT },
    },
    { env: { VENDOR_KEY: CANARIES.vendorKey, GATEWAY_KEY: CANARIES.gatewayKey, PRIVATE_KEY: privateKey } },
  );
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function ask(door: Door, place: keyof typeof PLACES, { key = KEY, feature = door.feature } = {}) {
  const { headers = {}, query } = PLACES[place]!(key);
  const reply = await knock(gateway.url, door, { feature, headers, query });
  const text = await reply.text();
  const id = reply.headers.get('x-gateway-request-id')!;
  outputs.push(text, inspect(reply.headers), JSON.stringify(gateway.gateway.record(id)));
  return { status: reply.status, text };
}

describe.each(DOORS.map((door) => [door.title, door] as const))('%s', (_, door) => {
  it.each(Object.keys(PLACES))('with the key in %s', async (place) => {
    const { status, text } = await ask(door, place);
    if (door.feature) expect([status, showsAnswer(door, text)], text).toEqual([200, true]);
    else expect([200, 400, 404, 426], text).toContain(status);
    if (door.feature) expect((await ask(door, place, { feature: 'errors' })).status).toBe(400);
    expect((await ask(door, place, { key: `${KEY}x` })).status).toBe(401);
  });
});

it('turns of a socket tell none either', async () => {
  for (const place of ['x-gateway-api-key', 'authorization', 'x-api-key'] as const) {
    const headers = { authorization: '', ...PLACES[place]!(KEY).headers };
    const socket = await connect(gateway, { headers });
    for (const feature of ['plain', 'errors'])
      outputs.push(JSON.stringify(await socket.turn({ model: '@openai/gpt-5-mini', input: `feature: ${feature}` })));
    const wrong = PLACES[place]!(`${KEY}x`).headers;
    outputs.push(inspect(await refusal(gateway, { headers: { authorization: '', ...wrong } })));
  }
});

it('nothing that came out holds a secret, and no upstream got the key', async () => {
  const metrics = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
  await gateway.close();
  await upstream.close();
  const everything = [gateway.logText(), metrics, ...outputs].join('\n');
  for (const [name, canary] of Object.entries(CANARIES))
    expect(everything.includes(canary), `${name} came out`).toBe(false);
  const sent = JSON.stringify(upstream.seen.map(({ url, headers, text }) => [url, headers, text]));
  expect(sent.includes(CANARIES.gatewayKey)).toBe(false);
  // The entries have credentials of their own, so they get no caller's.
  expect(sent.includes(CANARIES.callerToken)).toBe(false);
  expect([sent.includes(CANARIES.vendorKey), sent.includes(CANARIES.accessToken)]).toEqual([true, true]);
});
