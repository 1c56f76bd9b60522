import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FormatName, JsonObject } from './conversation.ts';
import { RequestFault } from './faults.ts';
import { formats } from './index.ts';
import { deepFreeze, replyContext, requestTarget } from './contexts.testkit.ts';
import { SEARCH_LIMITS } from './search-limits.ts';
import { finish } from './steps.ts';
import { translateRequest } from './translate.ts';

const MODELS: Readonly<Record<FormatName, string>> = {
  'openai-chat': 'own-model',
  'openai-responses': 'gpt-5.4',
  'anthropic-messages': 'claude-sonnet-4-5',
  gemini: 'gemini-3-pro',
};
const OUTPUT: Readonly<Record<FormatName, JsonObject>> = {
  'openai-chat': { messages: [{ role: 'user', content: 'x' }], max_tokens: 100 },
  'openai-responses': { input: 'x', max_output_tokens: 100 },
  'anthropic-messages': { messages: [{ role: 'user', content: 'x' }], max_tokens: 100 },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'x' }] }], generationConfig: { maxOutputTokens: 100 } },
};

function sent(client: FormatName, upstream: FormatName, fields: JsonObject, model = MODELS[upstream]) {
  const extensions = new Set(['provider_tools']);
  const { body, losses } = finish(
    translateRequest(deepFreeze({ model: 'm', ...OUTPUT[client], ...fields }), {
      client: formats[client],
      upstream: formats[upstream],
      target: requestTarget({ model, strict: false, extensions }),
      reply: replyContext(),
    }),
  );
  return { text: JSON.stringify(body), losses: losses.map(({ action, param }) => `${action} ${param}`) };
}

const DOMAINS = ['a.example'];
const RESPONSES = { type: 'web_search' };
const CLAUDE = { type: 'web_search_20250305', name: 'web_search' };
const FETCH = { type: 'web_fetch_20250910', name: 'web_fetch' };
/** A function of the caller, and a tool with a limit, as each API writes them. The row of the table. */
const LIMITED: readonly (readonly [string, FormatName, JsonObject, number])[] = [
  ['external_web_access', 'openai-responses', { ...RESPONSES, external_web_access: false }, 0],
  ['indexed_web_access', 'openai-responses', { ...RESPONSES, external_web_access: true, indexed_web_access: true }, 1],
  ['filters.allowed_domains', 'openai-responses', { ...RESPONSES, filters: { allowed_domains: DOMAINS } }, 2],
  ['allowed_domains', 'anthropic-messages', { ...CLAUDE, allowed_domains: DOMAINS }, 2],
  ['blocked_domains', 'anthropic-messages', { ...CLAUDE, blocked_domains: DOMAINS }, 3],
  ['filters.blocked_domains', 'openai-responses', { ...RESPONSES, filters: { blocked_domains: DOMAINS } }, 3],
  ['excludeDomains', 'gemini', { googleSearch: { excludeDomains: DOMAINS } }, 3],
  ['blocked_domains', 'anthropic-messages', { ...FETCH, blocked_domains: DOMAINS }, 4],
];
const FUNCTION: Readonly<Record<FormatName, JsonObject>> = {
  'openai-chat': { type: 'function', function: { name: 'f' } },
  'openai-responses': { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } },
  'anthropic-messages': { name: 'f', input_schema: { type: 'object' } },
  gemini: { functionDeclarations: [{ name: 'f' }] },
};
const SEARCH = /web_?search|googleSearch|web_?fetch|urlContext/i;

describe('a search that may not go everywhere', () => {
  const cases = LIMITED.flatMap(([setting, client, tool, row]) =>
    (Object.keys(MODELS) as FormatName[])
      .filter((upstream) => upstream !== client)
      .map((upstream) => [setting, client, upstream, { tool, limit: SEARCH_LIMITS[row]! }] as const),
  );

  it.each(cases)(
    'with %s of %s keeps its limit at %s, or is left out and reported',
    (setting, client, upstream, { tool, limit }) => {
      expect(limit.settings.map((path) => path.join('.'))).toContain(setting);
      const { text, losses } = sent(client, upstream, { tools: [FUNCTION[client], tool] });
      const keeps = limit.keptBy.includes(upstream);
      expect(SEARCH.test(text)).toBe(keeps);
      expect(text.includes('a.example')).toBe(keeps);
      expect(losses.some((loss) => /^dropped tools\[1\](?:\.googleSearch)?$/.test(loss))).toBe(!keeps);
      // The caller's own function stays.
      expect(text).toContain('"f"');
    },
  );

  it('without a limit is sent', () => {
    const tools = [{ type: 'web_search', external_web_access: true, filters: { allowed_domains: [] } }];
    for (const upstream of ['openai-chat', 'anthropic-messages', 'gemini'] as const)
      expect(sent('openai-responses', upstream, { tools }).text).toMatch(SEARCH);
  });

  it('is a 400 at a model that searches for every request', () => {
    const tools = [{ type: 'web_search', external_web_access: false }];
    expect(() => sent('openai-responses', 'openai-chat', { tools }, 'gpt-4o-search-preview')).toThrow(RequestFault);
  });

  it('from a client of this API keeps its settings at the Responses API, and reports those of other APIs', () => {
    const tools = [{ type: 'web_search_20250305', name: 'web_search', max_uses: 2, allowed_domains: ['a.example'] }];
    const { text, losses } = sent('anthropic-messages', 'openai-responses', { tools });
    expect(JSON.parse(text)).toMatchObject({
      tools: [{ type: 'web_search', filters: { allowed_domains: ['a.example'] } }],
    });
    expect(losses).toContain('dropped tools[0].max_uses');
  });
});

it('the table of limits says what the page says', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/protocols/requests.md'), 'utf8');
  const rows = SEARCH_LIMITS.map(({ kind, settings, keptBy }) => {
    const names = settings.map((path) => `\`${path.join('.')}\``).join(', ');
    const cells = (['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini'] as const).map((format) =>
      keptBy.includes(format) ? 'kept' : 'left out',
    );
    return `| \`${kind}\` | ${names} | ${cells.join(' | ')} |`;
  });
  for (const row of rows) expect(page).toContain(row);
});
