import type { SettingPlace, FieldSource, TargetExplanation } from '../explanation.ts';

export const prod = (line: number, column = 5): SettingPlace => ({ file: 'configs/gateway/prod.yaml', line, column });
const catalog = (line: number): SettingPlace => ({ file: 'configs/catalog.yaml', line, column: 5 });
export const settings = (at: SettingPlace, setting: string): FieldSource => ({ kind: 'settings', at, setting });
const client = (path: string): FieldSource => ({ kind: 'client', path });
const gateway = (what: string): FieldSource => ({ kind: 'gateway', what });
export const BY_DEFAULT = gateway('default');

const messages = (number: number) =>
  Array.from({ length: number }, (_, index) => ({ role: 'user', content: `no. ${index}` }));

export function createTarget(parts: Partial<TargetExplanation> = {}): TargetExplanation {
  return {
    number: 0,
    target: 'config.targets[0]',
    name: 'fast',
    at: prod(12),
    why: 'first',
    shares: [],
    health: { state: 'closed', retryInMs: undefined, enforced: true },
    nextAfter: { kinds: ['rate_limit', 'server_error'], statusCodes: [429, 500, 501, 502, 503] },
    provider: {
      slug: 'gpt',
      provider: 'openai',
      model: 'gpt-5-mini',
      format: 'openai-chat',
      fields: undefined,
      at: catalog(3),
    },
    timeouts: {
      connect: { ms: 5_000, source: BY_DEFAULT },
      total: { ms: 30_000, source: settings(prod(4, 1), 'request_timeout') },
    },
    retry: { attempts: 2, onStatusCodes: [429, 503], source: settings(prod(5, 3), 'retry') },
    commit: 'first_content',
    body: { model: 'gpt-5-mini', max_tokens: 512, messages: messages(14), stream: true },
    changes: [
      {
        path: 'model',
        action: 'set',
        value: 'gpt-5-mini',
        was: '@gpt/any',
        source: settings(prod(13, 7), 'targets.0.override_params.model'),
      },
      {
        path: 'max_tokens',
        action: 'set',
        value: 512,
        was: 9,
        source: settings(prod(14, 7), 'targets.0.override_params.max_tokens'),
      },
      { path: 'temperature', action: 'removed', was: 0.7, source: settings(prod(15, 7), 'targets.0.drop_params.0') },
      { path: 'user', action: 'default', value: 'nobody', source: settings(prod(16, 7), 'default_params.user') },
    ],
    outbound: {
      method: 'POST',
      url: 'https://api.openai.com/v1/chat/completions',
      urlSources: [],
      headers: [
        { name: 'content-type', value: 'application/json', source: gateway('') },
        { name: 'authorization', value: 'Bearer [secret]', source: settings(catalog(5), 'providers.0.api_key') },
        { name: 'x-team', value: 'search', source: { kind: 'header', name: 'x-team' } },
      ],
      body: {
        model: 'gpt-5-mini',
        max_completion_tokens: 512,
        messages: messages(14),
        stream: true,
        stream_options: { include_usage: true },
      },
      bytes: 1_234,
      calls: 1,
      stream: true,
      diff: [
        { path: 'model', received: '"@gpt/any"', sent: '"gpt-5-mini"', source: settings(prod(13, 7), 'model') },
        { path: 'max_tokens', received: '9' },
        { path: 'temperature', received: '0.7', source: settings(prod(15, 7), 'targets.0.drop_params.0') },
        { path: 'max_completion_tokens', sent: '512' },
        { path: 'stream_options.include_usage', sent: 'true' },
      ],
    },
    losses: [],
    defaulted: [],
    cache: undefined,
    refused: undefined,
    metrics: [
      { name: 'gatehouse_requests_total', labels: { provider: 'gpt', request_model: 'gpt-5-mini', cache: '' } },
      { name: 'gatehouse_tokens_total', labels: { provider: 'gpt', type: 'input' } },
    ],
    ...parts,
  };
}

/** Another upstream with another format, similar to the first in other parts. */
export const gemini = (parts: Partial<TargetExplanation> = {}): TargetExplanation =>
  createTarget({
    number: 1,
    target: 'config.targets[1]',
    name: undefined,
    at: prod(20),
    why: 'fallback',
    shares: [{ group: 'config.targets[1]', weight: 30, of: 100, at: prod(22) }],
    health: { state: 'open', retryInMs: 1_500, enforced: true },
    nextAfter: { kinds: [], statusCodes: [] },
    provider: {
      slug: 'vertex',
      provider: 'vertex-ai',
      model: 'gemini-2.5-flash',
      format: 'gemini',
      fields: undefined,
      at: catalog(9),
    },
    body: {
      model: 'gemini-2.5-flash',
      messages: messages(2),
      max_tokens: 9,
      stop: ['END', 'STOP'],
      logit_bias: { 1: 2 },
    },
    changes: [
      {
        path: 'model',
        action: 'set',
        value: 'gemini-2.5-flash',
        was: '@gpt/any',
        source: settings(prod(21, 7), 'targets.1.override_params.model'),
      },
    ],
    outbound: {
      method: 'POST',
      url: 'https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
      urlSources: [settings(catalog(9), 'providers.1.region'), client('model'), client('stream')],
      headers: [
        {
          name: 'authorization',
          value: 'Bearer [secret]',
          source: settings(catalog(11), 'providers.1.service_account'),
        },
      ],
      body: {
        contents: messages(2),
        generationConfig: { maxOutputTokens: 9, stopSequences: ['END', 'STOP'] },
        systemInstruction: { parts: [{ text: 'x'.repeat(5_000) }] },
        labels: { team: 'search' },
      },
      bytes: 5_300,
      calls: 1,
      stream: true,
      diff: [
        { path: 'messages', received: '[…] (2 items)' },
        { path: 'contents', sent: '[…] (2 items)' },
        { path: 'generationConfig.maxOutputTokens', sent: '9' },
        { path: 'generationConfig.stopSequences', sent: '["END","STOP"]' },
        { path: 'systemInstruction', sent: '{…} (parts)' },
        { path: 'labels.team', sent: '"search"', source: settings(prod(30, 3), 'metadata.labels') },
      ],
    },
    losses: [{ param: 'logit_bias', action: 'dropped', reason: 'Gemini has nothing like it' }],
    defaulted: [],
    cache: {
      key: '3f2a9c',
      parts: { caller: 'search', target: 'config.targets[1]', authorization: '[secret]' },
      maxAgeMs: 600_000,
      scope: 'key',
      source: settings(prod(25, 3), 'cache'),
      hit: false,
      now: 'nothing is kept under it',
      near: undefined,
    },
    ...parts,
  });
