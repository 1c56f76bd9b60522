/** One file for each case: the request, and what of it leaves for each model. `node test/translation/write-goldens.ts` writes them. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UPSTREAM_NAMES, UPSTREAMS, type UpstreamName } from './cases/case.ts';
import type { WholeCase } from './cases/index.ts';
import { isRefused, send, type Client, type Family, type Json } from './outbound.ts';

export type Golden =
  | {
      readonly body: Json;
      /** Only what the request put there. */
      readonly headers?: Readonly<Record<string, string>>;
      readonly losses?: readonly string[];
    }
  | { readonly refused: { readonly code: string; readonly param: string | null } };

/** Upstreams the case says nothing of are not there. */
export interface GoldenFile extends Partial<Readonly<Record<UpstreamName, Readonly<Record<string, Golden>>>>> {
  readonly title: string;
  readonly client?: Client;
  readonly strict?: false;
  readonly strictParams?: true;
  readonly request: Json;
}

export const goldenPath = ({ id }: WholeCase): string => join(import.meta.dirname, 'goldens', `${id}.json`);

/** Undefined where it was never written. */
export const readGolden = (one: WholeCase): GoldenFile | undefined =>
  existsSync(goldenPath(one)) ? (JSON.parse(readFileSync(goldenPath(one), 'utf8')) as GoldenFile) : undefined;

export async function translate(one: WholeCase): Promise<GoldenFile> {
  const { title, client, request, models, strict, strictParams } = one;
  const asked = UPSTREAM_NAMES.filter((upstream) => models[upstream].length > 0);
  const reported = asked.map(async (upstream) => [upstream, await forModels(upstream, one)] as const);
  return {
    title,
    ...(client !== 'chat' && { client }),
    ...(!strict && { strict }),
    ...(strictParams && { strictParams }),
    request,
    ...Object.fromEntries(await Promise.all(reported)),
  };
}

async function forModels(upstream: UpstreamName, one: WholeCase): Promise<Record<string, Golden>> {
  const family = UPSTREAMS[upstream];
  const entries = one.models[upstream].map(async (model) => [model, await translateFor(family, model, one)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

export async function translateFor(family: Family, model: string, one: WholeCase): Promise<Golden> {
  const sent = await send(family, { model, ...one.request }, one);
  if (isRefused(sent)) return sent;
  const losses = sent.losses.map(({ action, param }) => `${action} ${param}`);
  const { 'content-type': _, ...headers } = sent.headers;
  return {
    body: sent.body,
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(losses.length > 0 && { losses }),
  };
}
