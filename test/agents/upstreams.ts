import { API, type Api } from './apis.ts';
import { serviceAccountJson } from '../../src/core/providers/setup.testkit.ts';
import { KEYS } from '../clients/upstream/strict-upstream.ts';

/** The columns of the tables: each kind of upstream, with an alias for its model. */
export interface UpstreamKind {
  readonly name: string;
  readonly title: string;
  /** `@slug/model`. */
  readonly target: string;
  /** The API of the gateway whose requests reach it untranslated. */
  readonly api: Api;
  readonly thoughts: Thoughts;
}

/**
 * `always`: the model thinks unasked and signs its calls, shown thoughts or not. `signed`: it thinks if asked, and the vendor
 * wants the thoughts back with their signatures. `plain`: it thinks if asked. `none`: it does not think.
 */
export type Thoughts = 'always' | 'signed' | 'plain' | 'none';

export const UPSTREAMS: readonly UpstreamKind[] = [
  {
    name: 'gemini',
    title: 'Gemini on Vertex AI',
    target: '@vertex/gemini-3-flash-preview',
    api: API.generate,
    thoughts: 'always',
  },
  {
    name: 'claude-vertex',
    title: 'Claude on Vertex AI',
    target: '@vertex/anthropic.claude-sonnet-4-5@20250929',
    api: API.messages,
    thoughts: 'signed',
  },
  { name: 'claude', title: 'Claude', target: '@claude/claude-opus-5', api: API.messages, thoughts: 'signed' },
  { name: 'openai-chat', title: 'OpenAI-compatible', target: '@own/own-model', api: API.chat, thoughts: 'plain' },
  {
    name: 'openai',
    title: 'OpenAI (Responses)',
    target: '@openai/gpt-5.5',
    api: API.responses,
    thoughts: 'signed',
  },
  {
    name: 'llama',
    title: 'Llama on Vertex AI',
    target: '@vertex/meta.llama-4-scout-17b-16e-instruct-maas',
    api: API.chat,
    thoughts: 'none',
  },
];

export const aliasOf = ({ name }: UpstreamKind): string => `gw-${name}`;

/** The same model, with a context that is soon full. */
export const smallOf = (kind: UpstreamKind): string => `${aliasOf(kind)}-small`;
export const SMALL_CONTEXT = 100_000;

/** Models that Codex knows. */
export const CODEX_MODELS = ['gpt-5.5', 'gpt-5.6-sol'] as const;

/** Codex takes a name behind one slash for the name: an alias for each upstream. */
export const codexAliasOf = (kind: UpstreamKind, name: (typeof CODEX_MODELS)[number]): string =>
  kind.name === 'openai' ? name : `${kind.name.replaceAll('-', '_')}/${name}`;

/** The gateway does not know the efforts of a model of one's own. */
const targetOf = ({ target, thoughts }: UpstreamKind) => ({
  target,
  ...(thoughts === 'plain' && { efforts: ['medium', 'low', 'high'] }),
});

/** The settings of a gateway before one strict upstream that plays all of them. */
export function settingsFor(url: string) {
  const common = { base_url: url, allow_insecure: true };
  const tokens = `${url}/token`;
  return {
    settings: {
      server: { egress: { token_uris: [tokens] } },
      catalog: {
        providers: [
          { slug: 'own', provider: 'openai', ...common, base_url: `${url}/v1`, api_key: '${env:OWN_KEY}' },
          {
            slug: 'openai',
            provider: 'openai',
            ...common,
            base_url: `${url}/v1`,
            api: 'responses',
            api_key: '${env:OWN_KEY}',
          },
          { slug: 'claude', provider: 'anthropic', ...common, api_key: '${env:CLAUDE_KEY}' },
          {
            slug: 'vertex',
            provider: 'vertex-ai',
            ...common,
            region: 'us-central1',
            service_account: '${env:SERVICE_ACCOUNT}',
          },
        ],
        aliases: {
          ...Object.fromEntries(UPSTREAMS.map((kind) => [aliasOf(kind), targetOf(kind)])),
          ...Object.fromEntries(
            UPSTREAMS.map((kind) => [smallOf(kind), { ...targetOf(kind), context: SMALL_CONTEXT, max_output: 8000 }]),
          ),
          ...Object.fromEntries(
            CODEX_MODELS.flatMap((name) =>
              UPSTREAMS.map((kind) => [
                codexAliasOf(kind, name),
                kind.name === 'openai' ? { target: `@openai/${name}` } : targetOf(kind),
              ]),
            ),
          ),
        },
      },
    },
    env: {
      OWN_KEY: KEYS.openai,
      CLAUDE_KEY: KEYS.anthropic,
      SERVICE_ACCOUNT: serviceAccountJson({ token_uri: tokens }),
    },
  };
}
