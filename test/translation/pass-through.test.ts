import { describe, expect, it } from 'vitest';
import { LLAMA } from './cases/anthropic.ts';
import { CASES, type WholeCase } from './cases/index.ts';
import { undocumentedField } from '../support/openai-api.ts';
import { isRefused, send, type Client, type Family, type Json, type Sent } from './outbound.ts';

/** Requests whose upstream speaks the client's own API leave as they came, but for what the place itself asks for. */
const cases = (client: Client) =>
  CASES.filter((one) => one.client === client).map((one) => [one.id, one.title, one] as const);

async function passed(family: Family, model: string, one: WholeCase): Promise<Sent | undefined> {
  const sent = await send(family, { model, ...one.request }, one);
  // The gateway does not pass on bodies that the schema refuses.
  return isRefused(sent) ? undefined : sent;
}

/** The caller's body after its model, as text. */
const bodyText = (request: Json): string => JSON.stringify(request).slice(1, -1);

describe('a chat request', () => {
  it.each([
    ['compatible', 'any-model', 'any-model'],
    ['openai', 'gpt-5', 'gpt-5'],
    ['vertex', LLAMA, 'meta/llama-4-maverick-17b-128e-instruct-maas'],
  ] as const)(
    'is passed to %s, %s, byte for byte but for the model, a wish for usage and reported losses',
    async (family, model, named) => {
      const different: string[] = [];
      for (const [id, , one] of cases('chat')) {
        const sent = await passed(family, model, one);
        if (!sent || (family !== 'compatible' && (sent.losses.length > 0 || UNREPORTED.has(id)))) continue;
        // Labels leave in a header (docs/protocols/vertex-ai.md#labels).
        if ('x-vertex-ai-labels' in sent.headers) continue;
        const { stream, stream_options: options } = one.request as { stream?: unknown; stream_options?: Json };
        const exact = `{"model":${JSON.stringify(named)},${bodyText(one.request)}}`;
        if (stream !== true) {
          if (sent.bytes !== exact) different.push(id);
          continue;
        }
        const { stream_options: wish, ...others } = sent.body;
        expect({ id, wish }).toEqual({ id, wish: { ...options, include_usage: true } });
        const { stream_options: _, ...own } = one.request;
        if (JSON.stringify(others) !== JSON.stringify({ model: named, ...own })) different.push(id);
      }
      expect(different).toEqual([]);
    },
  );

  it('holds nothing that OpenAI does not document, but for what the gateway does not know either', async () => {
    const found: string[] = [];
    for (const [id, , one] of cases('chat')) {
      const sent = await passed('openai', 'gpt-5', one);
      const field = sent && undocumentedField(sent.body);
      if (field !== undefined) found.push(`${id}: ${field}`);
    }
    expect(found).toEqual(UNKNOWN);
  });
});

/** Cases in which the target has the same in another form, or never thinks, so that a change is no loss. */
const UNREPORTED: ReadonlySet<string> = new Set([
  'cache-control/message',
  'cache-control/image',
  'reasoning/budget-zero',
  'reasoning/disabled',
]);

/** Fields of other vendors, which the gateway knows as little as OpenAI does. OpenAI's 400 names them. */
const UNKNOWN: readonly string[] = ['extensions/unknown-field: frobnicate', 'hosted/llama-every-field: extra_body'];

describe('a Messages request', () => {
  it('is passed to Anthropic byte for byte', async () => {
    const different: string[] = [];
    for (const [id, , one] of cases('messages')) {
      const sent = await passed('anthropic', 'claude-sonnet-4-5', one);
      const exact = `{"model":"claude-sonnet-4-5",${bodyText(one.request)}}`;
      if (!sent || sent.bytes === exact) continue;
      different.push(id);
      if (OF_NEWER.includes(id)) expect(sent.losses, id).not.toEqual([]);
    }
    // Vertex AI has the version in the body, Anthropic's own API in a header.
    const expected = [...Object.keys(CLEANED), ...OF_NEWER, 'anthropic-fields/version-in-body'];
    expect(different.toSorted()).toEqual(expected.toSorted());
  });

  it('is passed to Claude on Vertex AI with the model in the path and the version in the body', async () => {
    const different: string[] = [];
    for (const [id, , one] of cases('messages')) {
      const sent = await passed('vertex', 'anthropic.claude-sonnet-4-5@20250929', one);
      if (!sent) continue;
      expect(sent.path).toMatch(
        /publishers\/anthropic\/models\/claude-sonnet-4-5(@|%40)20250929:(r|streamR)awPredict$/,
      );
      const { anthropic_version: version, ...others } = sent.body;
      const { anthropic_version: own = 'vertex-2023-10-16', ...asked } = one.request;
      expect({ id, version }).toEqual({ id, version: own });
      if (JSON.stringify(others) !== JSON.stringify(asked)) different.push(id);
    }
    expect(different.toSorted()).toEqual([...Object.keys(CLEANED), ...OF_NEWER, ...NOT_ON_VERTEX].toSorted());
  });
});

/** What Claude takes from 4.6 or 4.7 on: it is written anew for 4.5 (docs/protocols/messages-route.md#other-generation). */
const OF_NEWER = [
  'anthropic-turns/system-turn',
  'anthropic-turns/system-both',
  ...['adaptive', 'adaptive-effort', 'adaptive-shown', 'adaptive-omitted', 'between-tools'].map(ofReasoning),
  ...['effort-low', 'effort-medium', 'effort-high', 'effort-xhigh', 'effort-max', 'budget-and-effort'].map(ofReasoning),
  'anthropic-reasoning/answer-schema-and-effort',
  // docs/protocols/anthropic-messages.md#sampling
  'anthropic-fields/sampling',
];

/** Fields that Vertex AI does not have, or not without a beta (docs/protocols/messages-route.md#fields-by-target). */
const NOT_ON_VERTEX = [
  ...['answer-schema', 'answer-schema-and-tools', 'answer-schema-deprecated'].map(ofReasoning),
  'anthropic-tools/own-fields',
  'anthropic-tools/strict',
  'anthropic-tools/tool-search',
  'anthropic-fields/mcp-servers',
  'anthropic-fields/context-management',
  'anthropic-fields/diagnostics',
  'anthropic-fields/fallbacks',
  'anthropic-fields/nulls',
  'anthropic-fields/speed',
];

function ofReasoning(name: string): string {
  return `anthropic-reasoning/${name}`;
}

/** What this gateway itself wrote into an earlier reply, and Claude must not get (docs/protocols/replies.md#foreign-signatures). */
const CLEANED: Readonly<Record<string, string>> = {
  'anthropic-rounds/signature-in-id': 'the signature of Gemini’s that an id carried is taken out of it',
  'anthropic-reasoning/thought-of-gemini': 'a thought of Gemini is a 400',
  'anthropic-reasoning/thought-unsigned': 'an unsigned thought is a 400',
};
