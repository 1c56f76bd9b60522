import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../conversation.ts';
import type { GenerationEvent } from '../events.ts';
import { clientContext, replyContext, replyWith } from '../contexts.testkit.ts';
import { decodeAll } from '../laws.testkit.ts';
import { anthropicMessages as format } from './index.ts';
import { MessagesUsageReader } from './reply-fields.ts';

const toUsage = (raw: JsonObject) => new MessagesUsageReader().read(raw);

describe('the usage of a reply', () => {
  it.each<[string, JsonObject, JsonObject | undefined]>([
    ['no count at all', { service_tier: 'standard' }, undefined],
    ['counts that are null', { input_tokens: null, output_tokens: 3 }, { input: 0, output: 3, total: 3 }],
    [
      'cached tokens as part of the input',
      { input_tokens: 1, output_tokens: 2, cache_read_input_tokens: 10, cache_creation_input_tokens: 20 },
      { input: 31, output: 2, total: 33, cacheRead: 10, cacheWrite: 20 },
    ],
    [
      'cache writes reported by time to live only',
      {
        input_tokens: 1,
        output_tokens: 2,
        cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 },
      },
      { input: 8, output: 2, total: 10, cacheWrite: 7, cacheWrite1h: 4 },
    ],
    [
      'cache writes reported in both forms, counted once',
      {
        input_tokens: 1,
        output_tokens: 2,
        cache_creation_input_tokens: 7,
        cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 },
      },
      { input: 8, output: 2, total: 10, cacheWrite: 7, cacheWrite1h: 4 },
    ],
    [
      'thinking as part of the output',
      { input_tokens: 1, output_tokens: 9, output_tokens_details: { thinking_tokens: 5 } },
      { input: 1, output: 9, total: 10, reasoning: 5 },
    ],
  ])('reads %s', (_, raw, usage) => {
    expect(toUsage(raw)).toEqual(usage);
  });

  const run = (type: string, input_tokens: number, output_tokens: number) => ({ type, input_tokens, output_tokens });

  it('adds up the runs where the top level leaves compaction out', () => {
    const iterations = [run('compaction', 1000, 100), run('message', 20, 5), run('advisor_message', 7, 7)];
    expect(toUsage({ input_tokens: 20, output_tokens: 5, iterations })).toMatchObject({
      input: 1020,
      output: 105,
      total: 1125,
    });
  });

  it('has the runs of each advisor apart, by its model', () => {
    const advisor = (model: string | undefined, parts: JsonObject) => ({
      ...run('advisor_message', 7, 2),
      model,
      ...parts,
    });
    const iterations = [
      run('message', 20, 5),
      advisor('claude-opus-4-6', { cache_read_input_tokens: 100 }),
      advisor('claude-opus-4-6', {}),
      advisor(undefined, {}),
    ];
    expect(toUsage({ input_tokens: 20, output_tokens: 5, service_tier: 'priority', iterations })).toEqual({
      input: 20,
      output: 5,
      total: 25,
      tier: 'priority',
      otherModels: [
        { model: 'claude-opus-4-6', usage: { input: 114, output: 4, total: 118, cacheRead: 100, tier: 'priority' } },
        { model: undefined, usage: { input: 7, output: 2, total: 9, tier: 'priority' } },
      ],
    });
  });

  it.each([
    [[run('compaction', 1000, 100), run('message', 20, 5), run('fallback_message', 30, 6)]],
    [[run('message', 20, 5), run('advisor_message', 7, 7)]],
    [[]],
    ['garbage'],
  ])('uses the top-level counts with the runs %j', (iterations) => {
    expect(toUsage({ input_tokens: 50, output_tokens: 11, iterations })).toMatchObject({ input: 50, output: 11 });
  });
});

describe('usage of a client of this API', () => {
  const own = {
    input_tokens: 3,
    output_tokens: 4,
    cache_creation_input_tokens: 7,
    cache_read_input_tokens: 0,
    cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 },
    server_tool_use: { web_search_requests: 1 },
    service_tier: 'standard',
    inference_geo: 'eu',
    speed: null,
    output_tokens_details: { thinking_tokens: 2 },
  };
  const events = format.decodeReply(
    { id: 'm', content: [{ type: 'text', text: 'Hi' }], stop_reason: 'end_turn', usage: own },
    replyContext(),
  );

  it('is the provider’s own where that is Anthropic', () => {
    expect(replyWith(format, events, clientContext()).usage).toEqual(own);
    const wire = format.encodeStream(clientContext()).push(events);
    const { speed: _, ...said } = own;
    const again = decodeAll(format.decodeStream(replyContext()), [Buffer.from(wire)]);
    expect(again.findLast((event) => event.type === 'usage')).toMatchObject({ raw: said });
    expect(/event: message_delta\ndata: (.*)\n/.exec(wire)?.[1]).not.toContain('service_tier');
  });

  it('has every key, null for counts that another provider does not report', () => {
    const foreign: GenerationEvent[] = [
      { type: 'usage', usage: { input: 9, output: 4, total: 13, cacheRead: 2 }, raw: { promptTokenCount: 9 } },
      { type: 'finish', choice: 0, reason: 'stop' },
      { type: 'end' },
    ];
    expect(replyWith(format, foreign, clientContext()).usage).toEqual({
      input_tokens: 7,
      output_tokens: 4,
      cache_creation_input_tokens: null,
      cache_read_input_tokens: 2,
      cache_creation: null,
      output_tokens_details: null,
      server_tool_use: null,
      service_tier: null,
      inference_geo: null,
      speed: null,
    });
  });
});
