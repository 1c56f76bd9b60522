import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { toCamel } from '../../src/formats/json/field-names.ts';
import { regenerate, nameOf } from './override-table.ts';
import { DOORS, observeOverride, PARAMETERS, TARGETS, type Target } from './override-probes.ts';
import { isRefused, send, type Json } from './outbound.ts';

/** The top-level fields of each vendor's requests: it answers any other with a 400. */
const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/).filter((word) => word !== ''));
const CLAUDE =
  'messages max_tokens system stop_sequences temperature top_p top_k tools tool_choice thinking output_config stream';
const TAKEN: Readonly<Record<string, ReadonlySet<string>>> = {
  'Gemini on Vertex AI': words(
    'contents systemInstruction tools toolConfig safetySettings generationConfig labels cachedContent',
  ),
  'Google AI Studio': words(
    'contents systemInstruction tools toolConfig safetySettings generationConfig serviceTier cachedContent',
  ),
  Claude: words(
    `model metadata service_tier cache_control container context_management mcp_servers inference_geo speed diagnostics fallbacks ${CLAUDE}`,
  ),
  'Claude on Vertex AI': words(`anthropic_version anthropic_beta metadata service_tier cache_control ${CLAUDE}`),
  'OpenAI chat': words(
    `model messages max_tokens max_completion_tokens temperature top_p n stop frequency_penalty presence_penalty logit_bias
     logprobs top_logprobs seed stream stream_options tools tool_choice parallel_tool_calls functions function_call
     response_format reasoning_effort verbosity modalities audio prediction web_search_options metadata store user
     safety_identifier prompt_cache_key prompt_cache_options prompt_cache_retention moderation service_tier`,
  ),
  'OpenAI Responses': words(
    `model input instructions stream stream_options max_output_tokens max_tool_calls temperature top_p top_logprobs tools tool_choice
     parallel_tool_calls text reasoning include store prompt truncation context_management metadata client_metadata user
     safety_identifier prompt_cache_key prompt_cache_options prompt_cache_retention moderation service_tier`,
  ),
};

/** Parameters that are neither sent nor reported, and why that is no loss. */
const SILENT: Readonly<Record<string, string>> = {
  stream_options: 'the gateway writes the stream to the client',
  service_tier: 'the standard tier is that of a request without one',
  serviceTier: 'as above',
  tool_choice: '`auto` is the default of Gemini',
  'reasoning.summary': 'the gateway shows a client of the Responses API the thoughts, if there are any',
  include: 'it concerns the reply to the client',
  client_metadata: 'Codex sends it for its maker',
};

const ROWS = PARAMETERS.flatMap(({ api, probes }) =>
  probes.map((probe) => ({ api, probe, row: `${api} ${nameOf(probe)}` })),
);

describe('a parameter of a config', () => {
  it('has a row for each door and each target in the document', async () => {
    // `node test/translation/override-table.ts` writes it.
    const { file, text } = await regenerate();
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(text).not.toMatch(/\| {2}\|/);
  }, 120_000);

  it.each(ROWS)('$row never reaches a vendor that refuses it, and is never lost in silence', async ({ probe }) => {
    for (const target of TARGETS) {
      for (const door of DOORS) {
        const { sent, effect } = await observeOverride(probe, door, target);
        if (isRefused(sent)) continue;
        const place = `${door} → ${target.name}`;
        const taken = TAKEN[target.name];
        if (taken)
          expect([place, Object.keys(sent.body).filter((key) => !taken.has(key) && !taken.has(toCamel(key)))]).toEqual([
            place,
            [],
          ]);
        if (effect.kind === 'nothing' || effect.kind === 'read')
          expect([place, SILENT]).toHaveProperty(['1', probe.field]);
      }
    }
  });

  const labels = { labels: { team: 'search' } };
  const off = { thinking: { budget_tokens: 0 } };
  it.each(DOORS)('reaches Gemini as labels and as thinking turned off: %s', async (door) => {
    const { body } = await ask(door, TARGETS[0]!, { ...labels, ...off });
    expect(body).toMatchObject({ ...labels, generationConfig: { thinkingConfig: { thinkingBudget: 0 } } });
  });

  it.each(DOORS)('reaches Claude on Vertex AI as a header with labels: %s', async (door) => {
    const { headers, losses } = await ask(door, TARGETS[3]!, labels);
    expect(JSON.parse(Buffer.from(headers['x-vertex-ai-labels'] ?? '', 'base64').toString())).toEqual(labels.labels);
    expect(losses).toEqual([]);
  });

  it.each(DOORS)('keeps the client’s own parameters beside it: %s', async (door) => {
    const own = {
      chat: { stop: ['X'] },
      messages: { stop_sequences: ['X'] },
      responses: { top_p: 0.5 },
      gemini: { generation_config: { stopSequences: ['X'] } },
    }[door];
    const sent = await ask(door, TARGETS[1]!, { reasoning_effort: 'low' }, own);
    const config = (sent.body['generationConfig'] ?? sent.body['generation_config']) as Json;
    expect(config).toMatchObject({
      thinkingConfig: { thinkingBudget: 1024 },
      ...(door === 'responses' ? { topP: 0.5 } : { stopSequences: ['X'] }),
    });
    expect(Object.keys(sent.body).filter((key) => key.startsWith('generation'))).toHaveLength(1);
  });

  it.each(DOORS)(
    'of no API goes as written to a server of the client’s API, and is lost elsewhere: %s',
    async (door) => {
      const own = { chat: 6, messages: 2, responses: 5, gemini: 1 }[door];
      for (const [at, target] of TARGETS.entries()) {
        const { body, losses } = await ask(door, target, { frobnicate: 1 });
        const isOwn =
          at === own ||
          (door === 'chat' && at === 4) ||
          (door === 'messages' && at === 3) ||
          (door === 'gemini' && at === 0);
        expect([target.name, body['frobnicate']]).toEqual([target.name, isOwn ? 1 : undefined]);
        expect(losses.map(({ param }) => param)).toEqual(isOwn ? [] : ['frobnicate']);
      }
    },
  );

  it('continues no response of another request', async () => {
    for (const door of ['chat', 'messages', 'gemini'] as const) {
      const { body, losses } = await ask(door, TARGETS[5]!, { previous_response_id: 'resp_1', conversation: 'c' });
      expect(Object.keys(body)).not.toEqual(expect.arrayContaining(['previous_response_id']));
      expect(losses.map(({ param }) => param)).toEqual(['previous_response_id', 'conversation']);
    }
  });
});

const BODIES = {
  chat: { messages: [{ role: 'user', content: 'hi' }], max_tokens: 4096 },
  messages: { messages: [{ role: 'user', content: 'hi' }], max_tokens: 4096 },
  responses: { input: 'hi' },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
};

async function ask(door: (typeof DOORS)[number], { family, model }: Target, overrides: Json, own: Json = {}) {
  const sent = await send(family, { model: `@entry/${model}`, ...BODIES[door], ...own }, { client: door, overrides });
  if (isRefused(sent)) throw new Error(JSON.stringify(sent));
  return sent;
}
