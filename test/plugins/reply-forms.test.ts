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
import { CLIENT_APIS, GEMINI_ARRAY, send, TARGETS, type ClientApi } from './client-apis.ts';

const MAIL = 'ann@example.com';

/** Answers as the vendor of the path does. */
const vendor: Script = ({ url, json: body }, res) => {
  const stream = body['stream'] === true || url.includes('streamGenerate');
  if (url.includes('enerateContent')) return stream ? sse(res, [geminiReply(MAIL)]) : json(res, geminiReply(MAIL));
  if (url.includes('/messages')) return stream ? sse(res, anthropicEvents(MAIL)) : json(res, anthropicReply(MAIL));
  return stream
    ? sse(res, [openaiChunk({ role: 'assistant', content: MAIL }), openaiChunk({}, 'stop'), 'data: [DONE]\n\n'])
    : json(res, openaiReply(MAIL));
};

/** The example `mask`, and a plugin that shows the form. */
const MASK = readFileSync(join(import.meta.dirname, '../../docs/plugins/examples/mask/index.js'), 'utf8');
const SHOWN = `import { definePlugin } from 'gatehouse-gateway/plugin';
const show = (level, holder) => definePlugin({
  name: 'show-' + level,
  level,
  options: { type: 'object', additionalProperties: false, properties: {} },
  create: () => async (ctx, next) => {
    await next();
    const { reply } = holder(ctx);
    reply.headers['x-' + level] = reply.form + ' ' + (Buffer.isBuffer(reply.body) ? 'buffer' : 'source');
  },
});
export default [show('entry', (ctx) => ctx.exchange), show('request', (ctx) => ctx.exchange), show('attempt', (ctx) => ctx.attempt)];`;

let upstream: ScriptedUpstream;
let gateway: TestGateway;
const dir = mkdtempSync(join(tmpdir(), 'gatehouse-forms-'));
beforeAll(async () => {
  const modules = Object.entries({ mask: MASK, shown: SHOWN }).map(([name, text]) => {
    const file = join(dir, `${name}.mjs`);
    writeFileSync(file, text);
    return file;
  });
  upstream = await startUpstream(vendor);
  gateway = await startTestGateway({
    server: {
      plugins: modules,
      chains: {
        entry: ['telemetry', 'errors', 'show-entry', 'auth', 'models', 'body', 'responses', 'config'],
        request: ['mask', 'show-request', 'metadata', 'route'],
        attempt: ['show-attempt', 'override', 'cache', 'transform', 'retry', 'send'],
      },
    },
    catalog: {
      providers: entriesFor(upstream.url),
    },
    gateway: { kept: { cache: { mode: 'simple', max_age: 60 } } },
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
  rmSync(dir, { recursive: true, force: true });
});

const CASES: readonly { readonly api: ClientApi; readonly stream: boolean; readonly form: string }[] = [
  ...CLIENT_APIS.flatMap((api) => [
    { api, stream: false, form: 'json' },
    { api, stream: true, form: 'sse' },
  ]),
  { api: GEMINI_ARRAY, stream: true, form: 'json-array' },
];

describe('the form of a reply, and the example `mask`', () => {
  it.each(CASES.flatMap(({ api, ...more }) => TARGETS.map((target) => ({ api, door: api.name, target, ...more }))))(
    '$door from $target, stream $stream: $form, from the upstream and from the cache',
    async ({ api, target, stream, form }) => {
      for (const from of ['upstream', 'cache']) {
        const before = upstream.seen.length;
        const response = await send(gateway.url, api, target, {
          stream,
          headers: {
            'x-gateway-config': 'kept',
            authorization: 'Bearer ya29.own-token',
            // Else the kept reply of the other form answers.
            ...(from === 'upstream' && { 'x-gateway-cache-force-refresh': 'true' }),
          },
        });
        const text = await response.text();
        expect([response.status, text], text).toEqual([200, expect.stringContaining('[EMAIL]')]);
        expect(text).not.toContain(MAIL);
        if (form !== 'sse') JSON.parse(text);
        expect(upstream.seen.length - before, from).toBe(from === 'cache' ? 0 : 1);
        for (const level of ['attempt', 'request', 'entry'])
          expect(response.headers.get(`x-${level}`)?.split(' ')[0], level).toBe(form);
        if (from === 'cache') expect(response.headers.get('x-attempt')).toBe(`${form} buffer`);
      }
    },
  );
});
