import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
import { connect, shownText } from '../http/websockets/kit.testkit.ts';
import { CLIENT_APIS, GEMINI_ARRAY, send, TARGETS, type ClientApi } from './client-apis.ts';

const MAIL = 'ann@example.com';

/** How the upstream cuts its text. */
let pieces: readonly string[] = [MAIL];

/** Answers as the vendor of the path does. */
const vendor: Script = ({ url, json: body }, res) => {
  const stream = body['stream'] === true || url.includes('streamGenerate');
  const text = pieces.join('');
  if (url.includes('enerateContent')) return stream ? sse(res, pieces.map(geminiReply)) : json(res, geminiReply(text));
  if (url.includes('/messages')) return stream ? sse(res, anthropicEvents(...pieces)) : json(res, anthropicReply(text));
  return stream
    ? sse(res, [...pieces.map((content) => openaiChunk({ content })), openaiChunk({}, 'stop'), 'data: [DONE]\n\n'])
    : json(res, openaiReply(text));
};

/** The plugins of the documentation. */
const PAGE = readFileSync(join(import.meta.dirname, '../../docs/plugins/hooks.md'), 'utf8');
const [MASK] = /```js\n\/\/ configs\/plugins\/mask-mail\.mjs\n([\s\S]+?)```/.exec(PAGE)!.slice(1);
const [REFUSING] = /```js\n(\/\*\* Refuses an answer [\s\S]+?)```/.exec(PAGE)!.slice(1);

/** Plugins of the test, each in a config of its own. */
const OTHERS = `import { definePlugin, GatewayError } from 'gatehouse-gateway/plugin';
const options = { type: 'object', additionalProperties: false, properties: {} };
${REFUSING}
globalThis.hookEnds ??= [];
globalThis.hookTexts ??= [];
export default [
  definePlugin({ name: 'secret', level: 'request', options, reads: { request: 'texts' }, create: () => ({
    request: (view) => view.texts({ roles: ['user'] }).forEach((one) => one.replace(one.text.replaceAll('secret', '[S]'))),
    end: (record) => void globalThis.hookEnds.push(record),
  }) }),
  definePlugin({ name: 'refuse', level: 'request', options, reads: { reply: 'texts' }, create: () => ({ reply: () => refusing('example') }) }),
  definePlugin({ name: 'refuse-whole', level: 'request', options, reads: { reply: 'texts', hold: { mode: 'all' } }, create: () => ({ reply: () => refusing('example') }) }),
  definePlugin({ name: 'watch', level: 'request', options, reads: { reply: 'observe' }, create: () => ({
    reply: () => (text) => { globalThis.hookTexts.push(text); return 'no effect'; },
  }) }),
  definePlugin({ name: 'shout', level: 'request', options, reads: { reply: 'events' }, create: () => ({
    events: () => (event) => (event.type === 'text' ? { ...event, text: event.text.toUpperCase() } : event),
  }) }),
  definePlugin({ name: 'own-attempt', level: 'attempt', options, reads: { request: 'texts', reply: 'texts' }, create: () => ({
    request: (view, ctx) => view.texts().forEach((one) => one.replace(one.text + ' ' + ctx.attempt.target.provider)),
    reply: () => (text) => text.replaceAll('e', '3'),
  }) }),
  definePlugin({ name: 'broken', level: 'request', options, reads: { reply: 'texts' }, create: () => ({ reply: () => () => { throw new Error('oops'); } }) }),
  definePlugin({ name: 'hide-errors', level: 'request', options, reads: { reply: 'texts', kinds: ['error'] }, create: () => ({ reply: () => () => 'hidden' }) }),
];`;

const NAMES = ['mask-mail', 'secret', 'refuse', 'refuse-whole', 'watch', 'shout', 'broken', 'hide-errors'];

