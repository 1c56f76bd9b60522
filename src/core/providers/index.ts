import { anthropic } from './anthropic/index.ts';
import type { Provider } from './definition.ts';
import { googleAiStudio } from './google-ai-studio/index.ts';
import { azureOpenAi } from './openai/azure.ts';
import { openai } from './openai/index.ts';
import type { ProviderName } from './provider.ts';
import { simulator } from '../../addons/simulator/index.ts';
import { vertexAi } from './vertex-ai/index.ts';

/** Every provider. CONTRIBUTING.md has the steps to add one. */
export const PROVIDERS: Readonly<Record<ProviderName, Provider>> = {
  'vertex-ai': vertexAi,
  anthropic,
  'google-ai-studio': googleAiStudio,
  openai,
  'azure-openai': azureOpenAi,
  simulator,
};

export function isProviderName(name: string): name is ProviderName {
  return Object.hasOwn(PROVIDERS, name);
}
