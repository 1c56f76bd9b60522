import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { corpusIsThere, forAll, modelOf, ReplayedFamily, type Recording } from './recordings.ts';

/** Plugins that change nothing: without hooks, and with hooks that read more and more. */
const QUIET = `import { definePlugin } from 'gatehouse-gateway/plugin';
const options = { type: 'object', additionalProperties: false, properties: {} };
const same = (text) => text;
const kinds = ['text', 'thinking', 'refusal', 'tool_arguments', 'error'];
const held = (text, final) => (final ? text : { text: text.slice(0, -20), keep: Math.min(20, text.length) });
const define = (name, definition) => definePlugin({ name, level: 'request', options, ...definition });
export default [
  define('empty', { create: () => (ctx, next) => next() }),
  define('none', { reads: { reply: 'none' }, create: () => ({ end: () => {} }) }),
  define('observe', { reads: { request: 'observe', reply: 'observe', kinds }, create: () => ({ request: (view) => void view.texts(), reply: () => () => '' }) }),
  define('texts', { reads: { request: 'texts', reply: 'texts', kinds }, create: () => ({ request: (view) => view.texts().forEach((one) => one.signed || one.replace(one.text)), reply: () => same }) }),
  define('held', { reads: { reply: 'texts', kinds, hold: { time: 600_000 } }, create: () => ({ reply: () => held }) }),
];`;
const NAMES = ['empty', 'none', 'observe', 'texts', 'held'];

/** A request of the family's own API. */
function requestOf(record: Recording): { readonly path: string; readonly body: object } | undefined {
  const { family, op, request_body: body, response_status: status, features = [] } = record;
  if (!body || status !== 200 || features.includes('enum_int')) return undefined;
  const model = modelOf(record);
  if (family === 'gemini' && /^(?:stream)?generateContent$/i.test(op)) {
    const query = record.response_body_kind === 'sse' ? '?alt=sse' : '';
    return { path: `/v1beta/models/@studio/replay--${record.id}:${op}${query}`, body };
  }
  const paths: Readonly<Record<string, string>> = {
    messages: '/v1/messages',
    'chat.completions': '/v1/chat/completions',
    responses: '/v1/responses',
  };
  const path = paths[op];
  return path === undefined ? undefined : { path, body: { ...body, model } };
}

const dir = mkdtempSync(join(tmpdir(), 'gatehouse-quiet-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe.skipIf(!corpusIsThere).each(['anthropic', 'openai-chat', 'openai-responses', 'gemini'])(
  'recorded replies of %s to their own API',
  (name) => {
    let family: ReplayedFamily;
    beforeAll(async () => {
      const module = join(dir, 'quiet.mjs');
      writeFileSync(module, QUIET);
      const gateway = Object.fromEntries(NAMES.map((plugin) => [plugin, { plugins: [plugin, 'metadata', 'route'] }]));
      family = await ReplayedFamily.open(name, { split: 'event' }, { server: { plugins: [module] }, gateway });
    });
    afterAll(() => family.close());

    it('have the same bytes with plugins that change nothing as without', { timeout: 600_000 }, async () => {
      const records = family.records.filter((record) => requestOf(record) !== undefined);
      expect(records.length).toBeGreaterThan(0);
      let compared = 0;
      const findings = await forAll(records, async (record) => {
        const { path, body } = requestOf(record)!;
        const bytes = async (plugin?: string): Promise<string> => {
          const headers = { 'x-gateway-strict-open-ai-compliance': 'false', 'anthropic-version': '2023-06-01' };
          const reply = await family.fetch(path, body, {
            ...headers,
            ...(plugin !== undefined && { 'x-gateway-config': plugin }),
          });
          return `${reply.status} ${Buffer.from(await reply.arrayBuffer()).toString('latin1')}`;
        };
        const plain = await bytes();
        // A reply with something of the gateway's own, such as a time, differs from one request to the next.
        if (plain !== (await bytes())) return [];
        compared += 1;
        const different: object[] = [];
        for (const plugin of NAMES) {
          const with_ = await bytes(plugin);
          if (with_ !== plain)
            different.push({ id: record.id, plugin, plain: plain.slice(0, 2000), with_: with_.slice(0, 2000) });
        }
        return different;
      });
      expect(findings).toEqual([]);
      expect(compared).toBeGreaterThan(10);
    });
  },
);
