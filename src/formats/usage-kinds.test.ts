import { describe, expect, it } from 'vitest';
import type { FormatName } from './conversation.ts';
import type { Usage } from './events.ts';
import { plainUsages, usagesAsStream } from './usage-streams.testkit.ts';

/** Plain replies with every count that prices need. */
const COUNTED: Readonly<Record<FormatName, readonly [reply: object, usage: Partial<Usage>]>> = {
  'openai-chat': [
    {
      model: 'm',
      service_tier: 'priority',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Yes' }, finish_reason: 'stop' }],
      usage: {
        prompt_tokens: 100,
        completion_tokens: 50,
        total_tokens: 150,
        prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 5, audio_tokens: 10, image_tokens: 7 },
        completion_tokens_details: { reasoning_tokens: 20, audio_tokens: 9, image_tokens: 3 },
      },
    },
    {
      cacheRead: 40,
      cacheWrite: 5,
      inputAudio: 10,
      inputImage: 7,
      reasoning: 20,
      outputAudio: 9,
      outputImage: 3,
      tier: 'priority',
    },
  ],
  'openai-responses': [
    {
      model: 'm',
      object: 'response',
      status: 'completed',
      service_tier: 'flex',
      output: [
        { type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'a' } },
        { type: 'web_search_call', status: 'completed', action: { type: 'open_page', url: 'https://a' } },
        { type: 'file_search_call', status: 'completed', queries: ['b'] },
        ...['cntr_1', 'cntr_1', 'cntr_2'].map((container_id) => ({
          type: 'code_interpreter_call',
          status: 'completed',
          code: '1',
          container_id,
          outputs: [],
        })),
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Yes', annotations: [] }] },
      ],
      usage: {
        input_tokens: 100,
        output_tokens: 50,
        total_tokens: 150,
        input_tokens_details: { cached_tokens: 40, cache_write_tokens: 5 },
        output_tokens_details: { reasoning_tokens: 20 },
      },
    },
    { cacheRead: 40, cacheWrite: 5, reasoning: 20, searches: 1, fileSearches: 1, containers: 2, tier: 'flex' },
  ],
  'anthropic-messages': [
    {
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'Yes' }],
      stop_reason: 'end_turn',
      usage: {
        input_tokens: 40,
        output_tokens: 50,
        cache_read_input_tokens: 30,
        cache_creation_input_tokens: 30,
        cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 10 },
        server_tool_use: { web_search_requests: 3 },
        service_tier: 'batch',
        inference_geo: 'us',
        speed: 'fast',
      },
    },
    { cacheRead: 30, cacheWrite: 30, cacheWrite1h: 10, searches: 3, tier: 'batch', geo: 'us', fast: true },
  ],
  gemini: [
    {
      modelVersion: 'm',
      candidates: [
        {
          index: 0,
          content: { role: 'model', parts: [{ text: 'Yes' }, { inlineData: { mimeType: 'image/png', data: 'AA==' } }] },
          finishReason: 'STOP',
          groundingMetadata: {
            webSearchQueries: ['a', 'b'],
            retrievalQueries: ['c'],
            groundingChunks: [{ maps: { uri: 'https://maps.google.com/1' } }, { maps: {} }],
          },
        },
      ],
      usageMetadata: {
        promptTokenCount: 95,
        toolUsePromptTokenCount: 5,
        candidatesTokenCount: 30,
        thoughtsTokenCount: 20,
        totalTokenCount: 150,
        cachedContentTokenCount: 40,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 60 },
          { modality: 'AUDIO', tokenCount: 25 },
          { modality: 'IMAGE', tokenCount: 10 },
        ],
        cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 8 }],
        candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 12 }],
        trafficType: 'ON_DEMAND_FLEX',
      },
    },
    {
      cacheRead: 40,
      reasoning: 20,
      toolUse: 5,
      inputAudio: 25,
      inputImage: 10,
      cacheReadAudio: 8,
      outputImage: 12,
      searches: 2,
      fileSearches: 1,
      mapSearches: 1,
      images: 1,
      tier: 'flex',
    },
  ],
};

describe('the usage of a reply', () => {
  it.each(Object.entries(COUNTED) as [FormatName, (typeof COUNTED)[FormatName]][])(
    'of %s has each kind, plain and streamed, translated and passed on',
    (name, [reply, more]) => {
      const usage = { input: 100, output: 50, total: 150, ...more };
      expect([...plainUsages(name, reply), ...usagesAsStream(name, reply)]).toEqual([usage, usage, usage, usage]);
    },
  );
});
