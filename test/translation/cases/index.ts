import type { Json } from '../outbound.ts';
import { cacheControl } from './cache-control.ts';
import { hi, type Case, type Cases } from './case.ts';
import { extensions } from './extensions.ts';
import { media } from './media.ts';
import { messages } from './messages.ts';
import { reasoning } from './reasoning.ts';
import { responseFormat } from './response-format.ts';
import { sampling } from './sampling.ts';
import { schemas } from './schemas.ts';
import { signatures } from './signatures.ts';
import { tools } from './tools.ts';

const SUBJECTS: Readonly<Record<string, Cases>> = {
  messages,
  media,
  tools,
  schemas,
  sampling,
  'response-format': responseFormat,
  reasoning,
  signatures,
  'cache-control': cacheControl,
  extensions,
};

export interface WholeCase extends Required<Case> {
  /** `messages/bare-question` */
  readonly id: string;
  /** All but the model. */
  readonly request: Json;
}

export const CASES: readonly WholeCase[] = Object.entries(SUBJECTS).flatMap(([subject, cases]) =>
  Object.entries(cases).map(([name, one]) => ({
    id: `${subject}/${name}`,
    title: one.title,
    request: { messages: [hi], max_tokens: 4096, ...one.request },
    gemini: one.gemini ?? ['gemini-2.5-flash'],
    claude: one.claude ?? ['claude-sonnet-4-5'],
    strict: one.strict ?? true,
  })),
);
