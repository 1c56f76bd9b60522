/**
 * Building blocks of the cases of the Messages API (docs/protocols/anthropic-messages.md#content-blocks,
 * docs/protocols/anthropic-messages.md#tools).
 */
import type { Json } from '../outbound.ts';
import { city, PDF, PNG, type Models } from './case.ts';

/** Where the generations of Gemini differ. */
export const GEMINIS = { gemini: ['gemini-2.5-flash', 'gemini-3-pro-preview'] } as const satisfies Models;
export const LLAMA = 'meta.llama-4-maverick-17b-128e-instruct-maas';
/** Both generations, and both kinds of OpenAI-shaped upstream. */
export const ALL = { ...GEMINIS, openai: ['gpt-5'], llama: [LLAMA] } as const satisfies Models;

export const assistant = (...content: readonly Json[]): Json => ({ role: 'assistant', content });

export const use = (id: string, name: string, input: Json, rest: Json = {}): Json => ({
  type: 'tool_use',
  id,
  name,
  input,
  ...rest,
});
export const answer = (tool_use_id: string, content: unknown, rest: Json = {}): Json => ({
  type: 'tool_result',
  tool_use_id,
  ...(content !== undefined && { content }),
  ...rest,
});

export const tool = (name: string, rest: Json = {}): Json => ({
  name,
  description: `The ${name} of a city.`,
  input_schema: city,
  ...rest,
});

const base64 = (media_type: string, data: string): Json => ({ type: 'base64', media_type, data });
export const picture = (source: Json = base64('image/png', PNG), rest: Json = {}): Json => ({
  type: 'image',
  source,
  ...rest,
});
export const document = (source: Json = base64('application/pdf', PDF), rest: Json = {}): Json => ({
  type: 'document',
  source,
  ...rest,
});
export const url = (address: string): Json => ({ type: 'url', url: address });
export const file = (file_id: string): Json => ({ type: 'file', file_id });
export const plain = (data: string): Json => ({ type: 'text', media_type: 'text/plain', data });

export const marker = { type: 'ephemeral', ttl: '1h' } as const;

export const found = (rest: Json = {}): Json => ({
  type: 'search_result',
  source: 'https://example.com/oslo',
  title: 'Oslo',
  content: [
    { type: 'text', text: 'Capital of Norway.' },
    { type: 'text', text: 'Pop. 700,000.' },
  ],
  ...rest,
});
