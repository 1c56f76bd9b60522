import type { Client, Family, Json } from '../outbound.ts';

/** The kinds of upstream a case is translated for, and how each is reached. */
export const UPSTREAMS = {
  gemini: 'vertex',
  claude: 'anthropic',
  claudeOnVertex: 'vertex',
  llama: 'vertex',
  openai: 'openai',
} as const satisfies Readonly<Record<string, Family>>;

export type UpstreamName = keyof typeof UPSTREAMS;
export const UPSTREAM_NAMES = ['gemini', 'claude', 'claudeOnVertex', 'llama', 'openai'] as const;

/** For each upstream the models a case is translated for. */
export type Models = Partial<Readonly<Record<UpstreamName, readonly string[]>>>;

/** A request of no provider in particular, and the models it is translated for. */
export interface Case extends Models {
  /** A sentence about what the request asks for. */
  readonly title: string;
  /** Beside `messages: hi` and `max_tokens`. */
  readonly request: Json;
  /** False: the client asked for more than OpenAI's fields (docs/protocols/replies.md#reply-extensions). */
  readonly strict?: boolean;
  /** True: the client would rather have a 400 than a loss. */
  readonly strictParams?: boolean;
}

/** Cases of one subject: in which API they are written, and for which models where a case does not say. */
export interface Subject {
  readonly client: Client;
  readonly models: Models;
  readonly cases: Cases;
}

/** By a name that is a file name too. */
export type Cases = Readonly<Record<string, Case>>;

export const hi = { role: 'user', content: 'hi' } as const;

export const user = (...content: readonly Json[]): Json => ({ role: 'user', content });
export const text = (text: string, rest: Json = {}): Json => ({ type: 'text', text, ...rest });
export const image = (url: string, rest: Json = {}): Json => ({ type: 'image_url', image_url: { url, ...rest } });

export const call = (id: string, name: string, args: string, rest: Json = {}): Json => ({
  id,
  type: 'function',
  function: { name, arguments: args, ...rest },
});
export const calls = (...tool_calls: readonly Json[]): Json => ({ role: 'assistant', content: null, tool_calls });
export const result = (tool_call_id: string, content: unknown, rest: Json = {}): Json => ({
  role: 'tool',
  tool_call_id,
  content,
  ...rest,
});

export const fn = (name: string, rest: Json = {}): Json => ({ type: 'function', function: { name, ...rest } });

export const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const;
export const weather = fn('weather', { description: 'Weather of a city.', parameters: city });
export const clock = fn('clock', { description: 'Time of a city.', parameters: city });

/** One pixel, and the shortest thing that calls itself a PDF. */
export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
export const PDF = 'JVBERi0xLjQKJSVFT0YK';
/** "caption\n" */
export const TEXT = 'Y2FwdGlvbgo=';
export const png = `data:image/png;base64,${PNG}`;
