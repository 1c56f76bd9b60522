import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SettingsRefused } from '../../src/core/settings/source/diagnostic.ts';
import { writeSummary } from '../../src/formats/envelope.ts';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import {
  anthropicReply,
  entriesFor,
  geminiReply,
  json,
  openaiChunk,
  openaiReply,
  sse,
  startUpstream,
  type ScriptedUpstream,
} from '../support/upstream.ts';
import { CLIENT_APIS, GEMINI_ARRAY, send, TARGETS } from './client-apis.ts';

/** The text of each reply. */
let reply = 'ok';
/** The upstream of a path fails. */
let failing = '';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream(({ url, json: body }, res) => {
    if (failing !== '' && url.includes(failing)) return json(res, { error: { message: `no ${reply} here` } }, 500);
    if (url.includes('enerateContent')) return json(res, geminiReply(reply));
    if (url.includes('/messages')) return json(res, anthropicReply(reply));
    if (body['stream'] !== true) return json(res, openaiReply(reply));
    return sse(res, [openaiChunk({ content: reply }), openaiChunk({}, 'stop'), 'data: [DONE]\n\n']);
  });
  const words = (name: string, action: string, on: readonly string[], list: readonly string[], more: object = {}) => ({
    name,
    check: 'words',
    action,
    on,
    options: { words: list, mask: '[R]' },
    ...more,
  });
  gateway = await startTestGateway({
    server: {
      guards: [
        words('never', 'deny', ['input', 'output'], ['forbidden'], { on_unseen: 'allow' }),
        words('same', 'observe', ['input'], ['whisper']),
        { name: 'no-o1', check: 'models', options: { deny: ['@openai/o1*'] } },
      ],
    },
    keys: {
      keys: [
        {
          id: 'test',
          key: `\${env:TEST_KEY:-${KEY}}`,
          inline_configs: true,
          inline_plugins: true,
          metadata: { env: 'prod' },
          guards: [
            words('of-key', 'mask', ['output'], ['keyword']),
            words('prod-only', 'deny', ['input'], ['outage'], {
              only: { metadata: { env: ['prod'] } },
              on_unseen: 'allow',
            }),
          ],
        },
      ],
    },
    catalog: {
      providers: [
        ...entriesFor(upstream.url),
        {
          slug: 'audio',
          provider: 'openai',
          api_key: '${env:NONE:-upstream-secret-key}',
          base_url: upstream.url,
          allow_insecure: true,
        },
      ],
    },
    prompts: {
      letter: {
        versions: {
          1: {
            model: '@openai/m',
            variables: { text: {} },
            messages: [{ role: 'user', content: 'Write a letter about {{text}}den plans.' }],
          },
        },
      },
    },
    gateway: {
      list: { plugins: ['metadata', 'route'] },
      attempts: {
        plugins: ['override', 'transform', 'send'],
        targets: [{ guards: [words('aim', 'deny', ['input'], ['arrow'])] }],
      },
      same: { guards: [words('same', 'deny', ['input'], ['whisper'])] },
      targets: {
        strategy: { mode: 'fallback' },
        targets: [
          {
            provider: '@openai',
            override_params: { model: 'm' },
            guards: [words('first', 'mask', ['input', 'output'], ['alpha'])],
          },
          {
            provider: '@claude',
            override_params: { model: 'claude-sonnet-4-5' },
            guards: [words('second', 'mask', ['input', 'output'], ['beta'])],
          },
        ],
      },
      errors: { guards: [words('errors', 'mask', ['output'], ['keyless'])] },
      unseen: { guards: [words('eyes', 'observe', ['input'], ['x']), words('blind', 'deny', ['input'], ['x'])] },
      seen: { guards: [words('blind', 'deny', ['input'], ['x'], { on_unseen: 'allow' })] },
      system: { guards: [words('roles', 'deny', ['input'], ['magic'], { only: { roles: ['system', 'tool'] } })] },
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

async function chat(config: string | object, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gateway-api-key': KEY,
      ...(config !== '' && { 'x-gateway-config': typeof config === 'string' ? config : JSON.stringify(config) }),
      ...headers,
    },
    body: JSON.stringify({ model: '@openai/m', ...body }),
  });
  return { status: response.status, text: await response.text() };
}

const user = (content: unknown) => ({ messages: [{ role: 'user', content }] });
const line = () => gateway.logs.findLast(({ msg }) => typeof msg === 'string' && msg.startsWith('request '));