let upstream: ScriptedUpstream;
let gateway: TestGateway;
/** Which upstream fails: all, or that of a path. */
let failing = '';
const dir = mkdtempSync(join(tmpdir(), 'gatehouse-hooks-'));
beforeAll(async () => {
  const modules = Object.entries({ mask: MASK!, others: OTHERS }).map(([name, text]) => {
    const file = join(dir, `${name}.mjs`);
    writeFileSync(file, text);
    return file;
  });
  upstream = await startUpstream((request, res, index) =>
    failing !== '' && request.url.includes(failing)
      ? json(res, { error: { message: `no ${MAIL} here`, type: 'server_error' } }, 500)
      : vendor(request, res, index),
  );
  const configs = NAMES.map((name) => [
    name,
    { plugins: [name, 'metadata', 'route'], cache: { mode: 'simple', max_age: 60 } },
  ]);
  gateway = await startTestGateway({
    server: { plugins: modules },
    catalog: { providers: entriesFor(upstream.url) },
    gateway: {
      ...(Object.fromEntries(configs) as Record<string, object>),
      both: {
        strategy: { mode: 'fallback' },
        targets: [
          { provider: '@openai', override_params: { model: 'm' } },
          { provider: '@claude', override_params: { model: 'claude-sonnet-4-5' } },
        ],
        plugins: ['mask-mail', 'secret', 'route', 'own-attempt', 'override', 'transform', 'send'],
      },
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
  rmSync(dir, { recursive: true, force: true });
});

const FORMS: readonly { readonly api: ClientApi; readonly stream: boolean; readonly form: string }[] = [
  ...CLIENT_APIS.flatMap((api) => [
    { api, stream: false, form: 'plain' },
    { api, stream: true, form: 'stream' },
  ]),
  { api: GEMINI_ARRAY, stream: true, form: 'array' },
];
const CASES = FORMS.flatMap(({ api, ...more }) => TARGETS.map((target) => ({ door: api.name, target, api, ...more })));

async function ask(plugin: string, { api, target, stream }: (typeof CASES)[number], fresh = true) {
  const headers = {
    'x-gateway-config': plugin,
    authorization: 'Bearer ya29.own-token',
    ...(fresh && { 'x-gateway-cache-force-refresh': 'true' }),
  };
  const response = await send(gateway.url, api, target, { stream, headers });
  return { status: response.status, text: await response.text() };
}

describe.each(CASES)('the texts of $door from $target ($form)', (one) => {
  it('are changed in the reply for each split of a match, and from the cache', async () => {
    const splits = one.stream
      ? [...MAIL]
          .keys()
          .map((at) => [MAIL.slice(0, at), MAIL.slice(at)].filter(Boolean))
          .toArray()
      : [[MAIL]];
    for (const split of splits) {
      pieces = ['Write to ', ...split, ' now'];
      for (const fresh of [true, false]) {
        const before = upstream.seen.length;
        const { status, text } = await ask('mask-mail', one, fresh);
        expect([status, text], `${split}`).toEqual([200, expect.stringContaining('[EMAIL]')]);
        expect(text).not.toMatch(/ann@|@ex|example/);
        expect(text).toContain('now');
        if (one.form !== 'stream') JSON.parse(text);
        expect(upstream.seen.length - before).toBe(fresh ? 1 : 0);
      }
    }
  });

  it('are changed in the request, whatever its target’s API', async () => {
    pieces = ['ok'];
    await ask('secret', one);
    const sent = JSON.stringify(upstream.seen.at(-1)!.json);
    expect(sent).toContain('[S]');
    expect(sent).not.toContain('secret');
    const ends = Reflect.get(globalThis, 'hookEnds') as { changed: object; status: number; state: string }[];
    expect(ends.splice(0)).toMatchObject([{ state: 'complete', status: 200, changed: { request: 1, reply: 0 } }]);
  });

  it('are refused in the error shape of the API, before or behind the start of a stream', async () => {
    pieces = ['Some words that leave. Then exam', 'ple.com'];
    const { status, text } = await ask('refuse', one);
    expect(status).toBe(one.stream ? 200 : 400);
    expect(text).toContain('a word that is not allowed');
    expect(text).not.toMatch(/exa/);
    const whole = await ask('refuse-whole', one);
    expect(whole.status).toBe(400);
    expect(whole.text).not.toMatch(/words|exa/);
    JSON.parse(whole.text);
  });

  it('are observed without a change', async () => {
    pieces = ['Hel', 'lo ', MAIL];
    const texts = Reflect.get(globalThis, 'hookTexts') as string[];
    texts.splice(0);
    const { text } = await ask('watch', one);
    expect(text.match(/"[^"]*example\.com/)?.[0]).toBeDefined();
    expect(text).not.toContain('no effect');
    expect(texts.join('')).toBe(`Hello ${MAIL}`);
  });

  it('are changed as events', async () => {
    pieces = ['hello ', 'there'];
    const { status, text } = await ask('shout', one);
    expect([status, text]).toEqual([200, expect.stringContaining('THERE')]);
    expect(text).not.toContain('there');
  });

  it('end with an error where the plugin fails', async () => {
    pieces = ['hello'];
    const { status, text } = await ask('broken', one);
    expect(status).toBe(one.stream ? 200 : 500);
    expect(text).not.toMatch(/hello|oops/);
    expect(text).toContain('error');
  });

  it('include the message of a failed upstream', async () => {
    failing = '/';
    const { status, text } = await ask('hide-errors', one).finally(() => (failing = ''));
    expect(status).toBeGreaterThan(499);
    expect(text).toContain('hidden');
    expect(text).not.toContain(MAIL);
  });
});

describe('several plugins with hooks', () => {
  it.each(CASES.filter(({ target }) => target === TARGETS[0]))(
    'hold together, and for the target that answers after a fallback ($door, $form)',
    async (one) => {
      pieces = ['Write to ann@exa', 'mple.com here'];
      failing = 'chat';
      const { status, text } = await ask('both', one).finally(() => (failing = ''));
      expect([status, text]).toEqual([200, expect.stringContaining('[EMAIL]')]);
      expect(text).toContain(' h3r3');
      const sent = upstream.seen.slice(-2).map(({ json: body }) => JSON.stringify(body));
      expect(sent).toEqual([expect.stringContaining('[S] @openai'), expect.stringContaining('[S] @claude')]);
    },
  );
});

describe('a turn of a WebSocket', () => {
  // The entry of Gemini wants the caller's own token, which a handshake cannot bring beside the key.
  it.each(TARGETS.slice(0, 2))('from %s has its texts changed', async (model) => {
    pieces = ['Write to ann@exa', 'mple.com now'];
    const client = await connect(gateway, { headers: { 'x-gateway-config': 'mask-mail' } });
    const frames = await client.turn({ model, input: 'hi', store: false });
    expect(shownText(frames.at(-1))).toBe('Write to [EMAIL] now');
    expect(JSON.stringify(frames)).not.toMatch(/ann@|@ex|example/);
    expect(frames.map((frame) => frame['sequence_number'])).toEqual(frames.keys().toArray());
    client.ws.close();
  });
});
