import { ALL, GEMINIS, marker } from './anthropic.ts';
import { hi, type Case, type Cases } from './case.ts';

const of = (title: string, request: Case['request']): Case => ({ title, request });

const server = { type: 'url', url: 'https://mcp.example/sse', name: 'demo' } as const;

/**
 * The fields beside the conversation (docs/protocols/anthropic-messages.md#request-fields, docs/protocols/requests.md#parameters,
 * docs/protocols/messages-route.md#requests).
 */
export const anthropicFields: Cases = {
  sampling: { ...of('temperature, top_p and top_k', { temperature: 0.3, top_p: 0.9, top_k: 40 }), ...ALL },
  'stop-sequences': { ...of('texts to stop at', { stop_sequences: ['END', '\n\nHuman:'] }), ...ALL },
  'stop-sequences-many': of('more texts to stop at than the others take', {
    stop_sequences: ['1', '2', '3', '4', '5', '6'],
  }),
  'max-tokens-missing': of('no limit to the answer', { max_tokens: undefined }),
  'max-tokens-zero': of('an answer of nothing, to warm the cache', { max_tokens: 0 }),
  stream: { ...of('an answer in events', { stream: true }), ...ALL },
  'user-id': { ...of('the caller’s user', { metadata: { user_id: 'user-123' } }), ...ALL },
  'metadata-others': of('unknown metadata of the caller', { metadata: { user_id: 'user-123', team: 'search' } }),
  'service-tier-auto': of('whatever capacity there is', { service_tier: 'auto' }),
  'service-tier-standard': of('no priority capacity', { service_tier: 'standard_only' }),
  'cache-control': { ...of('caching of all that can be', { cache_control: marker }), ...GEMINIS },
  container: of('a container of Anthropic’s', { container: 'container_1' }),
  'container-strict': {
    ...of('a container, and nothing may be lost', { container: 'container_1' }),
    strictParams: true,
  },
  'mcp-servers': of('a server of tools', { mcp_servers: [server] }),
  'mcp-servers-strict': {
    ...of('a server of tools, and nothing may be lost', { mcp_servers: [server] }),
    strictParams: true,
  },
  'context-management': of('old tool results to be cleared', {
    context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
  }),
  'inference-geo': of('a place for the model to run in', { inference_geo: 'us' }),
  speed: of('a fast answer', { speed: 'fast' }),
  diagnostics: of('a report on the cache', { diagnostics: { previous_message_id: 'msg_1' } }),
  fallbacks: of('other models to fall back on', { fallbacks: 'default' }),
  betas: of('betas in the body', { betas: ['context-1m-2025-08-07'] }),
  'version-in-body': of('the version, as it stands in bodies for Vertex', { anthropic_version: 'vertex-2023-10-16' }),
  unknown: of('an unknown field', { frobnicate: { on: true } }),
  'unknown-strict': {
    ...of('an unknown field under strict params', { frobnicate: true }),
    strictParams: true,
  },
  nulls: of('fields that say nothing', {
    system: null,
    temperature: null,
    stop_sequences: null,
    tools: null,
    tool_choice: null,
    thinking: null,
    metadata: null,
    container: null,
    service_tier: null,
  }),
  'nothing-lost-strict': {
    ...of('an ordinary request that nothing of may be lost', { system: 'Be brief.', temperature: 1, messages: [hi] }),
    strictParams: true,
  },
};
