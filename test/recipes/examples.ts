/** A request that shows what a recipe is for. */
export interface Example {
  readonly body: Readonly<Record<string, unknown>>;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Id of the key that asks; its own config is used. */
  readonly key?: string;
  readonly options?: readonly string[];
}

const chat = (content: string | readonly object[], more: object = {}): Readonly<Record<string, unknown>> => ({
  model: 'any',
  ...more,
  messages: [{ role: 'user', content }],
});

export const EXAMPLES: Readonly<Record<string, Example>> = {
  'billing-labels': { body: chat('Hello'), metadata: { team: 'search', cost_center: 'CC 4711' } },
  'budget-per-team': { body: chat('Hello'), key: 'support-app' },
  'cached-embeddings': { body: { model: 'any', input: 'A text' }, options: ['--path', '/v1/embeddings'] },
  'canary-by-weight': {
    body: chat('Hello'),
    metadata: { user: 'u-6' },
    options: ['--at', '2026-01-01T12:00:00Z'],
  },
  'cheap-first': { body: chat('A very long text', { max_tokens: 300 }) },
  'eu-only': { body: chat('Hello', { model: '@openai/gpt-6-sol' }), key: 'clinic' },
  'fallback-across-providers': { body: chat('Hello', { seed: 7 }) },
  'files-from-cloud-storage': {
    body: chat([
      { type: 'text', text: 'Summarise this report.' },
      { type: 'file', file: { file_id: 'file-gh019b76da800070008000000000000001' } },
    ]),
  },
  'first-content-failover': { body: chat('Hello', { stream: true }) },
  guarded: { body: chat('Write to ada@example.com.') },
  'per-team-models': { body: chat('Hello', { model: 'claude-sonnet-5-5' }), key: 'team-support' },
  'prompt-by-label': {
    body: { variables: { ticket: 'The printer burns' } },
    options: ['--path', '/v1/prompts/ticket-summary/completions'],
  },
  'rate-limit-by-plan': { body: chat('Hello'), key: 'customer-on-free-app' },
  'route-by-metadata': { body: chat('Review this'), metadata: { tier: 'paid', task: 'review' } },
  'semantic-cache': { body: chat('How do I change my password?') },
  'strict-json': {
    body: chat('The printer burns', { temperature: 1, tools: [{ type: 'function', function: { name: 'call' } }] }),
  },
};
