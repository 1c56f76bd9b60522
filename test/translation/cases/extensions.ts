import { type Cases, weather } from './case.ts';

/**
 * All other fields at the top level (docs/protocols/openai-chat.md#request-fields, docs/protocols/vertex-ai.md#labels,
 * docs/protocols/requests.md#parameters).
 */
export const extensions: Cases = {
  user: { title: 'who the end user is', request: { user: 'user-1' } },
  'safety-identifier': { title: 'who the end user is, in the newer field', request: { safety_identifier: 'b3f1' } },
  'user-twice': {
    title: 'who the end user is, in both fields',
    request: { user: 'user-1', safety_identifier: 'b3f1' },
  },
  metadata: { title: 'metadata', request: { metadata: { team: 'search' } } },
  labels: { title: 'cost labels', request: { labels: { team: 'search', stage: 'test-1' } } },
  'labels-upper-case': { title: 'a cost label that is not allowed', request: { labels: { Team: 'search' } } },
  'labels-long': { title: 'a cost label that is too long', request: { labels: { team: 'x'.repeat(64) } } },
  'safety-settings': {
    title: 'safety settings of Gemini',
    request: { safety_settings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_ONLY_HIGH' }] },
  },
  'modalities-text': { title: 'an answer in text, said so', request: { modalities: ['text'] } },
  'modalities-image': {
    title: 'an answer with pictures of a given shape',
    request: { modalities: ['text', 'image'], image_config: { aspect_ratio: '16:9', image_size: '2K' } },
    gemini: ['gemini-3-pro-image-preview'],
  },
  audio: {
    title: 'an answer in sound',
    request: { modalities: ['audio'], audio: { voice: 'Kore', format: 'pcm16' } },
    gemini: ['gemini-2.5-flash-preview-tts'],
  },
  'audio-mp3': {
    title: 'an answer in sound of a format Gemini does not speak',
    request: { modalities: ['text', 'audio'], audio: { voice: 'Kore', format: 'mp3' } },
  },
  'tier-auto': { title: 'the service tier of the project', request: { service_tier: 'auto' } },
  'tier-default': { title: 'the standard service tier', request: { service_tier: 'default' } },
  'tier-flex': { title: 'the cheap service tier', request: { service_tier: 'flex' } },
  'tier-priority': { title: 'the fast service tier', request: { service_tier: 'priority' } },
  verbosity: { title: 'a short answer', request: { verbosity: 'low' } },
  'logit-bias': { title: 'biases of tokens', request: { logit_bias: { '50256': -100 } } },
  prediction: {
    title: 'parts of the answer that are known',
    request: { prediction: { type: 'content', content: 'a' } },
  },
  store: { title: 'an answer to be stored', request: { store: true } },
  'prompt-cache': {
    title: 'settings of OpenAI’s prompt cache',
    request: { prompt_cache_key: 'support', prompt_cache_options: { mode: 'implicit' } },
  },
  moderation: { title: 'moderation by OpenAI', request: { moderation: { model: 'omni-moderation-latest' } } },
  'unknown-field': { title: 'an unknown field', request: { frobnicate: { deeply: true } } },
  'anthropic-fields': {
    title: 'headers of Anthropic’s API in the body',
    request: { anthropic_beta: ['context-1m-2025-08-07'], anthropic_version: '2023-06-01' },
  },
  stream: { title: 'a stream', request: { stream: true } },
  'stream-usage': {
    title: 'a stream with its usage, and tools',
    request: { stream: true, stream_options: { include_usage: true }, tools: [weather] },
  },
};
