/** Vendors by the names that other gateways give them. */
export interface Vendor {
  readonly provider: 'openai' | 'anthropic' | 'vertex-ai' | 'google-ai-studio' | 'azure-openai';
  /** Default `base_url` of a vendor with OpenAI's API. */
  readonly baseUrl?: string;
  /** The vendor's own host, and the end of the names of its other ones. Default: that of `baseUrl`. */
  readonly home?: string;
  /** The file must have a base URL. */
  readonly needsBase?: boolean;
  readonly variable: string;
}

const compatible = (variable: string, baseUrl: string): Vendor => ({
  provider: 'openai',
  baseUrl,
  home: new URL(baseUrl).host,
  variable,
});
const ownServer = (variable: string): Vendor => ({ provider: 'openai', needsBase: true, variable });

const OPENAI: Vendor = { provider: 'openai', home: 'api.openai.com', variable: 'OPENAI_API_KEY' };
const ANTHROPIC: Vendor = { provider: 'anthropic', home: 'api.anthropic.com', variable: 'ANTHROPIC_API_KEY' };
const VERTEX: Vendor = {
  provider: 'vertex-ai',
  home: 'aiplatform.googleapis.com',
  variable: 'VERTEX_SERVICE_ACCOUNT',
};
const STUDIO: Vendor = {
  provider: 'google-ai-studio',
  home: 'generativelanguage.googleapis.com',
  variable: 'GEMINI_API_KEY',
};
const AZURE: Vendor = { provider: 'azure-openai', needsBase: true, variable: 'AZURE_OPENAI_API_KEY' };
const GROQ = compatible('GROQ_API_KEY', 'https://api.groq.com/openai/v1');
const MISTRAL = compatible('MISTRAL_API_KEY', 'https://api.mistral.ai/v1');
const DEEPSEEK = compatible('DEEPSEEK_API_KEY', 'https://api.deepseek.com/v1');
const TOGETHER = compatible('TOGETHERAI_API_KEY', 'https://api.together.xyz/v1');
const FIREWORKS = compatible('FIREWORKS_AI_API_KEY', 'https://api.fireworks.ai/inference/v1');
const OPENROUTER = compatible('OPENROUTER_API_KEY', 'https://openrouter.ai/api/v1');
const XAI = compatible('XAI_API_KEY', 'https://api.x.ai/v1');
const CEREBRAS = compatible('CEREBRAS_API_KEY', 'https://api.cerebras.ai/v1');
const NVIDIA = compatible('NVIDIA_NIM_API_KEY', 'https://integrate.api.nvidia.com/v1');
const OLLAMA = compatible('OLLAMA_API_KEY', 'http://127.0.0.1:11434/v1');
const VLLM = ownServer('HOSTED_VLLM_API_KEY');

export const VENDORS: ReadonlyMap<string, Vendor> = new Map([
  ['openai', OPENAI],
  ['text-completion-openai', OPENAI],
  ['openai_like', ownServer('OPENAI_LIKE_API_KEY')],
  ['anthropic', ANTHROPIC],
  ['vertex_ai', VERTEX],
  ['vertex-ai', VERTEX],
  ['vertex_ai_beta', VERTEX],
  ['gemini', STUDIO],
  ['google', STUDIO],
  ['azure', AZURE],
  ['azure-openai', AZURE],
  ['groq', GROQ],
  ['mistral', MISTRAL],
  ['mistral-ai', MISTRAL],
  ['deepseek', DEEPSEEK],
  ['together_ai', TOGETHER],
  ['together-ai', TOGETHER],
  ['fireworks_ai', FIREWORKS],
  ['fireworks-ai', FIREWORKS],
  ['openrouter', OPENROUTER],
  ['xai', XAI],
  ['x-ai', XAI],
  ['cerebras', CEREBRAS],
  ['nvidia_nim', NVIDIA],
  ['ollama', OLLAMA],
  ['ollama_chat', OLLAMA],
  ['hosted_vllm', VLLM],
  ['vllm', VLLM],
  ['lm_studio', ownServer('LM_STUDIO_API_KEY')],
]);

/** Vendors whose own API is not OpenAI's, whatever the address. */
const OTHER_APIS =
  /^(?:bedrock|sagemaker|aws|cohere|replicate|huggingface|watsonx|palm|nlp_cloud|aleph_alpha|triton|oci|snowflake|clarifai|stability|voyage|jina)/;

/** A vendor that is not listed is a server of one's own, if the file names its address. Undefined: it cannot be called. */
export function vendorAt(name: string, address: string | undefined): Vendor | undefined {
  const listed = VENDORS.get(name);
  if (listed) return listed;
  return address === undefined || OTHER_APIS.test(name) ? undefined : ownServer('API_KEY');
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
