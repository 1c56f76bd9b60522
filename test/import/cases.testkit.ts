import type { KINDS } from '../../src/addons/import/import.ts';

/** Files of other gateways in litellm/ and portkey/, each with a golden of the folder and the report that it becomes. */
export interface Case {
  readonly kind: keyof typeof KINDS;
  /** Of the golden. */
  readonly name: string;
  readonly files: readonly string[];
  /** The id of the caller's key. Default: the first one. */
  readonly key?: string;
  /** Requests for a model, or with a config (`config NAME`), and each host and model that they may be sent to, in order. */
  readonly goes?: Readonly<Record<string, readonly string[]>>;
}

export const CASES: readonly Case[] = [
  {
    kind: 'litellm',
    name: 'config',
    files: ['config.yaml'],
    goes: { 'openai/gpt-5': ['api.openai.com gpt-5'], 'qwen-lab': ['variable.example Qwen/Qwen3-32B'] },
  },
  {
    kind: 'litellm',
    name: 'config-keys-teams',
    files: ['config.yaml', 'keys.json', 'teams.json'],
    key: 'search-prod',
    goes: {
      'gpt-4o': [
        'example-eu.openai.azure.com gpt-4o-eu',
        'api.openai.com gpt-4o',
        'api.anthropic.com claude-sonnet-4-5',
        'generativelanguage.googleapis.com gemini-2.5-flash',
      ],
    },
  },
  { kind: 'portkey', name: 'configs', files: ['production.json', 'by-plan.json'] },
  { kind: 'portkey', name: 'lists', files: ['configs-and-providers.json', 'api-keys.json'] },
  {
    kind: 'litellm',
    name: 'azure',
    files: ['azure.yaml'],
    goes: {
      'desk-chat': ['variable.example gpt-4.1'],
      'desk-image': ['desk.openai.azure.com dall-e-3'],
      'desk-typo': ['generativelanguage.googleapis.com gemini-2.5-flash'],
    },
  },
  {
    kind: 'litellm',
    name: 'own-server',
    files: ['own-server.yaml'],
    goes: {
      'notes-embed': ['10.1.2.3:7997 bge-small'],
      'notes-chat': ['api.openai.com gpt-4.1', 'api.openai.com gpt-4.1'],
    },
  },
  {
    kind: 'litellm',
    name: 'slow-wild-cached',
    files: ['slow-wild-cached.yaml'],
    goes: { 'openai/gpt-5': ['api.openai.com gpt-5'] },
  },
  {
    kind: 'litellm',
    name: 'one-address',
    files: ['one-address.yaml', 'keys-guards.json'],
    key: 'desk',
    goes: {
      chat: ['all.example.com gpt-5'],
      desk: ['desk.example.com qwen'],
      claude: ['all.example.com claude-sonnet-4-5'],
    },
  },
  {
    kind: 'litellm',
    name: 'router-address',
    files: ['router-address.yaml'],
    goes: { chat: ['router.example.com gpt-5'] },
  },
  { kind: 'litellm', name: 'keys-page', files: ['keys-page.json'] },
  {
    kind: 'litellm',
    name: 'model-info',
    files: ['model-info.json'],
    goes: { 'desk-db': ['europe-west4-aiplatform.googleapis.com gemini-2.5-pro'] },
  },
  {
    kind: 'litellm',
    name: 'model-info-and-credentials',
    files: ['slow-wild-cached.yaml', 'model-info.json', 'credentials.json'],
    goes: {
      'desk-db': ['claude.desk.example claude-sonnet-4-5', 'europe-west4-aiplatform.googleapis.com gemini-2.5-pro'],
    },
  },
  {
    kind: 'litellm',
    name: 'credential-list',
    files: ['credential-list.yaml'],
    goes: {
      chat: ['api.openai.example gpt-4o'],
      summarize: ['api.openai.example gpt-4o-mini'],
      'own-key': ['api.openai.example gpt-4o'],
    },
  },
  { kind: 'litellm', name: 'variables', files: ['variables.yaml'], goes: { chat: ['variable.example gpt-4o'] } },
  {
    kind: 'litellm',
    name: 'hosts',
    files: ['hosts.yaml'],
    goes: {
      'no-key': ['llm.example.com qwen'],
      clear: ['api.openai.com gpt-5'],
      'same-clear': ['openai:8000 qwen'],
      'bare-host': ['openai qwen'],
      named: ['api.openai.com gpt-5'],
      europe: ['eu.api.openai.com gpt-5'],
      lookalike: ['api.openai.com.example.net gpt-5'],
      'claude-proxy': ['claude.example.com claude-sonnet-4-5'],
      'env-base': ['variable.example qwen'],
      'perplexity-at': ['api.perplexity.ai sonar'],
      'no-vendor-at': ['llm.example.com my-model'],
      'azure-old': ['old.openai.azure.com gpt-4o'],
      constructor: ['api.openai.com gpt-5'],
      'by-environment': ['groq.example.com llama'],
    },
  },
  {
    kind: 'litellm',
    name: 'wildcards',
    files: ['wildcards.yaml'],
    goes: {
      'gpt-5-nano': ['api.openai.com gpt-5-nano'],
      'anthropic/claude-opus-4-5': ['api.anthropic.com claude-opus-4-5'],
      'vertex_ai/gemini-2.5-pro': ['aiplatform.googleapis.com gemini-2.5-pro'],
      'vertex_ai/claude-opus-4-5': ['aiplatform.googleapis.com claude-opus-4-5'],
      drawn: [
        'api.openai.com gpt-5',
        'api.openai.com gpt-5',
        'api.anthropic.com claude-sonnet-4-5',
        'api.anthropic.com claude-sonnet-4-5',
      ],
      best: ['api.anthropic.com claude-opus-4-5'],
    },
  },
  {
    kind: 'portkey',
    name: 'slug-in-model',
    files: ['slug-in-model.json'],
    goes: { 'config slug-in-model': ['10.1.2.3:11434 any'] },
  },
  {
    kind: 'portkey',
    name: 'left-out',
    files: ['left-out.json'],
    goes: { 'config kept': ['api.openai.com gpt-5', 'green.example.com small'] },
  },
];
