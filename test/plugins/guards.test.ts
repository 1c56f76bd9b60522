import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import {
  anthropicEvents,
  anthropicReply,
  entriesFor,
  geminiReply,
  json,
  openaiChunk,
  openaiReply,
  sse,
  startUpstream,
  type Script,
  type ScriptedUpstream,
} from '../support/upstream.ts';
import { KEY } from '../support/gateway.ts';
import { connect, shownText } from '../http/websockets/kit.testkit.ts';
import { CLIENT_APIS, GEMINI_ARRAY, send, TARGETS, type ClientApi } from './client-apis.ts';

/** What each check finds in a reply. The text of each request is `secret`. */
const FINDS: Readonly<Record<string, { readonly options: object; readonly found: string; readonly rest: RegExp }>> = {
  regex: { options: { pattern: 'zx[0-9]{4}', mask: '[R]' }, found: 'zx1234', rest: /zx1|1234/ },
  words: { options: { words: ['Project Falcon'], mask: '[R]' }, found: 'project falcon', rest: /falcon/i },
  pii: { options: { kinds: ['email'] }, found: 'ann@example.com', rest: /ann@|example/ },
  secrets: { options: {}, found: 'AKIAIOSFODNN7EXAMPLE', rest: /IOSFODNN|7EXAMPLE/ },
};
const CHECKS = Object.keys(FINDS);
const ACTIONS = ['deny', 'mask', 'observe'] as const;

/** How the upstream cuts its text. */
let pieces: readonly string[] = [];

const vendor: Script = ({ url, json: body }, res) => {
  const stream = body['stream'] === true || url.includes('streamGenerate');
  const text = pieces.join('');
  if (url.includes('enerateContent')) return stream ? sse(res, pieces.map(geminiReply)) : json(res, geminiReply(text));
  if (url.includes('/messages')) return stream ? sse(res, anthropicEvents(...pieces)) : json(res, anthropicReply(text));
  return stream
    ? sse(res, [...pieces.map((content) => openaiChunk({ content })), openaiChunk({}, 'stop'), 'data: [DONE]\n\n'])
    : json(res, openaiReply(text));
};

const cache = { mode: 'simple', max_age: 60 };
const guardOf = (check: string, action: string, on: readonly string[]) => ({
  name: `${check}-${action}`,
  check,
  action,
  on,
  options: FINDS[check]!.options,
});

const configs: Readonly<Record<string, object>> = {
  ...Object.fromEntries(
    CHECKS.flatMap((check) =>
      ACTIONS.map((action) => [`${check}-${action}`, { cache, guards: [guardOf(check, action, ['output'])] }]),
    ),
  ),
  // The text of the requests of the table is `secret`.
  ...Object.fromEntries(
    ACTIONS.map((action) => [
      `input-${action}`,
      { guards: [{ name: 'in', check: 'words', action, options: { words: ['secret'], mask: '[R]' } }] },
    ]),
  ),
  list: { plugins: ['metadata', 'route'], guards: [guardOf('words', 'mask', ['output'])] },
  target: {
    strategy: { mode: 'single' },
    targets: [{ guards: [guardOf('words', 'mask', ['input', 'output'])] }],
  },
  schema: {
    guards: [{ name: 'shape', check: 'json_schema', on: ['output'], options: { schema: { type: 'object', required: ['a'] } } }],
  },
  models: { guards: [{ name: 'models', check: 'models', options: { allow: ['@claude/*'] } }] },
  tenant: { guards: [{ name: 'tenant', check: 'metadata', options: { required: ['tenant'] } }] },
};

