/** Settings that make a coding agent use the gateway. `gatehouse agent-config` prints them, docs/agents shows them, and test/agents runs with them. */

/** The APIs of the gateway that agents speak. */
export const API = {
  chat: 'POST /v1/chat/completions',
  responses: 'POST /v1/responses',
  messages: 'POST /v1/messages',
  generate: 'POST /v1beta/models/{model}:streamGenerateContent',
} as const;

export type Api = (typeof API)[keyof typeof API];

export interface Place {
  /** Origin of the gateway, without a slash at its end. */
  readonly url: string;
  /** Environment variable that holds the gateway key. */
  readonly keyEnv: string;
  /** Alias, or `@slug/model`. */
  readonly model: string;
}

export interface ConfigFile {
  /** Below the home folder of the user. */
  readonly path: string;
  readonly text: string;
}

export interface AgentConfig {
  readonly name: string;
  readonly title: string;
  /** The npm package that has the command. */
  readonly package: string;
  readonly command: string;
  readonly api: Api;
  readonly files: (place: Place) => readonly ConfigFile[];
  /** Environment variables; `$NAME` stands for the value of another one. */
  readonly env: (place: Place) => Readonly<Record<string, string>>;
  /** One sentence each. */
  readonly notes: readonly string[];
}

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

/** A TOML basic string: its escapes are those of JSON. */
const toml = (value: string): string => JSON.stringify(value);

const codex: AgentConfig = {
  name: 'codex',
  title: 'Codex CLI',
  package: '@openai/codex',
  command: 'codex',
  api: API.responses,
  files: ({ url, keyEnv, model }) => [
    {
      path: '.codex/config.toml',
      text: [
        `model = ${toml(model)}`,
        'model_provider = "gatehouse"',
        '',
        '[model_providers.gatehouse]',
        'name = "Gatehouse"',
        `base_url = ${toml(`${url}/v1`)}`,
        `env_key = ${toml(keyEnv)}`,
        'wire_api = "responses"',
        '',
      ].join('\n'),
    },
  ],
  env: () => ({}),
  notes: [
    'Codex has tools for the models whose names it knows. For other names it warns and uses general ones.',
    'Set `model_supports_reasoning_summaries = true` for an alias of a model that thinks: Codex then requests its thoughts.',
  ],
};

const claude: AgentConfig = {
  name: 'claude',
  title: 'Claude Code',
  package: '@anthropic-ai/claude-code',
  command: 'claude',
  api: API.messages,
  files: () => [],
  env: ({ url, keyEnv, model }) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_AUTH_TOKEN: `$${keyEnv}`,
    ANTHROPIC_MODEL: model,
    // Titles and summaries: without it Claude Code asks for a model of Anthropic by name.
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
  }),
  notes: [
    'For a name that it does not know it assumes a context of 1 million tokens: set `CLAUDE_CODE_MAX_CONTEXT_TOKENS` to that of the model.',
    'With `CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY=1` its model picker shows the models of the gateway whose names contain “claude” or “anthropic”.',
  ],
};

const gemini: AgentConfig = {
  name: 'gemini',
  title: 'Gemini CLI',
  package: '@google/gemini-cli',
  command: 'gemini',
  api: API.generate,
  files: () => [
    { path: '.gemini/settings.json', text: json({ security: { auth: { selectedType: 'gemini-api-key' } } }) },
  ],
  env: ({ url, keyEnv, model }) => ({
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_API_KEY: `$${keyEnv}`,
    GEMINI_MODEL: model,
  }),
  notes: [
    'For side tasks it names built-in models, such as `gemini-2.5-flash`: an alias of that name serves these requests.',
  ],
};

const opencode: AgentConfig = {
  name: 'opencode',
  title: 'opencode',
  package: 'opencode-ai',
  command: 'opencode',
  api: API.messages,
  files: ({ url, keyEnv, model }) => [
    {
      path: '.config/opencode/opencode.json',
      text: json({
        $schema: 'https://opencode.ai/config.json',
        provider: {
          gatehouse: {
            npm: '@ai-sdk/anthropic',
            options: { baseURL: `${url}/v1`, apiKey: `{env:${keyEnv}}` },
            models: { [model]: { limit: { context: 200000, output: 32000 } } },
          },
        },
        model: `gatehouse/${model}`,
        small_model: `gatehouse/${model}`,
      }),
    },
  ],
  env: () => ({}),
  notes: [
    'Its settings name the SDK of the Messages API, whose blocks of thinking keep the signatures of Gemini and of Claude.',
    '`@ai-sdk/openai-compatible` speaks chat completions. A strict reply has no `extra_content.google.thought_signature`, which Gemini 3 wants back in loops of tools: `options` need `"headers": { "x-gateway-strict-open-ai-compliance": "false" }`, and the provider the name `google`, because this SDK returns the signatures under that name only. It returns none of Claude.',
    'Set `"reasoning": true` beside `limit` for a model that thinks, and choose a variant, such as `--variant high`: opencode then requests its thoughts.',
  ],
};

export const AGENT_CONFIGS: readonly AgentConfig[] = [codex, claude, gemini, opencode];
