export interface Vendor {
  readonly provider: 'openai' | 'anthropic' | 'vertex-ai' | 'google-ai-studio' | 'azure-openai';
  /** Default `base_url` of a vendor with OpenAI's API. */
  readonly baseUrl?: string;
  /** The vendor's own host, and the end of the names of its other ones. Default: that of `baseUrl`. */
  readonly home?: string;
  readonly needsBase?: boolean;
  readonly variable: string;
}

const own = (variable: string): Vendor => ({ provider: 'openai', needsBase: true, variable });

/** All names of each vendor. A slug that begins with one of them is taken for that vendor's: the first one counts. */
const ROWS: readonly (readonly [names: string, vendor: Vendor])[] = [
  ['openai text-completion-openai', { provider: 'openai', home: 'api.openai.com', variable: 'OPENAI_API_KEY' }],
  ['openai_like', own('OPENAI_LIKE_API_KEY')],
  ['anthropic', { provider: 'anthropic', home: 'api.anthropic.com', variable: 'ANTHROPIC_API_KEY' }],
  [
    'vertex_ai vertex-ai vertex_ai_beta',
    { provider: 'vertex-ai', home: 'aiplatform.googleapis.com', variable: 'VERTEX_SERVICE_ACCOUNT' },
  ],
  [
    'gemini google',
    { provider: 'google-ai-studio', home: 'generativelanguage.googleapis.com', variable: 'GEMINI_API_KEY' },
  ],
  ['azure azure-openai', { provider: 'azure-openai', needsBase: true, variable: 'AZURE_OPENAI_API_KEY' }],
  ['hosted_vllm vllm', own('HOSTED_VLLM_API_KEY')],
  ['lm_studio', own('LM_STUDIO_API_KEY')],
];

const COMPATIBLE: readonly (readonly [names: string, variable: string, baseUrl: string])[] = [
  ['groq', 'GROQ_API_KEY', 'https://api.groq.com/openai/v1'],
  ['mistral mistral-ai', 'MISTRAL_API_KEY', 'https://api.mistral.ai/v1'],
  ['deepseek', 'DEEPSEEK_API_KEY', 'https://api.deepseek.com/v1'],
  ['together_ai together-ai', 'TOGETHERAI_API_KEY', 'https://api.together.xyz/v1'],
  ['fireworks_ai fireworks-ai', 'FIREWORKS_AI_API_KEY', 'https://api.fireworks.ai/inference/v1'],
  ['openrouter', 'OPENROUTER_API_KEY', 'https://openrouter.ai/api/v1'],
  ['xai x-ai', 'XAI_API_KEY', 'https://api.x.ai/v1'],
  ['cerebras', 'CEREBRAS_API_KEY', 'https://api.cerebras.ai/v1'],
  ['nvidia_nim', 'NVIDIA_NIM_API_KEY', 'https://integrate.api.nvidia.com/v1'],
  ['ollama ollama_chat', 'OLLAMA_API_KEY', 'http://127.0.0.1:11434/v1'],
];

export const VENDORS: ReadonlyMap<string, Vendor> = new Map(
  [
    ...ROWS,
    ...COMPATIBLE.map(([names, variable, baseUrl]): (typeof ROWS)[number] => [
      names,
      { provider: 'openai', baseUrl, home: new URL(baseUrl).host, variable },
    ]),
  ].flatMap(([names, vendor]) => names.split(' ').map((name): [string, Vendor] => [name, vendor])),
);

/** Vendors whose own API is not OpenAI's, whatever the address. */
const OTHER_APIS =
  /^(?:bedrock|sagemaker|aws|cohere|replicate|huggingface|watsonx|palm|nlp_cloud|aleph_alpha|triton|oci|snowflake|clarifai|stability|voyage|jina)/;

/** A vendor that is not listed is a server of one's own, if the file names its address. Undefined: it cannot be called. */
export function vendorAt(name: string, address: string | undefined): Vendor | undefined {
  const listed = VENDORS.get(name);
  if (listed) return listed;
  return address === undefined || OTHER_APIS.test(name) ? undefined : own('API_KEY');
}

/** True where the address is the vendor's own: its key may go there. Hosts of Vertex AI begin with a region and a hyphen. */
export const isHome = ({ provider, home, baseUrl = 'https:' }: Vendor, { host, protocol }: URL): boolean =>
  home !== undefined &&
  baseUrl.startsWith(protocol) &&
  (host === home || host.endsWith(`.${home}`) || (provider === 'vertex-ai' && host.endsWith(`-${home}`)));

export const noVendor = (name: string): string =>
  `Gatehouse has no provider ${name}: only Vertex AI, Google AI Studio, Anthropic, OpenAI, Azure OpenAI and servers with OpenAI's API. Does it have that API, and at which address?`;

/** The publisher before a dot, as docs/providers/vertex-ai.md has it; Google's own models have none, other open ones a slash. */
export function vertexModel(model: string): string {
  if (/^\d+$/.test(model)) return `endpoints.${model}`;
  const [publisher, rest] = /^(meta|mistralai|anthropic)\/(.+)$/.exec(model)?.slice(1) ?? [];
  if (rest !== undefined) return `${publisher}.${rest}`;
  if (model.startsWith('claude-')) return `anthropic.${model}`;
  return /^(?:mistral|codestral|ministral)/.test(model) ? `mistralai.${model}` : model;
}
