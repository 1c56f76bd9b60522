import { LLAMA } from './anthropic.ts';
import {
  call,
  calls,
  city,
  clock,
  fn,
  hi,
  image,
  PDF,
  png,
  result,
  text,
  user,
  weather,
  type Case,
  type Cases,
} from './case.ts';

const LLAMA_ONLY = { claudeOnVertex: [], llama: [LLAMA] } as const;
const BOTH_OPEN = { ...LLAMA_ONLY, openai: ['gpt-5'] } as const;
const asks = (title: string, request: Case['request']): Case => ({ title, request });

/**
 * Chat requests for Claude on Vertex AI (docs/protocols/vertex-ai.md#claude-on-vertex-ai), and for models that speak OpenAI's API
 * themselves (docs/protocols/vertex-ai.md#open-models).
 */
export const hosted: Cases = {
  bare: { ...asks('a bare question', {}), llama: [LLAMA], openai: ['gpt-5'] },
  stream: { ...asks('an answer in chunks', { stream: true }), llama: [LLAMA], openai: ['gpt-5'] },
  'stream-usage-refused': {
    ...asks('a stream whose caller does not want its usage', {
      stream: true,
      stream_options: { include_usage: false },
    }),
    ...BOTH_OPEN,
  },
  system: asks('a system message', { messages: [{ role: 'system', content: 'Be brief.' }, hi] }),
  'image-data': asks('a picture', { messages: [user(text('See:'), image(png))] }),
  'image-url': asks('a picture by its address', { messages: [user(image('https://files.example/a.png'))] }),
  pdf: asks('a PDF', {
    messages: [user({ type: 'file', file: { file_data: PDF, mime_type: 'application/pdf', filename: 'a.pdf' } })],
  }),
  'pdf-url': asks('a PDF by its address', {
    messages: [user({ type: 'file', file: { file_url: 'https://files.example/a.pdf' } })],
  }),
  'file-id': asks('a file by its id', { messages: [user({ type: 'file', file: { file_id: 'file_1' } })] }),
  'strict-tool': asks('a tool with a schema to be kept to', {
    tools: [fn('weather', { parameters: city, strict: true })],
  }),
  'parallel-round': asks('two calls at once and their results', {
    tools: [weather, clock],
    messages: [
      hi,
      calls(call('call_1', 'weather', '{"city":"Oslo"}'), call('call_2', 'clock', '{"city":"Oslo"}')),
      result('call_2', '12:00'),
      result('call_1', 'rain'),
    ],
  }),
  'web-search': asks('a search of the web', { web_search_options: {} }),
  'code-execution': asks('code the model runs', { tools: [{ type: 'code_execution' }] }),
  'answer-schema': asks('an answer by a schema: a forced tool', {
    response_format: { type: 'json_schema', json_schema: { name: 'city', schema: city } },
  }),
  effort: {
    ...asks('an effort', { max_tokens: 40_000, reasoning_effort: 'high' }),
    claudeOnVertex: ['anthropic.claude-sonnet-4-5@20250929', 'anthropic.claude-opus-4-6'],
  },
  sampling: asks('a temperature above the highest', { temperature: 1.5, stop: ['END'], seed: 42 }),
  'beta-in-body': asks('a beta in the body', { anthropic_beta: ['context-1m-2025-08-07'] }),
  'version-in-body': asks('the version in the body', { anthropic_version: 'vertex-2023-10-16' }),
  labels: asks('cost labels', { labels: { team: 'search' } }),
  'limit-missing': asks('no limit to the answer', { max_tokens: undefined }),
  'family-prefix': { ...asks('the neutral prefix', {}), claudeOnVertex: ['familya.claude-3-5-sonnet-v2@20241022'] },
  'llama-family-prefix': {
    ...asks('the neutral prefix of the other family', {}),
    ...LLAMA_ONLY,
    llama: ['familyb.llama-3.3-70b-instruct-maas'],
  },
  'llama-every-field': {
    ...asks('every field of the API, and an unknown one', {
      max_completion_tokens: 100,
      temperature: 0.3,
      top_p: 0.9,
      top_k: 40,
      n: 2,
      seed: 42,
      stop: ['END'],
      logprobs: true,
      top_logprobs: 2,
      logit_bias: { 50256: -100 },
      frequency_penalty: 0.1,
      presence_penalty: 0.1,
      tools: [weather],
      tool_choice: 'auto',
      parallel_tool_calls: false,
      response_format: { type: 'json_object' },
      reasoning_effort: 'low',
      user: 'user-123',
      metadata: { team: 'search' },
      extra_body: { google: { model_safety_settings: { enabled: false } } },
      frobnicate: [1, { deep: null }],
    }),
    ...BOTH_OPEN,
  },
  'open-model-image': {
    ...asks('a picture by its address, as it is', {
      messages: [user(image('https://files.example/a', { detail: 'high' }))],
    }),
    ...BOTH_OPEN,
  },
};
