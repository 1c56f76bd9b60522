/** What the AI SDK's providers send: their real code, with a recorder where the network would be. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createVertex } from '@ai-sdk/google-vertex';
import type { Json } from './outbound.ts';
import { toCall, type Asked } from './sdk-call.ts';
import { Unspoken, type Family } from './sdk-words.ts';

export type Recorded = { readonly body: Json } | { readonly refused: string } | { readonly unspoken: string };

export async function record(family: Family, model: string, asked: Asked): Promise<Recorded> {
  let body: Json | undefined;
  const fetch = (_url: unknown, init?: { body?: unknown }): Promise<Response> => {
    body = JSON.parse(String(init?.body)) as Json;
    // An answer no provider can read: what was to be seen has been seen.
    return Promise.resolve(new Response('{}', { status: 400, headers: { 'content-type': 'application/json' } }));
  };
  try {
    const call = toCall(asked, family, model);
    const language =
      family === 'gemini'
        ? createVertex({ apiKey: 'none', fetch }).languageModel(model)
        : createAnthropic({ apiKey: 'none', fetch }).languageModel(model);
    await (asked.request['stream'] === true ? language.doStream(call) : language.doGenerate(call));
  } catch (error) {
    if (error instanceof Unspoken) return { unspoken: error.message };
    if (!body) return { refused: error instanceof Error ? error.message : String(error) };
  }
  if (!body) throw new Error('the SDK sent nothing and did not say why');
  return { body };
}
