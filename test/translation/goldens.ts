/** One file for each case: the request, and what of it leaves for each model. `node test/translation/write-goldens.ts` writes them. */
import { join } from 'node:path';
import type { WholeCase } from './cases/index.ts';
import { isRefused, send, type Family, type Json } from './outbound.ts';

export type Golden =
  | {
      readonly body: Json;
      /** Only what the request put there. */
      readonly headers?: Readonly<Record<string, string>>;
      readonly losses?: readonly string[];
    }
  | { readonly refused: { readonly code: string; readonly param: string | null } };

export interface GoldenFile {
  readonly title: string;
  readonly strict?: false;
  readonly request: Json;
  readonly gemini: Readonly<Record<string, Golden>>;
  readonly claude: Readonly<Record<string, Golden>>;
}

export const goldenPath = ({ id }: WholeCase): string => join(import.meta.dirname, 'goldens', `${id}.json`);

export async function translate(one: WholeCase): Promise<GoldenFile> {
  const { title, request, gemini, claude, strict } = one;
  return {
    title,
    ...(!strict && { strict }),
    request,
    gemini: await forModels('vertex', gemini, one),
    claude: await forModels('anthropic', claude, one),
  };
}

async function forModels(family: Family, models: readonly string[], one: WholeCase): Promise<Record<string, Golden>> {
  const entries = models.map(async (model) => [model, await translateFor(family, model, one)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

export async function translateFor(family: Family, model: string, { request, strict }: WholeCase): Promise<Golden> {
  const sent = await send(family, { model, ...request }, strict);
  if (isRefused(sent)) return sent;
  const losses = sent.losses.map(({ action, param }) => `${action} ${param}`);
  const { 'content-type': _, ...headers } = sent.headers;
  return {
    body: sent.body,
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(losses.length > 0 && { losses }),
  };
}
