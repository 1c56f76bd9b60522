/** What the AI SDK's providers send: their real code, with a recorder where the network would be. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createVertex } from '@ai-sdk/google-vertex';
import { createVertexAnthropic } from '@ai-sdk/google-vertex/anthropic/edge';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { Json } from './outbound.ts';
import { toCall, type Asked } from './sdk-call.ts';
import { toCallOfMessages } from './sdk-messages.ts';
import { Unspoken, type Family, type Model } from './sdk-words.ts';

export type Recorded = { readonly body: Json } | { readonly refused: string } | { readonly unspoken: string };

type Fetch = (url: unknown, init?: { body?: unknown }) => Promise<Response>;

/** The name of a model is the SDK's: without the gateway's prefix, as the upstream knows it. */
const PROVIDERS: Readonly<Record<Family, (model: string, fetch: Fetch) => Model>> = {
  gemini: (model, fetch) => createVertex({ apiKey: 'none', fetch }).languageModel(model),
  claude: (model, fetch) => createAnthropic({ apiKey: 'none', fetch }).languageModel(model),
  claudeOnVertex: (model, fetch) =>
    createVertexAnthropic({
      project: 'project',
      location: 'us-central1',
      generateAuthToken: () => Promise.resolve('none'),
      fetch,
    }).languageModel(model.replace('anthropic.', '')),
  llama: (model, fetch) =>
    createOpenAICompatible({ name: 'llama', baseURL: 'https://upstream.example', includeUsage: true, fetch }).chatModel(
      model.replace('meta.', 'meta/'),
    ),
  openai: (model, fetch) => createOpenAI({ apiKey: 'none', fetch }).chat(model),
};

export async function record(family: Family, model: string, asked: Asked): Promise<Recorded> {
  let body: Json | undefined;
  const fetch: Fetch = (_url, init) => {
    body = JSON.parse(String(init?.body)) as Json;
    // An answer no provider can read: what was to be seen has been seen.
    return Promise.resolve(new Response('{}', { status: 400, headers: { 'content-type': 'application/json' } }));
  };
  try {
    const call = asked.client === 'chat' ? toCall(asked, family, model) : toCallOfMessages(asked, family, model);
    const language = PROVIDERS[family](model, fetch);
    await (asked.request['stream'] === true ? language.doStream(call) : language.doGenerate(call));
  } catch (error) {
    if (error instanceof Unspoken) return { unspoken: error.message };
    if (!body) return { refused: error instanceof Error ? error.message : String(error) };
  }
  if (!body) throw new Error('the SDK sent nothing and did not say why');
  return { body };
}
