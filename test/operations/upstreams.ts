import type { ModelTask } from '../../src/plugin/index.ts';
import type { ProviderName } from '../../src/core/providers/provider.ts';

/** A kind of upstream as README names it: the provider it belongs to, its entry, and a model for each task it is asked. */
export interface UpstreamKind {
  readonly title: string;
  readonly provider: ProviderName;
  readonly slug: string;
  readonly models: Readonly<Partial<Record<ModelTask, string>>> & { readonly generate: string };
  /** A model that thinks, where the usual one does not. */
  readonly thinking?: string;
}

export const UPSTREAMS: readonly UpstreamKind[] = [
  {
    title: 'Google’s own models on Vertex AI',
    provider: 'vertex-ai',
    slug: 'vertex',
    models: { generate: 'gemini-2.5-flash', embeddings: 'text-embedding-005', images: 'imagen-4.0-generate-001' },
  },
  {
    title: 'Claude on Vertex AI',
    provider: 'vertex-ai',
    slug: 'vertex',
    models: { generate: 'anthropic.claude-sonnet-4-5@20250929' },
  },
  {
    title: 'Llama and other open models on Vertex AI',
    provider: 'vertex-ai',
    slug: 'vertex',
    models: { generate: 'meta.llama-4-maverick-17b-128e-instruct-maas' },
    thinking: 'openai/gpt-oss-120b-maas',
  },
  {
    title: 'Mistral on Vertex AI',
    provider: 'vertex-ai',
    slug: 'vertex',
    models: { generate: 'mistralai.mistral-small-2603' },
  },
  {
    title: 'Self-deployed on Vertex AI (`endpoints.`)',
    provider: 'vertex-ai',
    slug: 'vertex',
    models: { generate: 'endpoints.1234567890' },
  },
  {
    title: 'Google AI Studio',
    provider: 'google-ai-studio',
    slug: 'studio',
    models: { generate: 'gemini-2.5-flash', embeddings: 'gemini-embedding-001', images: 'imagen-4.0-generate-001' },
  },
  { title: 'Anthropic', provider: 'anthropic', slug: 'anthropic', models: { generate: 'claude-sonnet-4-5-20250929' } },
  {
    title: 'OpenAI and servers compatible with it',
    provider: 'openai',
    slug: 'openai',
    models: { generate: 'gpt-5-mini', embeddings: 'text-embedding-3-small', images: 'gpt-image-1' },
  },
  {
    title: 'Azure OpenAI',
    provider: 'azure-openai',
    slug: 'azure',
    models: { generate: 'gpt-5-mini', embeddings: 'text-embedding-3-small', images: 'gpt-image-1' },
  },
];

/** Catalog entries of all of them, served by one scripted upstream. */
export function catalogFor(url: string): object {
  const at = { base_url: url, allow_insecure: true };
  const api_key = '${env:NONE:-upstream-key}';
  return {
    providers: [
      { slug: 'vertex', provider: 'vertex-ai', project_id: 'test-project', region: 'us-central1', ...at },
      { slug: 'studio', provider: 'google-ai-studio', api_key, ...at },
      { slug: 'anthropic', provider: 'anthropic', api_key, ...at },
      { slug: 'openai', provider: 'openai', api_key, ...at, base_url: `${url}/v1` },
      { slug: 'azure', provider: 'azure-openai', api_key, ...at },
    ],
  };
}
