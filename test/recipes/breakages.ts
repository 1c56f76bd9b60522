/** One way to break a recipe: still valid settings, and no more what the recipe is for. */
export interface Breakage {
  readonly what: string;
  /** Text that stands in the file once, and what stands there then. */
  readonly edit: readonly [from: string, to: string];
  /** Default: the recipe's own file. */
  readonly file?: 'keys.yaml' | 'catalog.yaml' | 'server.yaml' | 'teams.yaml' | 'prompts/ticket-summary.yaml';
}

const without = (text: string): Breakage['edit'] => [text, ''];
const drawn: Breakage = {
  what: 'the first target is no more than one of several',
  edit: ['mode: fallback', 'mode: loadbalance'],
};

/** At least five of each: those that matter for what the recipe is for. */
export const BREAKAGES: Readonly<Record<string, readonly Breakage[]>> = {
  'billing-labels': [
    { what: 'no cost center is needed', edit: ['[team, cost_center]', '[team]'] },
    { what: 'any team will do', edit: without('  allowed: { team: [search, ads, support] }\n') },
    { what: 'no labels', edit: without('  labels: { team: team, cost_center: cost-center }\n') },
    { what: 'everything is a label', edit: ['labels: { team: team, cost_center: cost-center }', 'labels: true'] },
    { what: 'a label that finance does not know', edit: ['cost_center: cost-center', 'cost_center: cc'] },
    { what: 'Google does not get the request', edit: ['provider: "@vertex"', 'provider: "@openai"'] },
  ],
  'budget-per-team': [
    {
      what: 'the day has more',
      file: 'teams.yaml',
      edit: [
        'cap: 0.50 USD, period: day, time_zone: Europe/Berlin }',
        'cap: 5 USD, period: day, time_zone: Europe/Berlin }',
      ],
    },
    { what: 'the key of support is in no team', file: 'keys.yaml', edit: ['    team: support\n', ''] },
    { what: 'research is refused, too', file: 'teams.yaml', edit: [', on_exceeded: warn', ''] },
    {
      what: 'answers have any length',
      edit: ['default_params: { max_tokens: 4096 }', 'default_params: { temperature: 1 }'],
    },
    { what: 'another model answers', edit: ['model: claude-sonnet-4-6', 'model: claude-haiku-4-5'] },
    {
      what: 'all keys are of support',
      file: 'keys.yaml',
      edit: ['id: platform\n', 'id: platform\n    team: support\n'],
    },
  ],
  'cached-embeddings': [
    { what: 'nothing is kept', edit: ['mode: exact', 'mode: off'] },
    { what: 'each key keeps its own', edit: without(', scope: config') },
    { what: 'kept for a day', edit: ['max_age: 168h', 'max_age: 24h'] },
    { what: 'kept longer than vectors are good for', edit: ['max_age: 168h', 'max_age: 1680h'] },
    { what: 'another model', edit: ['gemini-embedding-001', 'text-embedding-005'] },
    { what: 'vectors as long as the model makes them', edit: without(', dimensions: 768') },
    { what: 'applications choose the length', edit: ['override_params', 'default_params'] },
    { what: 'too few tries', edit: ['attempts: 3', 'attempts: 1'] },
    { what: 'an overloaded model gets no retry', edit: ['[429, 503]', '[429]'] },
  ],
  'canary-by-weight': [
    { what: 'every third user', edit: ['weight: 5\n', 'weight: 50\n'] },
    { what: 'no canary', edit: ['weight: 5\n', 'weight: 0\n'] },
    { what: 'users change models', edit: without('  sticky: { hash_fields: [metadata.user], ttl: 24h }\n') },
    { what: 'all users of a key have the same model', edit: ['metadata.user', 'caller'] },
    {
      what: 'users change models with each conversation',
      edit: ['[metadata.user]', '[metadata.user, metadata.session]'],
    },
    { what: 'users change models before the day is over', edit: ['ttl: 24h', 'ttl: 1h'] },
    { what: 'another canary', edit: ['gemini-3.8-flash', 'gemini-3.5-flash-lite'] },
    {
      what: 'a canary that fails, fails',
      edit: ['mode: loadbalance', 'mode: loadbalance\n  stop_on_errors: [server_error]'],
    },
  ],
  'cheap-first': [
    drawn,
    { what: 'a long prompt goes nowhere', edit: ['[rate_limit, quota]', '[rate_limit, quota, context_length]'] },
    { what: 'a rate limit costs more', edit: without('  stop_on_errors: [rate_limit, quota]\n') },
    {
      what: 'a rate limit reaches the client at once',
      edit: without('    retry: { attempts: 2, on_status_codes: [429], max_delay: 10s }\n'),
    },
    { what: 'a rate limit is waited for too long', edit: ['max_delay: 10s', 'max_delay: 60s'] },
    {
      what: 'a rate limit is paid for once it is over',
      edit: [
        'name: Cheap first\n',
        'name: Cheap first\ncircuit_breaker: { failures: 1, min_requests: 1, cooldown: 60s }\n',
      ],
    },
    {
      what: 'the long model has no larger context window',
      edit: ['context_window: 1048576', 'context_window: 200000'],
    },
    { what: 'the cheap model is another', edit: ['claude-haiku-4-5', 'claude-opus-4-1'] },
    { what: 'Claude has no limit', edit: ['default_params: { max_tokens: 4096 }', 'default_max_tokens: refuse'] },
  ],
  'eu-only': [
    drawn,
    {
      what: 'the catalog entry is somewhere else',
      file: 'catalog.yaml',
      edit: ['region: eu\n', 'region: us-central1\n'],
    },
    { what: 'the second target is anywhere', edit: ['"@vertex-belgium"', '"@vertex"'] },
    { what: 'Belgium is in Virginia', file: 'catalog.yaml', edit: ['region: europe-west1', 'region: us-east4'] },
    {
      what: 'the key may use other configs',
      file: 'keys.yaml',
      edit: ['configs: [eu-only]', 'configs: [eu-only, canary-by-weight]'],
    },
    {
      what: 'the key may bring configs of its own',
      file: 'keys.yaml',
      edit: ['configs: [eu-only]', 'configs: [eu-only]\n    inline_configs: true'],
    },
    { what: 'the key has no config of its own', file: 'keys.yaml', edit: ['    default_config: eu-only\n', ''] },
    {
      what: 'requests choose the model',
      edit: ['provider: "@vertex-eu"\n    override_params', 'provider: "@vertex-eu"\n    default_params'],
    },
  ],
  'fallback-across-providers': [
    drawn,
    { what: 'Anthropic has another model', edit: ['model: claude-sonnet-5-5', 'model: claude-haiku-4-5'] },
    { what: 'Google gets no retry', edit: ['attempts: 1', 'attempts: 0'] },
    {
      what: 'a failing Google is never skipped',
      edit: without('circuit_breaker: { failures: 5, cooldown: 30s }\n'),
    },
    { what: 'Google is skipped for a minute', edit: ['cooldown: 30s', 'cooldown: 60s'] },
    { what: 'the gateway waits for Google', edit: ['max_delay: 2s', 'max_delay: 20s'] },
    {
      what: 'a silent Google is not noticed',
      edit: [
        'retry: { attempts: 1, max_delay: 2s }\n    timeouts: { first_content: 20s }',
        'retry: { attempts: 1, max_delay: 2s }\n    timeouts: { first_content: 60s }',
      ],
    },
    {
      what: 'an overloaded upstream ends it',
      edit: ['mode: fallback', 'mode: fallback\n  stop_on_errors: [overloaded]'],
    },
    {
      what: 'the last one is Claude, too',
      edit: [
        'provider: "@openai"\n    override_params: { model: gpt-6-sol }',
        'provider: "@anthropic"\n    override_params: { model: claude-sonnet-5-5 }',
      ],
    },
  ],
  'files-from-cloud-storage': [
    drawn,
    {
      what: 'files are in a folder of the gateway',
      file: 'server.yaml',
      edit: ['gcs: { provider: "@vertex", bucket: my-project-gatehouse-files, prefix: prod/ }', 'dir: /tmp/files'],
    },
    { what: 'files are in another bucket', file: 'server.yaml', edit: ['gatehouse-files', 'files'] },
    { what: 'files have no prefix', file: 'server.yaml', edit: [', prefix: prod/', ''] },
    { what: 'no file is sent inline', file: 'server.yaml', edit: ['inline_bytes: 8MiB', 'inline_bytes: 1B'] },
    { what: 'Gemini gets no second try', edit: ['attempts: 1', 'attempts: 0'] },
    { what: 'Claude has no limit', edit: ['default_params: { max_tokens: 4096 }', 'default_max_tokens: refuse'] },
    {
      what: 'the model that reads no bucket comes first',
      edit: ['provider: "@vertex", override_params: { model: gemini-3.8-flash }', 'provider: "@openai"'],
    },
  ],
  'first-content-failover': [
    drawn,
    { what: 'silence is borne for long', edit: ['first_content: 4s', 'first_content: 30s'] },
    { what: 'silence ends it', edit: ['mode: fallback', 'mode: fallback\n  stop_on_errors: [timeout_first_content]'] },
    {
      what: 'every request waits for a silent target',
      edit: without('circuit_breaker: { failures: 3, min_requests: 3, cooldown: 30s }\n'),
    },
    { what: 'one silence is enough', edit: ['{ failures: 3, min_requests: 3', '{ failures: 1, min_requests: 1'] },
    { what: 'a target is skipped for a minute', edit: ['cooldown: 30s', 'cooldown: 60s'] },
    { what: 'nothing leaves before the end', edit: ['commit: first_content', 'commit: complete'] },
    { what: 'the spare one has no time', edit: without('    timeouts: { first_content: 20s }\n') },
    { what: 'the deadline is before the spare one', edit: ['deadline: 60s', 'deadline: 10s'] },
    {
      what: 'plain answers are held to the first word',
      edit: ['first_byte: 25s', 'first_byte: 4s'],
    },
    {
      what: 'the spare one gets no limit, which it needs',
      edit: ['default_params: { max_tokens: 4096 }', 'default_max_tokens: refuse'],
    },
  ],
  guarded: [
    drawn,
    {
      what: 'the list has no guard',
      edit: ['[override, { plugin: guard, options: { refuse: [card_number] } }, transform', '[override, transform'],
    },
    { what: 'card numbers pass', edit: ['[card_number] }', '[email] }'] },
    { what: 'email addresses go nowhere', edit: ['[card_number] }', '[card_number, email] }'] },
    { what: 'Anthropic gets email addresses', edit: ['[card_number, email]', '[card_number]'] },
    {
      what: 'Anthropic’s requests pass no guard',
      edit: ['[override, { plugin: guard, options: { refuse: [card_number, email] } }, ', '[override, '],
    },
    { what: 'Claude gets no `max_tokens`', edit: ['    default_params: { max_tokens: 4096 }\n', ''] },
    {
      what: 'the guard has the card numbers of Anthropic only',
      edit: [
        'plugins: [override, { plugin: guard, options: { refuse: [card_number] } }, transform, budget, retry, send]\n',
        '',
      ],
    },
  ],
  'per-team-models': [
    {
      what: 'support has every model of Google',
      file: 'keys.yaml',
      edit: ['    models: [gemini-3.8-flash, gemini-3.5-flash-lite]\n', ''],
    },
    {
      what: 'support may use other configs',
      file: 'keys.yaml',
      edit: [
        'models: [gemini-3.8-flash, gemini-3.5-flash-lite]\n    configs: [per-team-models]',
        'models: [gemini-3.8-flash, gemini-3.5-flash-lite]',
      ],
    },
    { what: 'research has no Claude', file: 'keys.yaml', edit: ['[gemini-*, claude-*]', '[gemini-*]'] },
    {
      what: 'research must name its config',
      file: 'keys.yaml',
      edit: [
        'configs: [per-team-models, cheap-first]\n    default_config: per-team-models',
        'configs: [per-team-models, cheap-first]',
      ],
    },
    { what: 'Claude is looked for at Google', edit: ['then: claude', 'then: gemini'] },
    { what: 'Gemini is looked for at Anthropic', edit: ['default: gemini', 'default: claude'] },
    { what: 'only the bare name is Claude', edit: ['^(@anthropic/)?claude-', '^claude-'] },
  ],
  'prompt-by-label': [
    { what: 'the version is not pinned', edit: ['prompts: { ticket-summary: production }', 'messages_route: any'] },
    { what: 'the latest version is pinned', edit: ['ticket-summary: production', 'ticket-summary: latest'] },
    { what: 'the label is moved', edit: ['production: 1', 'production: 2'], file: 'prompts/ticket-summary.yaml' },
    { what: 'the defaults override requests', edit: ['default_params: {', 'override_params: {'] },
    {
      what: 'no limit of the answer',
      edit: without('default_params: { max_tokens: 300 } # for versions that set none\n'),
    },
    {
      what: 'the other model comes first',
      edit: [
        'provider: "@vertex", override_params: { model: gemini-3.8-flash }',
        'provider: "@openai", override_params: { model: gpt-6-sol }',
      ],
    },
  ],
  'rate-limit-by-plan': [
    { what: 'the free plan has all that it asks', file: 'teams.yaml', edit: ['12/min #', '1200/min #'] },
    { what: 'the free plan has the large model', file: 'teams.yaml', edit: ['gpt-6-sol: {', 'gpt-6-astra: {'] },
    { what: 'tokens are free', file: 'teams.yaml', edit: without('      tokens: 20000/min\n') },
    { what: 'the pro plan is the free one', file: 'teams.yaml', edit: ['requests: 600/min', 'requests: 12/min'] },
    {
      what: 'a key without a plan',
      file: 'keys.yaml',
      edit: without('    team: customer-on-free\n'),
    },
    { what: 'a limit of the large model is final', edit: ['[rate_limit, overloaded]', '[overloaded]'] },
    { what: 'the small model is the large one', edit: ['gpt-6-luna', 'gpt-6-sol'] },
  ],
  'route-by-metadata': [
    { what: 'every request gets the large model', edit: ['default: small', 'default: large'] },
    { what: 'whatever is no code goes to the coder', edit: ['$in: [code, review]', '$nin: [code, review]'] },
    { what: 'free code goes to the coder', edit: ['metadata.tier: paid, metadata.task', 'metadata.task'] },
    { what: 'a review is no code', edit: ['[code, review]', '[code]'] },
    { what: 'any tier will do', edit: without('metadata:\n  allowed: { tier: [free, paid] }\n') },
    { what: 'paying customers get the small model', edit: ['then: large', 'then: small'] },
  ],
  'semantic-cache': [
    { what: 'only equal questions get an answer again', edit: ['mode: semantic', 'mode: exact'] },
    { what: 'each key keeps its own', edit: without('  scope: config\n') },
    { what: 'questions count as near that are not', edit: ['threshold: 0.95', 'threshold: 0.9'] },
    { what: 'hardly any question counts as near', edit: ['threshold: 0.95', 'threshold: 0.99'] },
    { what: 'vectors are waited for', edit: ['timeout: 300ms', 'timeout: 3s'] },
    { what: 'answers are kept for a day', edit: ['max_age: 1h', 'max_age: 24h'] },
    { what: 'another model makes the vectors', edit: ['text-embedding-3-small', 'text-embedding-3-large'] },
    { what: 'another model answers', edit: ['gpt-6-luna', 'gpt-6-sol'] },
  ],
  'strict-json': [
    {
      what: 'the first model is no more than one of several',
      edit: ['name: chat\n    strategy: { mode: fallback }', 'name: chat\n    strategy: { mode: loadbalance }'],
    },
    {
      what: 'applications choose the shape',
      edit: ['override_params:\n      response', 'default_params:\n      response'],
    },
    { what: 'the shape is a wish', edit: ['strict: true', 'strict: false'] },
    { what: 'a ticket may lack its urgency', edit: ['[title, urgent]', '[title]'] },
    { what: 'tools may be called', edit: without('tools, ') },
    { what: 'a temperature is sent to models that refuse it', edit: without(', temperature') },
    { what: 'schemas are mixed', edit: without(' response_format: null,') },
    { what: 'schemas are mixed in the words of the other API', edit: without(', output_config: { format: null }') },
  ],
};
