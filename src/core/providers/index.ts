import { anthropic } from './anthropic/index.ts';
import type { Provider } from './definition.ts';
import { googleAiStudio } from './google-ai-studio/index.ts';
import { azureOpenAi } from './openai/azure.ts';
import { openai } from './openai/index.ts';
import type { ProviderName } from './provider.ts';
import { vertexAi } from './vertex-ai/index.ts';

/** The providers by name. CONTRIBUTING.md has the steps to add one. */
const table = new Map<string, Provider>(
  [vertexAi, anthropic, googleAiStudio, openai, azureOpenAi].map((provider) => [provider.name, provider]),
);

/** The names of all providers: those of the core, then those of the add-ons. */
export const providerNames = (): readonly string[] => [...table.keys()];

/** The schema of the catalog has checked the name of each entry. */
export const providerOf = ({ provider }: { readonly provider: ProviderName }): Provider => table.get(provider)!;

/** Called while an add-on is registered, before any catalog is compiled. */
export function addProviders(providers: readonly Provider[]): void {
  for (const provider of providers) table.set(provider.name, provider);
}

export const isProviderName = (name: string): name is ProviderName => table.has(name);