let upstream: ScriptedUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream(vendor);
  gateway = await startTestGateway({
    server: { guards: [{ name: 'never', check: 'words', on: ['input', 'output'], options: { words: ['forbidden'] } }] },
    keys: {
      keys: [
        {
          id: 'test',
          key: `\${env:TEST_KEY:-${KEY}}`,
          inline_configs: true,
          inline_plugins: true,
          guards: [{ name: 'of-key', check: 'words', on: ['output'], action: 'mask', options: { words: ['keyword'] } }],
        },
      ],
    },
    catalog: { providers: entriesFor(upstream.url) },
    gateway: configs,
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const FORMS: readonly { readonly api: ClientApi; readonly stream: boolean; readonly form: string }[] = [
  ...CLIENT_APIS.flatMap((api) => [
    { api, stream: false, form: 'plain' },
    { api, stream: true, form: 'stream' },
  ]),
  { api: GEMINI_ARRAY, stream: true, form: 'array' },
];
const CASES = FORMS.flatMap(({ api, ...more }) => TARGETS.map((target) => ({ door: api.name, target, api, ...more })));

async function ask(config: string, { api, target, stream }: (typeof CASES)[number], fresh = true) {
  const headers = {
    'x-gateway-config': config,
    authorization: 'Bearer ya29.own-token',
    ...(fresh && { 'x-gateway-cache-force-refresh': 'true' }),
  };
  const response = await send(gateway.url, api, target, { stream, headers });
  return { status: response.status, text: await response.text() };
}

const line = () => gateway.logs.findLast(({ msg }) => typeof msg === 'string' && msg.startsWith('request '));

describe.each(CASES)('a guard of $door from $target ($form)', (one) => {
  const splits = (text: string): (readonly string[])[] =>
    one.stream ? [...text].keys().map((at) => [text.slice(0, at), text.slice(at)].filter(Boolean)).toArray() : [[text]];

  it.each(CHECKS)('masks a match of %s at each split, and from the cache', async (check) => {
    const { found, rest } = FINDS[check]!;
    for (const split of splits(found))
      for (const fresh of [true, false]) {
        pieces = ['Write to ', ...split, ' now'];
        const { status, text } = await ask(`${check}-mask`, one, fresh);
        expect([status, text], `${split}`).toEqual([200, expect.stringMatching(/\[(?:R|EMAIL|SECRET)\]/)]);
        expect(text).not.toMatch(rest);
        expect(text).toContain('now');
      }
    expect(line()).toMatchObject({ guards: expect.arrayContaining([`${check}-mask:output:masked`]) });
  });

  it.each(CHECKS)('denies a match of %s, of which nothing leaves', async (check) => {
    const { found, rest } = FINDS[check]!;
    for (const split of splits(found)) {
      pieces = ['Words that leave. ', ...split, ' now'];
      const { status, text } = await ask(`${check}-deny`, one);
      expect(one.stream ? [200, 400] : [400]).toContain(status);
      expect(text).toContain(`${check}-deny`);
      expect(text).not.toMatch(rest);
    }
  });

  it.each(CHECKS)('observes a match of %s without a change', async (check) => {
    pieces = ['Write to ', FINDS[check]!.found, ' now'];
    const { status, text } = await ask(`${check}-observe`, one);
    expect([status, text]).toEqual([200, expect.stringContaining(FINDS[check]!.found)]);
    expect(line()).toMatchObject({ guards: expect.arrayContaining([`${check}-observe:output:observed`]) });
  });

  it('holds for requests', async () => {
    pieces = ['ok'];
    const before = upstream.seen.length;
    const denied = await ask('input-deny', one);
    expect([denied.status, denied.text]).toEqual([400, expect.stringContaining('The guard \\"in\\" refused')]);
    expect(upstream.seen.length).toBe(before);
    await ask('input-mask', one);
    expect(JSON.stringify(upstream.seen.at(-1)!.json)).toContain('[R]');
    await ask('input-observe', one);
    expect(JSON.stringify(upstream.seen.at(-1)!.json)).toContain('secret');
  });

  it('of the server and of the key cannot be switched off by a caller', async () => {
    pieces = ['a for', 'bidden word'];
    const inline = JSON.stringify({ plugins: ['metadata', 'route'] });
    for (const config of ['list', inline]) {
      const { text } = await ask(config, one);
      expect(text).toContain('The guard \\"never\\" refused');
      expect(text).not.toContain('bidden word');
    }
    pieces = ['a key', 'word here'];
    expect((await ask(inline, one)).text).toContain('[REDACTED]');
  });

  it('of a target holds for its attempts', async () => {
    pieces = ['the project', ' falcon flies'];
    const { status, text } = await ask('target', one);
    expect([status, text]).toEqual([200, expect.stringContaining('[R]')]);
    expect(text).not.toMatch(/falcon/);
  });

  it('of the whole answer refuses it with a status', async () => {
    pieces = ['{"b":', '1}'];
    expect((await ask('schema', one)).status).toBe(400);
    pieces = ['{"a":', '1}'];
    expect((await ask('schema', one)).status).toBe(200);
  });

  it('reads models and metadata', async () => {
    pieces = ['ok'];
    const { status } = await ask('tenant', one);
    expect(status).toBe(400);
    expect((await ask('models', one)).status).toBe(one.target.startsWith('@claude') ? 200 : 400);
  });
});

describe('a turn of a WebSocket', () => {
  it.each(TARGETS.slice(0, 2))('from %s has its texts masked', async (model) => {
    pieces = ['Write to ann@exa', 'mple.com now'];
    const client = await connect(gateway, { headers: { 'x-gateway-config': 'pii-mask' } });
    const frames = await client.turn({ model, input: 'hi', store: false });
    expect(shownText(frames.at(-1))).toBe('Write to [EMAIL] now');
    expect(JSON.stringify(frames)).not.toMatch(/ann@|example/);
    client.ws.close();
  });
});

describe('guards', () => {
  it('are counted by verdict', async () => {
    const metrics = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
    expect(metrics).toMatch(
      /gatehouse_guard_verdicts_total\{guard="pii-mask",on="output",action="mask",verdict="masked"[^}]*\} \d/,
    );
  });

  it('cannot come with a request', async () => {
    const guards = [{ name: 'own', check: 'secrets' }];
    const { status, text } = await ask(JSON.stringify({ guards }), CASES[0]!);
    expect([status, text]).toEqual([400, expect.stringContaining('guards')]);
  });
});