describe('a caller cannot switch off a guard', () => {
  it.each([
    ['a list of a config', 'list'],
    ['a list of its own', { plugins: ['metadata', 'route'] }],
    ['a list of its own without the reader of metadata', { plugins: ['route'] }],
    ['a chain of attempts of its own', { plugins: ['override', 'transform', 'send'] }],
  ])('by %s', async (_, config) => {
    reply = 'a forbidden word';
    expect((await chat(config, user('hi'))).text).toContain('The guard \\"never\\" refused this reply');
    expect((await chat(config, user('a Forbidden word'))).text).toContain('The guard \\"never\\" refused this request');
    reply = 'a keyword';
    expect((await chat(config, user('hi'))).text).toContain('a [R]');
    expect((await chat(config, user('an outage'))).text).toContain('The guard \\"prod-only\\"');
  });

  it('by metadata that its key binds', async () => {
    const headers = { 'x-gateway-metadata': JSON.stringify({ env: 'dev' }) };
    expect((await chat('', user('an outage'), headers)).status).toBe(400);
  });

  it.each([
    ['a message in `override_params`', { provider: '@openai', override_params: user('forbidden') }],
    ['a message in `default_params`', { provider: '@openai', default_params: user('forbidden') }],
    [
      'a message of another API at one of several targets',
      {
        strategy: { mode: 'fallback' },
        targets: [
          { provider: '@openai' },
          { provider: '@gemini', override_params: { contents: [{ parts: [{ text: 'forbidden' }] }] } },
        ],
      },
    ],
  ])('by %s of its own config', async (_, config) => {
    const before = upstream.seen.length;
    expect(await chat(config, user('hi'))).toMatchObject({
      status: 400,
      text: expect.stringContaining('the texts that the config sent with the request adds'),
    });
    expect(upstream.seen.length).toBe(before);
    expect(line()).toMatchObject({ guards: expect.arrayContaining(['never:input:unseen']) });
  });

  it('whose own config has parameters without texts', async () => {
    const config = { provider: '@openai', override_params: { temperature: 0.5 }, default_params: { max_tokens: 9 } };
    expect((await chat(config, user('hi'))).status).toBe(200);
  });

  it('by a plugin that adds a text', async () => {
    const prompt = { plugin: 'inject-prompt', options: { text: 'a forbidden word' } };
    const added = await chat({ plugins: { add: [{ ...prompt, before: 'route' }] } }, user('hi'));
    expect(added.text).toContain('The guard \\"never\\" refused this request');
  });

  it.each([
    ['behind them', { add: [{ plugin: 'inject-prompt', after: 'guards' }] }, 'puts no plugin behind the guards'],
    ['without them', { remove: ['guards'] }, 'no list removes it'],
    ['without those of targets', { remove: ['target-guards'] }, 'no list removes it'],
  ])('by a chain %s', async (_, plugins, message) => {
    expect(await chat({ plugins }, user('hi'))).toMatchObject({ status: 400, text: expect.stringContaining(message) });
  });

  it.each([
    [
      'code that a tool has run',
      '/v1/responses',
      {
        input: [
          { type: 'code_interpreter_call', id: 'ci_1', container_id: 'c', status: 'completed', code: 'forbidden' },
        ],
      },
    ],
    [
      'thinking of its own',
      '/v1/chat/completions',
      {
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', content: 'x', reasoning_content: 'forbidden' },
        ],
      },
    ],
    [
      'a summary of a conversation',
      '/v1/responses',
      { input: [{ type: 'compaction', encrypted_content: writeSummary('forbidden') }] },
    ],
    [
      'content that this gateway puts in place of another',
      '/v1/chat/completions',
      {
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', content: 'x', content_parts: [{ type: 'text', text: 'forbidden' }] },
        ],
      },
    ],
    [
      'the description of a tool',
      '/v1/chat/completions',
      {
        ...user('hi'),
        tools: [{ type: 'function', function: { name: 'f', description: 'forbidden', parameters: {} } }],
      },
    ],
    [
      'the schema of an answer',
      '/v1/responses',
      { input: 'hi', text: { format: { type: 'json_schema', name: 'n', schema: { description: 'forbidden' } } } },
    ],
    [
      'what a template of chat gets',
      '/v1/chat/completions',
      { ...user('hi'), chat_template_kwargs: { name: 'forbidden' } },
    ],
    [
      'code that Gemini has run',
      '/v1beta/models/@gemini/gemini-2.5-flash:generateContent',
      { contents: [{ role: 'model', parts: [{ executableCode: { language: 'PYTHON', code: 'forbidden' } }] }] },
    ],
    [
      'one part in place of a list',
      '/v1beta/models/@openai/m:generateContent',
      { contents: { parts: { text: 'forbidden' } } },
    ],
    [
      'a system instruction without parts',
      '/v1beta/models/@openai/m:generateContent',
      { systemInstruction: 'forbidden', contents: [{ parts: [{ text: 'hi' }] }] },
    ],
  ])('with %s', async (_, path, body) => {
    const response = await fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY },
      body: JSON.stringify({ ...(!path.includes('models/') && { model: '@openai/m' }), ...body }),
    });
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringContaining('The guard \\"never\\" refused this request'),
    ]);
  });

  it('with the numbers of tokens', async () => {
    const response = await fetch(`${gateway.url}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, 'x-gateway-config': 'unseen' },
      body: JSON.stringify({ model: '@openai/m', prompt: [1, 2, 3] }),
    });
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringContaining('cannot read the tokens at prompt'),
    ]);
  });

  it.each([
    [
      'a list that names its plugin elsewhere',
      { plugins: ['guards', 'metadata', 'route'] },
      'stands where the chain of server.yaml has it',
    ],
    ['guards of its own', { guards: [{ name: 'own', check: 'secrets' }] }, 'cannot set `guards`'],
    ['guards in a target', { targets: [{ guards: [{ name: 'own', check: 'secrets' }] }] }, 'cannot set `guards`'],
  ])('by %s', async (_, config, message) => {
    expect(await chat(config, user('hi'))).toMatchObject({ status: 400, text: expect.stringContaining(message) });
  });

  it('by a guard with the same name', async () => {
    reply = 'ok';
    expect((await chat('', user('whisper'))).status).toBe(200);
    expect((await chat('same', user('whisper'))).status).toBe(400);
    expect(line()).toMatchObject({ guards: expect.arrayContaining(['same:input:observed', 'same:input:denied']) });
  });

  it.each([
    ['the model', '', { model: '@openai/o1-mini' }, {}],
    ['a provider in the header', '', { model: 'o1-mini' }, { 'x-gateway-provider': '@openai' }],
    ['a model in place of the first', '', { models: ['o1-mini'] }, {}],
    ['a model in `extra_body`', '', { extra_body: { model: '@openai/o1-mini' } }, {}],
    [
      'a parameter of its own config',
      { provider: '@openai', override_params: { model: 'o1-mini' } },
      { model: 'm' },
      {},
    ],
    [
      'a further model of its own config',
      { provider: '@openai', override_params: { models: ['o1-mini'] } },
      { model: 'm' },
      {},
    ],
    [
      'a target of its own config',
      {
        strategy: { mode: 'fallback' },
        targets: [{ provider: '@openai' }, { provider: '@openai', override_params: { model: 'o1' } }],
      },
      { model: 'm' },
      {},
    ],
  ])('of models by %s', async (_, config, body, headers) => {
    const { status, text } = await chat(config, { ...user('hi'), ...body }, headers);
    expect([status, text]).toEqual([400, expect.stringContaining('no-o1')]);
  });

  it.each([
    ['zero-width characters', 'a for\u200bbid\u200dden word'],
    ['letters of full width', 'a ｆｏｒｂｉｄｄｅｎ word'],
    ['letters of mathematics', 'a 𝐟𝐨𝐫𝐛𝐢𝐝𝐝𝐞𝐧 word'],
    ['soft hyphens', 'a for\u00adbidden word'],
    ['another case', 'a FoRbIdDeN word'],
  ])('by %s', async (_, text) => {
    expect((await chat('', user(text))).status).toBe(400);
    reply = text;
    expect((await chat('', user('hi'))).status).toBe(400);
    reply = 'ok';
  });
});

describe('the guards of a target', () => {
  it('hold in a list of attempt plugins that does not name them', async () => {
    expect((await chat('attempts', user('an arrow'))).text).toContain('The guard \\"aim\\" refused');
  });

  it('are those of the target that answers, and its request is not that of another', async () => {
    reply = 'alpha and beta';
    const first = await chat('targets', user('alpha, beta'));
    expect(first.text).toContain('[R] and beta');
    expect(JSON.stringify(upstream.seen.at(-1)!.json)).toContain('[R], beta');
    failing = '/chat/completions';
    const second = await chat('targets', user('alpha, beta'));
    failing = '';
    expect(second.text).toContain('alpha and [R]');
    expect(JSON.stringify(upstream.seen.at(-1)!.json)).toContain('alpha, [R]');
    reply = 'ok';
  });
});

describe('what a guard reads', () => {
  it.each([
    [
      'a system prompt',
      {
        messages: [
          { role: 'system', content: 'magic' },
          { role: 'user', content: 'hi' },
        ],
      },
    ],
    [
      'a result of a call',
      {
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] },
          { role: 'tool', tool_call_id: 'c', content: 'magic' },
        ],
      },
    ],
  ])('is %s, where `only` says so', async (_, body) => {
    expect((await chat('system', body)).status).toBe(400);
    expect((await chat('system', user('magic'))).status).toBe(200);
  });

  it('is the arguments of a call', async () => {
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{"q":"forbidden"}' } };
    const messages = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: 'x' },
    ];
    expect((await chat('', { messages })).status).toBe(400);
  });

  it('is unsigned thinking, also where it is masked', async () => {
    reply = 'ok';
    const messages = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'x', reasoning_content: 'alpha' },
      { role: 'user', content: 'on' },
    ];
    expect((await chat('targets', { messages })).status).toBe(200);
    expect(upstream.seen.at(-1)!.text).not.toContain('alpha');
    expect(line()).toMatchObject({ guards: expect.arrayContaining(['first:input:masked']) });
  });

  it('is no picture: it is denied unless the guard says otherwise', async () => {
    const picture = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }];
    const { status, text } = await chat('unseen', user(picture));
    expect([status, text]).toEqual([400, expect.stringContaining('cannot read the image_url at messages.0.content.0')]);
    expect(line()).toMatchObject({ guards: expect.arrayContaining(['eyes:input:unseen', 'blind:input:unseen']) });
  });

  it.each([
    ['/v1/embeddings', { input: ['fine', 'forbidden'] }],
    ['/v1/completions', { prompt: 'forbidden' }],
    ['/v1/images/generations', { prompt: 'forbidden' }],
    ['/v1/audio/speech', { input: 'forbidden', voice: 'alloy' }],
    ['/v1/moderations', { input: 'forbidden' }],
    ['/v1/messages/count_tokens', user('forbidden')],
    ['/v1/responses/input_tokens', { input: 'forbidden' }],
  ])('is the text of %s', async (path, body) => {
    const before = upstream.seen.length;
    const response = await fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY },
      body: JSON.stringify({ model: '@openai/m', ...body }),
    });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('\\"never\\" refused')]);
    expect(upstream.seen.length).toBe(before);
  });

  it.each([undefined, { plugins: ['metadata', 'prompts', 'route'] }])(
    'is a stored prompt with its values (%j)',
    async (config) => {
      const response = await fetch(`${gateway.url}/v1/prompts/letter/completions`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-gateway-api-key': KEY,
          ...(config && { 'x-gateway-config': JSON.stringify(config) }),
        },
        body: JSON.stringify({ variables: { text: 'forbid' } }),
      });
      expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('\\"never\\" refused')]);
    },
  );

  it('is the reply that is kept for later turns', async () => {
    reply = 'a keyword';
    const headers = { 'content-type': 'application/json', 'x-gateway-api-key': KEY };
    const post = async (body: object) => {
      const sent = {
        method: 'POST',
        headers,
        body: JSON.stringify({ model: '@claude/claude-sonnet-4-5', store: true, ...body }),
      };
      return (await (await fetch(`${gateway.url}/v1/responses`, sent)).json()) as { readonly id: string };
    };
    const first = await post({ input: 'hi' });
    const kept = await (await fetch(`${gateway.url}/v1/responses/${first.id}`, { headers })).text();
    await post({ input: 'and now?', previous_response_id: first.id });
    reply = 'ok';
    for (const text of [kept, upstream.seen.at(-1)!.text]) {
      expect(text).toContain('a [R]');
      expect(text).not.toContain('keyword');
    }
  });

  it('is no uploaded file: it is denied', async () => {
    const form = new FormData();
    form.set('model', '@openai/m');
    form.set('file', new Blob(['RIFF']), 'a.wav');
    const response = await fetch(`${gateway.url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { 'x-gateway-api-key': KEY, 'x-gateway-config': 'unseen' },
      body: form,
    });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('cannot read the file')]);
  });

  it('is no transcription: it is denied', async () => {
    const form = new FormData();
    form.set('model', '@audio/whisper-1');
    form.set('file', new Blob(['RIFF']), 'a.wav');
    const response = await fetch(`${gateway.url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { 'x-gateway-api-key': KEY, 'x-gateway-config': 'errors' },
      body: form,
    });
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringContaining('cannot read the format of this reply'),
    ]);
  });

  it('is the message of a failed upstream', async () => {
    reply = 'keyless';
    failing = '/chat/completions';
    const { text } = await chat('errors', user('hi'));
    failing = '';
    reply = 'ok';
    expect(text).toContain('no [R] here');
  });
});

describe('a refusal', () => {
  const doors = [
    ...CLIENT_APIS.flatMap((api) =>
      [false, true].map((stream) => ({ api, stream, name: `${api.name}${stream ? ', stream' : ''}` })),
    ),
    { api: GEMINI_ARRAY, stream: true, name: 'gemini, JSON array' },
  ];

  it('has the shape of each API', async () => {
    reply = 'a forbidden word';
    const shown: string[] = [];
    for (const { api, stream, name } of doors) {
      const response = await send(gateway.url, api, TARGETS[0], { stream });
      const retry = response.headers.get('x-should-retry') ?? '–';
      shown.push(
        `=== ${name}\n${response.status}, x-should-retry: ${retry}\n${withoutIds(await response.text()).trimEnd()}\n`,
      );
    }
    reply = 'ok';
    await expect(shown.join('\n')).toMatchFileSnapshot(join(import.meta.dirname, 'goldens/guard-refusals.txt'));
  });

  /** Ids and times of a reply differ each time. */
  const withoutIds = (text: string): string =>
    text
      .replaceAll(/"(id|responseId|request_id|item_id)":"[^"]*"/g, '"$1":"…"')
      .replaceAll(/"(created|created_at)":\d+/g, '"$1":0');
});

describe('verdicts', () => {
  it('are counted, in the access line, in the record and in Server-Timing, without a text', async () => {
    reply = 'a keyword';
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-gateway-api-key': KEY,
        'x-gateway-config': JSON.stringify({ reply_headers: ['server_timing'] }),
      },
      body: JSON.stringify({ model: '@openai/m', stream: true, ...user('canary-text whisper') }),
    });
    await response.text();
    reply = 'ok';
    expect(response.headers.get('server-timing')).toContain('plugin-guards;dur=');
    expect(line()).toMatchObject({
      guards: [
        'never:input:pass',
        'same:input:observed',
        'no-o1:input:pass',
        'prod-only:input:pass',
        'of-key:output:masked',
        'never:output:pass',
      ],
    });
    const record = gateway.gateway.record(String(line()?.['request_id']));
    expect(JSON.stringify(record)).toContain(
      '"guard":"of-key","on":"output","action":"mask","verdict":"masked","matches":1',
    );
    expect(JSON.stringify(record)).not.toContain('canary-text');
    expect(gateway.logText()).not.toContain('canary-text');
    const metrics = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
    expect(metrics).toMatch(
      /gatehouse_guard_verdicts_total\{guard="of-key",on="output",action="mask",verdict="masked"[^}]*\} \d/,
    );
    expect(metrics).toMatch(/gatehouse_guard_hold_seconds_count\{guard="[a-z-]+"\} [1-9]/);
  });
});

describe('settings with guards', () => {
  it.each([
    ['request', 'guards'],
    ['attempt', 'target-guards'],
  ])('are refused where the %s chain removes %s', async (level, name) => {
    const guard = { name: 'never', check: 'secrets' };
    const refused: unknown = await startTestGateway({
      server: { guards: [guard], chains: { [level]: { remove: [name] } } },
      gateway: { own: { targets: [{ guards: [guard] }] } },
    }).catch((error: unknown) => error);
    if (!(refused instanceof SettingsRefused)) throw new Error('the settings are valid');
    expect(refused.diagnostics).toEqual([
      expect.objectContaining({ message: `"${name}" has \`always: true\` in server.yaml: no list removes it` }),
    ]);
  });
});
