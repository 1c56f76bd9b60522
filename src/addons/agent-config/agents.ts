/** Settings that make a coding agent use the gateway. `gatehouse agent-config` prints them, docs/agents shows them, and test/agents runs with them. */

export interface AgentGateway {
  /** Origin of the gateway, without a slash at the end. */
  readonly url: string;
  /** Environment variable that holds the gateway key. */
  readonly keyEnv: string;
  /** Alias, or `@slug/model`. */
  readonly model: string;
  /** Absent if the gateway did not answer, or refused the key. */
  readonly facts?: PlaceFacts;
}

export interface PlaceFacts {
  /** Tokens. A number that the gateway does not know is absent. */
  readonly context?: number;
  readonly input?: number;
  readonly output?: number;
  /** The gateway knows that the model takes images. */
  readonly images?: true;
  /** The models in the form that Codex reads. */
  readonly codexModels?: readonly unknown[];
}

export interface ConfigFile {
  /** Below the home folder of the user. */
  readonly path: string;
  readonly text: string;
}

export interface AgentConfig {
  readonly name: string;
  readonly command: string;
  readonly files: (place: AgentGateway) => readonly ConfigFile[];
  /** Environment variables; `$NAME` stands for the value of another one. */
  readonly env: (place: AgentGateway) => Readonly<Record<string, string>>;
}

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

/** A TOML basic string. TOML has the escapes of JSON. */
const toml = (value: string): string => JSON.stringify(value);

const CODEX_MODELS = 'gatehouse-models.json';

const codex: AgentConfig = {
  name: 'codex',
  command: 'codex',
  files: ({ url, keyEnv, model, facts }) => [
    {
      path: '.codex/config.toml',
      text: [
        `model = ${toml(model)}`,
        'model_provider = "gatehouse"',
        // Codex resolves the name from the folder of this file.
        ...(facts?.codexModels ? [`model_catalog_json = ${toml(CODEX_MODELS)}`] : []),
        '',
        '[model_providers.gatehouse]',
        'name = "Gatehouse"',
        `base_url = ${toml(`${url}/v1`)}`,
        `env_key = ${toml(keyEnv)}`,
        'wire_api = "responses"',
        '',
      ].join('\n'),
    },
    ...(facts?.codexModels ? [{ path: `.codex/${CODEX_MODELS}`, text: json({ models: facts.codexModels }) }] : []),
  ],
  env: () => ({}),
};

const claude: AgentConfig = {
  name: 'claude',
  command: 'claude',
  files: () => [],
  env: ({ url, keyEnv, model, facts }) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_AUTH_TOKEN: `$${keyEnv}`,
    ANTHROPIC_MODEL: model,
    // Claude Code writes titles and summaries with this model. Without the variable it requests a model of Anthropic by name.
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
    ...(facts?.input !== undefined && { CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(facts.input) }),
  }),
};

/** Tasks for which Gemini CLI requests built-in models (`DEFAULT_MODEL_CONFIGS` in the source of 0.61.0). */
const GEMINI_SIDE_TASKS = [
  'chat-compression-default',
  'gemini-3-flash-base',
  'loop-detection-double-check',
  'edit-corrector',
  'summarizer-default',
  'summarizer-shell',
  'classifier',
  'agent-history-provider-summarizer',
];

/** The context that Gemini CLI assumes for every name, in tokens (`tokenLimit` in the source of 0.61.0). */
const GEMINI_CONTEXT = 1_048_576;

/** Gemini CLI compresses a conversation at half of that context. This threshold is half of the input of the model. */
function compressionOf({ input }: PlaceFacts = {}): object {
  if (input === undefined || input >= GEMINI_CONTEXT) return {};
  return { model: { compressionThreshold: Math.max(0.001, Math.floor((input / GEMINI_CONTEXT) * 500) / 1000) } };
}

const gemini: AgentConfig = {
  name: 'gemini',
  command: 'gemini',
  files: ({ model, facts }) => [
    {
      path: '.gemini/settings.json',
      text: json({
        security: { auth: { selectedType: 'gemini-api-key' } },
        ...compressionOf(facts),
        modelConfigs: {
          customOverrides: GEMINI_SIDE_TASKS.map((task) => ({ match: { model: task }, modelConfig: { model } })),
        },
      }),
    },
  ],
  env: ({ url, keyEnv, model }) => ({
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_API_KEY: `$${keyEnv}`,
    GEMINI_MODEL: model,
  }),
};

/** opencode refuses a limit without context and output, and counts with the input if the input is less than the context. */
function limitOf({ context, input, output }: PlaceFacts = {}): object {
  if (context === undefined || output === undefined) return {};
  return { limit: { context, ...(input !== undefined && input < context && { input }), output } };
}

/** Without these fields opencode puts an error message in the place of an image. */
export const TAKES_IMAGES = { attachment: true, modalities: { input: ['text', 'image'], output: ['text'] } };

const opencode: AgentConfig = {
  name: 'opencode',
  command: 'opencode',
  files: ({ url, keyEnv, model, facts }) => [
    {
      path: '.config/opencode/opencode.json',
      text: json({
        $schema: 'https://opencode.ai/config.json',
        provider: {
          gatehouse: {
            npm: '@ai-sdk/anthropic',
            options: { baseURL: `${url}/v1`, apiKey: `{env:${keyEnv}}` },
            models: { [model]: { ...limitOf(facts), ...(facts?.images && TAKES_IMAGES) } },
          },
        },
        model: `gatehouse/${model}`,
        small_model: `gatehouse/${model}`,
      }),
    },
  ],
  env: () => ({}),
};

export const AGENT_CONFIGS: readonly AgentConfig[] = [codex, claude, gemini, opencode];
