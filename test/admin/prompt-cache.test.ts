import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  anthropicReply,
  geminiReply,
  json,
  openaiReply,
  startUpstream,
  type ScriptedUpstream,
} from '../support/upstream.ts';
import { FILE_KEY, startAdmin, type AdminGateway } from './kit.ts';

const CANARY = 'canary-text-of-a-prompt-7d1';
const SYSTEM = `${CANARY} `.repeat(200);
const TOOL = { name: 'find', description: CANARY, parameters: { type: 'object', properties: {} } };
const counted = { input_tokens: 5000, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 };

/** Each vendor tells that nothing came from its cache. */
async function answer(url: string) {
  if (url.includes('/messages')) return { ...anthropicReply('ok'), usage: counted };
  if (url.includes(':generateContent'))
    return {
      ...geminiReply('ok'),
      usageMetadata: {
        promptTokenCount: 5000,
        cachedContentTokenCount: 0,
        candidatesTokenCount: 1,
        totalTokenCount: 5001,
      },
    };
  return openaiReply('ok', {
    usage: {
      prompt_tokens: 5000,
      completion_tokens: 1,
      total_tokens: 5001,
      prompt_tokens_details: { cached_tokens: 0 },
    },
  });
}

let upstream: ScriptedUpstream;
let admin: AdminGateway;
let off: AdminGateway;

const settings = (url: string, hashes: boolean) => ({
  catalog: {
    providers: [
      {
        slug: 'gpt',
        provider: 'openai',
        api_key: '${env:NONE:-key}',
        base_url: `${url}/v1`,
        allow_insecure: true,
        api: 'chat',
      },
      {
        slug: 'spare',
        provider: 'openai',
        api_key: '${env:NONE:-key}',
        base_url: `${url}/v1`,
        allow_insecure: true,
        api: 'chat',
      },
      { slug: 'claude', provider: 'anthropic', api_key: '${env:NONE:-key}', base_url: url, allow_insecure: true },
    ],
  },
  // A budget in USD refuses models without a price.
  teams: { teams: { search: {} } },
  gateway: { default: { provider: '@gpt' }, spare: { provider: '@spare' }, claude: { provider: '@claude' } },
  server: { telemetry: { prefix_hashes: hashes } },
  admin: { role: 'operator' },
  state: { records: { days: 2 }, ledger_labels: ['env'] },
});

beforeAll(async () => {
  upstream = await startUpstream(async ({ url }, res) => json(res, await answer(url)));
  admin = await startAdmin(settings(upstream.url, true));
  off = await startAdmin(settings(upstream.url, false));
});
afterAll(async () => {
  await admin?.close();
  await off?.close();
  await upstream?.close();
});

async function send(to: AdminGateway, path: string, body: object, config = 'default'): Promise<void> {
  const reply = await fetch(`${to.gateway.data.url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${FILE_KEY}`,
      'x-gateway-metadata': '{"env":"prod"}',
      'x-gateway-config': config,
    },
    body: JSON.stringify(body),
  });
  expect([path, reply.status, await reply.text()]).toEqual([path, 200, expect.anything()]);
}

const chat = (model: string, more: object = {}) => ({
  model,
  messages: [
    { role: 'system', content: SYSTEM },
    { role: 'user', content: CANARY },
  ],
  tools: [{ type: 'function', function: TOOL }],
  ...more,
});

interface Row {
  readonly model: string;
  readonly input: number;
  readonly causes: object;
  readonly examples: readonly { readonly cause: string; readonly after: number | null }[];
}

async function rowsOf(of: AdminGateway): Promise<readonly Row[]> {
  const { status, json: body } = await of.ask('GET', '/prompt-cache');
  expect(status).toBe(200);
  return body.items as Row[];
}

