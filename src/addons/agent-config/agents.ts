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
  /** Origin of the gateway, without a slash at the end. */
  readonly url: string;
  /** Environment variable that holds the gateway key. */
  readonly keyEnv: string;
  /** Alias, or `@slug/model`. */
  readonly model: string;
  /** Absent if the gateway did not answer, or refused the key. */
  readonly facts?: PlaceFacts;
}

/** Facts of the gateway about the model. */
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

/** A TOML basic string. TOML has the escapes of JSON. */
const toml = (value: string): string => JSON.stringify(value);

const CODEX_MODELS = 'gatehouse-models.json';

const codex: AgentConfig = {
  name: 'codex',
  title: 'Codex CLI',
  package: '@openai/codex',
  command: 'codex',
  api: API.responses,
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
  notes: [
    `With an API key Codex does not request a list of models. When the gateway answers, \`agent-config\` writes the list of the gateway to \`~/.codex/${CODEX_MODELS}\` and names this file in \`model_catalog_json\`: the picker of Codex then shows the models of the gateway, with their context windows and efforts.`,
    `\`${CODEX_MODELS}\` replaces the list that is built into Codex. Leave \`model_catalog_json\` out for an alias with a name in the built-in list, such as \`gpt-5.5\` or \`team/gpt-5.5\`: Codex then uses the instructions and tools of that model, with any upstream.`,
    `Codex requests the thoughts of a model that has efforts in \`${CODEX_MODELS}\`. For a model that the gateway does not know, \`efforts\` of the alias names the efforts.`,
    `Without \`${CODEX_MODELS}\` Codex warns about a name outside the built-in list, and gives the model general tools; set \`model_reasoning_effort = "high"\` for a model that thinks.`,
    'Codex compacts a long conversation with a prompt of its own. With `name = "OpenAI"` in place of `name = "Gatehouse"` Codex requests the compaction from the gateway: a model of OpenAI compacts natively, and any other model writes a summary.',
    'The web search of Codex reads only pages that OpenAI has cached, so a model of another vendor gets no search. With `web_search = "live"` in `config.toml` it gets its own.',
  ],
};

const claude: AgentConfig = {
  name: 'claude',
  title: 'Claude Code',
  package: '@anthropic-ai/claude-code',
  command: 'claude',
  api: API.messages,
  files: () => [],
  env: ({ url, keyEnv, model, facts }) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_AUTH_TOKEN: `$${keyEnv}`,
    ANTHROPIC_MODEL: model,
    // Claude Code writes titles and summaries with this model. Without the variable it requests a model of Anthropic by name.
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
    ...(facts?.input !== undefined && { CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(facts.input) }),
  }),
  notes: [
    'Claude Code assumes a context of 1 million tokens for a name outside its built-in list. `agent-config` sets `CLAUDE_CODE_MAX_CONTEXT_TOKENS` to the input that the gateway names for the model.',
    'With `CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY=1` the model picker of Claude Code shows the models of the gateway whose names contain “claude” or “anthropic”.',
  ],
};

/**
 * Side tasks for which Gemini CLI requests built-in models: compression of conversations, searches in the web, corrections of edits,
 * detection of loops (`DEFAULT_MODEL_CONFIGS` in the source of 0.61.0).
 */
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
  title: 'Gemini CLI',
  package: '@google/gemini-cli',
  command: 'gemini',
  api: API.generate,
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
  notes: [
    'The picker of Gemini CLI, `/model`, shows built-in names of Gemini models, and does not request the list of the gateway (source of 0.61.0). Choose another model with `GEMINI_MODEL`, `--model`, or `/model set NAME`.',
    'For side tasks Gemini CLI requests built-in models: it compresses a long conversation with `gemini-3-pro-preview` and searches the web with `gemini-3-flash-preview`. `customOverrides` makes Gemini CLI use MODEL for these tasks.',
    'Gemini CLI assumes a context of 1,048,576 tokens for every name, and compresses a conversation at half of that. When the gateway answers, `agent-config` sets `compressionThreshold` for a model with a smaller context.',
  ],
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
  title: 'opencode',
  package: 'opencode-ai',
  command: 'opencode',
  api: API.messages,
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
  notes: [
    'These settings name the SDK of the Messages API, whose blocks of thinking keep the signatures of Gemini and of Claude. `@ai-sdk/openai` speaks the Responses API.',
    '`@ai-sdk/openai-compatible` speaks chat completions. A strict reply has no `extra_content.google.thought_signature`, which Gemini 3 wants back in loops of tools: `options` need `"headers": { "x-gateway-strict-open-ai-compliance": "false" }`, and the provider the name `google`, because this SDK returns the signatures under that name only. This SDK returns no signatures of Claude.',
    '`agent-config` takes the `limit` of the model from the gateway. Without a limit opencode does not compact a conversation, and the model refuses the conversation when it is too long.',
    'A model that takes images needs `"attachment": true` and `"modalities": { "input": ["text", "image"], "output": ["text"] }` beside `limit`: `agent-config` writes both for a model that the gateway knows. Without them opencode sends an error message in place of an image.',
    'Set `"reasoning": true` beside `limit` for a model that thinks, and choose a variant, such as `--variant high`: opencode then requests the thoughts of the model.',
  ],
};

export const AGENT_CONFIGS: readonly AgentConfig[] = [codex, claude, gemini, opencode];
