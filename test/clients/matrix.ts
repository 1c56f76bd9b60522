import { serviceAccountJson } from '../../src/core/providers/setup.testkit.ts';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import type { ScriptedUpstream } from '../support/upstream.ts';
import { KEYS, startStrictUpstream } from './upstream/strict-upstream.ts';

/** One gateway in front of every kind of upstream, and what each of them is called there. */

export interface UpstreamKind {
  readonly name: string;
  readonly model: string;
  readonly wire: 'gemini' | 'anthropic' | 'openai';
}

export const UPSTREAMS: readonly UpstreamKind[] = [
  { name: 'Gemini 3', model: '@vertex/gemini-3-flash-preview', wire: 'gemini' },
  { name: 'Gemini 2.5', model: '@vertex/gemini-2.5-flash', wire: 'gemini' },
  { name: 'Claude', model: '@claude/claude-sonnet-4-5-20250929', wire: 'anthropic' },
  { name: 'Claude on Vertex AI', model: '@vertex/anthropic.claude-sonnet-4-5@20250929', wire: 'anthropic' },
  { name: 'gpt-oss on Vertex AI', model: '@vertex/openai/gpt-oss-120b-maas', wire: 'openai' },
  { name: 'an OpenAI-compatible server', model: '@own/own-model', wire: 'openai' },
];

export const EMBEDDERS = ['@vertex/text-embedding-005', '@vertex/gemini-embedding-2', '@own/text-embedding-3-small'];
export const PAINTERS = ['@vertex/imagen-4.0-generate-001', '@vertex/gemini-2.5-flash-image', '@own/dall-e-3'];

export interface Matrix {
  readonly gateway: TestGateway;
  readonly upstream: ScriptedUpstream;
  readonly baseUrl: string;
  readonly key: string;
  close(): Promise<void>;
}

export async function startMatrix(): Promise<Matrix> {
  const upstream = await startStrictUpstream();
  const common = { base_url: upstream.url, allow_insecure: true };
  const tokens = `${upstream.url}/token`;
  const gateway = await startTestGateway(
    {
      server: { header_prefixes: ['gateway', 'portkey'], egress: { token_uris: [tokens] } },
      catalog: {
        providers: [
          { slug: 'own', provider: 'openai', ...common, base_url: `${upstream.url}/v1`, api_key: '${env:OWN_KEY}' },
          { slug: 'claude', provider: 'anthropic', ...common, api_key: '${env:CLAUDE_KEY}' },
          {
            slug: 'vertex',
            provider: 'vertex-ai',
            ...common,
            region: 'us-central1',
            service_account: '${env:SERVICE_ACCOUNT}',
          },
        ],
      },
      gateway: {
        'to-llama': { provider: '@vertex', override_params: { model: 'meta.llama-4-scout-17b-16e-instruct-maas' } },
      },
    },
    {
      env: {
        OWN_KEY: KEYS.openai,
        CLAUDE_KEY: KEYS.anthropic,
        SERVICE_ACCOUNT: serviceAccountJson({ token_uri: tokens }),
      },
    },
  );
  return {
    gateway,
    upstream,
    baseUrl: gateway.url,
    key: KEY,
    async close() {
      await gateway.close();
      await upstream.close();
    },
  };
}
