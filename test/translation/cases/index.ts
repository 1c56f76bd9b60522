import type { Client, Json } from '../outbound.ts';
import { anthropicBlocks } from './anthropic-blocks.ts';
import { anthropicFields } from './anthropic-fields.ts';
import { anthropicReasoning } from './anthropic-reasoning.ts';
import { anthropicRounds } from './anthropic-rounds.ts';
import { anthropicTools } from './anthropic-tools.ts';
import { anthropicTurns } from './anthropic-turns.ts';
import { cacheControl } from './cache-control.ts';
import { hi, type Case, type Cases, type Models, type Subject, type UpstreamName } from './case.ts';
import { extensions } from './extensions.ts';
import { hosted } from './hosted.ts';
import { media } from './media.ts';
import { messages } from './messages.ts';
import { reasoning } from './reasoning.ts';
import { responseFormat } from './response-format.ts';
import { sampling } from './sampling.ts';
import { schemas } from './schemas.ts';
import { signatures } from './signatures.ts';
import { tools } from './tools.ts';

/** Without a word of the case's own: one model of the middle generation. */
const chat = (
  cases: Cases,
  models: Models = { gemini: ['gemini-2.5-flash'], claude: ['claude-sonnet-4-5'] },
): Subject => ({
  client: 'chat',
  models,
  cases,
});
const anthropic = (cases: Cases): Subject => ({
  client: 'messages',
  models: { gemini: ['gemini-2.5-flash'], openai: ['gpt-5'] },
  cases,
});

const SUBJECTS: Readonly<Record<string, Subject>> = {
  messages: chat(messages),
  media: chat(media),
  tools: chat(tools),
  schemas: chat(schemas),
  sampling: chat(sampling),
  'response-format': chat(responseFormat),
  reasoning: chat(reasoning),
  signatures: chat(signatures),
  'cache-control': chat(cacheControl),
  extensions: chat(extensions),
  hosted: chat(hosted, { claudeOnVertex: ['anthropic.claude-sonnet-4-5@20250929'] }),
  'anthropic-turns': anthropic(anthropicTurns),
  'anthropic-rounds': anthropic(anthropicRounds),
  'anthropic-blocks': anthropic(anthropicBlocks),
  'anthropic-tools': anthropic(anthropicTools),
  'anthropic-reasoning': anthropic(anthropicReasoning),
  'anthropic-fields': anthropic(anthropicFields),
};

export interface WholeCase extends Required<Omit<Case, UpstreamName>> {
  /** `messages/bare-question` */
  readonly id: string;
  readonly client: Client;
  /** All but the model. */
  readonly request: Json;
  /** Every upstream, in one order; without models it is none of the case's. */
  readonly models: Readonly<Record<UpstreamName, readonly string[]>>;
}

export const CASES: readonly WholeCase[] = Object.entries(SUBJECTS).flatMap(([subject, { client, models, cases }]) =>
  Object.entries(cases).map(([name, one]) => ({
    id: `${subject}/${name}`,
    client,
    title: one.title,
    request: { messages: [hi], max_tokens: 4096, ...one.request },
    models: modelsOf(one, models),
    strict: one.strict ?? true,
    strictParams: one.strictParams ?? false,
  })),
);

function modelsOf(one: Case, otherwise: Models): WholeCase['models'] {
  const of = (upstream: UpstreamName) => one[upstream] ?? otherwise[upstream] ?? [];
  return {
    gemini: of('gemini'),
    claude: of('claude'),
    claudeOnVertex: of('claudeOnVertex'),
    llama: of('llama'),
    openai: of('openai'),
  };
}
