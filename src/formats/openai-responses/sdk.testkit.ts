import OpenAI from 'openai';
import OpenAI7 from 'openai7';
import type { JsonObject } from '../conversation.ts';

/**
 * The response that OpenAI's own clients assemble from a stream: their accumulators, an injected transport, no socket. Version 7 throws
 * at every event that it does not know.
 */
export async function accumulated(sse: string): Promise<JsonObject> {
  const settings = {
    apiKey: 'test',
    maxRetries: 0,
    fetch: () => Promise.resolve(new Response(sse, { headers: { 'content-type': 'text/event-stream' } })),
  };
  const asked = { model: 'm', input: 'hi' };
  await new OpenAI(settings).responses.stream(asked).finalResponse();
  const response = await new OpenAI7(settings).responses.stream(asked).finalResponse();
  return JSON.parse(JSON.stringify(response)) as JsonObject;
}

/** Fields that the SDK adds for callers that gave it a schema, or that read only text. */
export function withoutHelpers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutHelpers);
  if (typeof value !== 'object' || value === null) return value;
  const added = new Set(['parsed', 'parsed_arguments', 'output_text', 'output_parsed']);
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => (added.has(key) ? [] : [[key, withoutHelpers(inner)]])),
  );
}

/** The data of each event of a stream. */
export function eventsOf(sse: string): JsonObject[] {
  return sse
    .split('\n\n')
    .map((record) => record.slice(record.indexOf('data: ') + 6))
    .filter((data) => data.startsWith('{'))
    .map((data) => JSON.parse(data) as JsonObject);
}