describe('the prompt cache', () => {
  it('has a row for each key and model, with the likely cause of each miss, at every door', async () => {
    const path = '/v1/chat/completions';
    await send(admin, path, chat('@gpt/chat'));
    await send(admin, path, chat('@gpt/chat', { tools: [{ type: 'function', function: { ...TOOL, name: 'found' } }] }));
    const [name, description, parameters] = [TOOL.name, TOOL.description, TOOL.parameters];
    await send(admin, path, chat('@gpt/keys'));
    await send(
      admin,
      path,
      chat('@gpt/keys', { tools: [{ function: { parameters, description, name }, type: 'function' }] }),
    );
    await send(admin, path, chat('@gpt/moved'));
    await send(admin, path, chat('@spare/moved'), 'spare');
    for (const system of [SYSTEM, `now ${SYSTEM}`])
      await send(
        admin,
        '/v1/messages',
        {
          model: '@claude/claude-sonnet-4-5',
          messages: [{ role: 'user', content: 'hi' }],
          system,
          max_tokens: 5,
          tools: [{ name: 'find', input_schema: { type: 'object' } }],
        },
        'claude',
      );
    for (const instructions of [SYSTEM, `now ${SYSTEM}`])
      await send(admin, '/v1/responses', { model: '@gpt/responses', input: 'hi', instructions, store: false });
    for (const text of [SYSTEM, `now ${SYSTEM}`])
      await send(admin, '/v1beta/models/gemini:generateContent', {
        contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
        systemInstruction: { parts: [{ text }] },
      });
    const causes = Object.fromEntries((await rowsOf(admin)).map((row) => [row.model, row.causes]));
    expect(causes).toEqual({
      chat: { first: 1, tools: 1 },
      keys: { first: 1, key_order: 1 },
      moved: { first: 1, target: 1 },
      'claude-sonnet-4-5': { first: 1, system: 1 },
      responses: { first: 1, system: 1 },
      gemini: { first: 1, system: 1 },
    });
    const [row] = (await rowsOf(admin)).filter(({ model }) => model === 'chat');
    expect(row).toMatchObject({
      input: 10_000,
      examples: [
        { cause: 'first', after: null },
        { cause: 'tools', after: 0 },
      ],
    });
  });

  it('survives a restart in the records on disk, and has no text of a prompt anywhere', async () => {
    const before = await rowsOf(admin);
    admin = await admin.restart();
    expect(await rowsOf(admin)).toEqual(before);
    await send(admin, '/v1/chat/completions', chat('@gpt/chat'));
    // The key of the store has made the hashes of both processes.
    expect((await rowsOf(admin)).find(({ model }) => model === 'chat')!.causes).toEqual({ first: 1, tools: 2 });
    const answers = await Promise.all(
      ['/prompt-cache', '/requests', '/usage?by=label.env', '/ledger'].map((path) => admin.ask('GET', path)),
    );
    for (const { text } of answers) expect(text).not.toContain(CANARY);
    for (const name of globSync(join(admin.folder, '**/*')))
      if (statSync(name).isFile()) expect([name, readFileSync(name, 'latin1').includes(CANARY)]).toEqual([name, false]);
    expect(admin.logText()).not.toContain(CANARY);
  });

  it('says nothing of prompts where the hashes are off, and makes none', async () => {
    await send(off, '/v1/chat/completions', chat('@gpt/chat'));
    await send(off, '/v1/chat/completions', chat('@gpt/chat', { tools: [] }));
    expect((await off.ask('GET', '/prompt-cache')).json).toMatchObject({
      prefix_hashes: false,
      items: [{ model: 'chat', causes: { first: 1, unknown: 1 } }],
    });
    expect((await off.ask('GET', '/requests')).text).not.toContain('prefixes');
  });
});

it('Costs are summed by a label of requests', async () => {
  await expect
    .poll(async () => (await off.ask('GET', '/usage?by=provider,label.env&step=all')).json.items)
    .toMatchObject([{ provider: 'gpt', labels: { env: 'prod' }, requests: 2 }]);
});

it('A price becomes a patch of prices.yaml', async () => {
  const spec = { model: 'chat', entry: '@gpt', usd: { input: 1, output: 2 } };
  const { status, json: draft } = await off.ask('POST', '/prices:draft', { body: { id: 'gpt-chat', spec } });
  expect(status).toBe(200);
  expect(draft).toMatchObject({ file: 'prices.yaml', diagnostics: [] });
  expect(draft.patch).toContain('+  - id: gpt-chat\n+    model: chat\n');
  const lost = { id: 'x', spec: { model: 'chat', entry: '@lost', usd: { input: 1 } } };
  expect((await off.ask('POST', '/prices:draft', { body: lost })).json.diagnostics).toMatchObject([
    { file: 'prices.yaml', line: 4, message: 'there is no catalog entry @lost' },
  ]);
  const wrong = { id: 'x', spec: { model: 'chat', usd: { inputs: 1 } } };
  expect((await off.ask('POST', '/prices:draft', { body: wrong })).json).toMatchObject({ code: 'invalid_body' });
});
