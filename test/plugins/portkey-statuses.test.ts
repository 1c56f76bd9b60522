import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../http/websockets/kit.testkit.ts';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import {
  anthropicReply,
  entriesFor,
  json,
  openaiChunk,
  openaiReply,
  sse,
  startUpstream,
  type ScriptedUpstream,
} from '../support/upstream.ts';
import { CLIENT_APIS, send } from './client-apis.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream(({ url, json: body }, res) => {
    if (url.includes('/messages')) return json(res, anthropicReply('a whisper'));
    if (body['stream'] !== true) return json(res, openaiReply('a whisper'));
    return sse(res, [openaiChunk({ content: 'a whisper' }), openaiChunk({}, 'stop'), 'data: [DONE]\n\n']);
  });
  const guard = (name: string, action: string, on: string, word: string) => ({
    name,
    check: 'words',
    action,
    on: [on],
    options: { words: [word], mask: '[R]' },
  });
  gateway = await startTestGateway({
    server: { portkey_statuses: true },
    catalog: { providers: entriesFor(upstream.url) },
    gateway: {
      denies: { guards: [guard('g', 'deny', 'input', 'secret')] },
      denies_reply: { guards: [guard('g', 'deny', 'output', 'whisper')] },
      observes: { guards: [guard('g', 'observe', 'input', 'secret')] },
      observes_reply: { guards: [guard('g', 'observe', 'output', 'whisper')] },
      masks: { guards: [guard('g', 'mask', 'output', 'whisper')] },
      passes: { guards: [guard('g', 'deny', 'input', 'other')] },
      targets: { targets: [{ guards: [guard('g', 'observe', 'output', 'whisper')] }] },
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const result = (verdict: boolean, more: object = {}) => [
  expect.objectContaining({ id: 'g', type: 'guardrail', verdict, deny: false, transformed: false, ...more }),
];

describe.each(CLIENT_APIS)("a decision of a guard in Portkey's words, on $name", (api) => {
  const target = api.name === 'messages' ? '@claude/claude-sonnet-4-5' : '@openai/m';

  it.each([
    ['denies', 446, result(false, { deny: true }), []],
    ['denies_reply', 446, [], result(false, { deny: true })],
    ['observes', 246, result(false), []],
    ['observes_reply', 246, [], result(false)],
    ['targets', 246, [], result(false)],
  ])('is a status and results: %s', async (config, status, before, after) => {
    const response = await send(gateway.url, api, target, { headers: { 'x-gateway-config': config } });
    const body = (await response.json()) as Record<string, unknown>;
    expect([response.status, body]).toEqual([
      status,
      expect.objectContaining({ hook_results: { before_request_hooks: before, after_request_hooks: after } }),
    ]);
    expect(Object.hasOwn(body, 'error')).toBe(status === 446 || api.name === 'responses');
    expect(JSON.stringify(body['hook_results'])).not.toMatch(/secret|whisper/);
  });

  it.each(['masks', 'passes'])('is not shown where all is well: %s', async (config) => {
    const response = await send(gateway.url, api, target, { headers: { 'x-gateway-config': config } });
    expect([response.status, await response.text()]).toEqual([200, expect.not.stringContaining('hook_results')]);
  });
});

describe('a stream', () => {
  it.each([
    ['denies', 446],
    ['observes', 246],
    ['passes', 200],
  ])('has a status by its request: %s', async (config, status) => {
    const [api] = CLIENT_APIS;
    const response = await send(gateway.url, api!, '@openai/m', {
      stream: true,
      headers: { 'x-gateway-config': config },
    });
    await response.text();
    expect(response.status).toBe(status);
  });
});

describe('a turn of a WebSocket', () => {
  it('has the status of a refusal', async () => {
    const headers = { 'x-gateway-api-key': KEY, 'x-gateway-config': 'denies' };
    const client = await connect(gateway, { headers });
    const frames = await client.turn({ model: '@openai/m', input: 'secret', store: false });
    client.ws.close();
    expect(frames.at(-1)).toMatchObject({ type: 'error', status: 446 });
  });
});
