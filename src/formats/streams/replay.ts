import type { GenerationEvent, Usage } from '../events.ts';
import { ReplyFault } from '../faults.ts';
import type { ClientContext, Format, ReplyContext } from '../format.ts';

/**
 * Replays a stored reply in the other form: a stream as a plain body, a body as a stream. Both directions go through
 * the events, in the client's own format, so that the forms cannot disagree. Id, time and model are those of the stored
 * reply.
 *
 * Fields without a place in the events are lost (measured on 804 recorded replies). OpenAI: undocumented usage counts
 * (`text_tokens`), and for strict clients all other undocumented fields. Anthropic: usage fields besides the counts
 * (`service_tier`, `cache_creation`). Gemini: usage by modality, `avgLogprobs`, `createTime`. Absent fields may come
 * back as null or empty, as each format writes them.
 */

/** A complete stream → plain body, as JSON. `usage` is the counted usage, for a stream whose client had not requested it. */
export function plainFromStream(
  format: Format,
  stream: Buffer,
  usage: Usage | undefined,
  client: ClientContext,
): Buffer {
  return format.encodeReply(withUsage(decodeWhole(format, stream, client), usage), client);
}

/** A plain body → complete stream, terminal event included. */
export function streamFromPlain(format: Format, body: unknown, client: ClientContext): Buffer {
  return encodeWhole(format, complete(format.decodeReply(body, replyContext(client))), client);
}

/**
 * A complete stream with or without a usage chunk, as the client requested. The bytes stay unchanged where possible:
 * usage is cut out of them as in a live pass-through. The chunks are written anew only to add usage.
 */
export function streamWithUsage(
  format: Format,
  stream: Buffer,
  usage: Usage | undefined,
  client: ClientContext,
): Buffer {
  if (!format.passThrough) return encodeWhole(format, withUsage(decodeWhole(format, stream, client), usage), client);
  const reader = format.passThrough.open(client, true);
  const pieces = [reader.push(stream), reader.end()].filter((piece) => piece !== undefined);
  const { failure } = reader.signals;
  if (failure) throw new ReplyFault(failure.message);
  if (!client.includeUsage || !usage || reader.signals.usage) return Buffer.concat(pieces);
  return encodeWhole(format, withUsage(decodeWhole(format, stream, client), usage), client);
}

function decodeWhole(format: Format, stream: Buffer, client: ClientContext): readonly GenerationEvent[] {
  const decoder = format.decodeStream(replyContext(client));
  return complete([...decoder.push(stream), ...decoder.end()]);
}

function encodeWhole(format: Format, events: readonly GenerationEvent[], client: ClientContext): Buffer {
  return Buffer.from(format.encodeStream(client).push(events));
}

/** Only complete replies are stored: an incomplete one throws here and never reaches a client. */
function complete(events: readonly GenerationEvent[]): readonly GenerationEvent[] {
  const failed = events.find((event) => event.type === 'error');
  if (failed) throw new ReplyFault(failed.failure.message);
  return events;
}

/** Usage inside the reply wins. */
function withUsage(events: readonly GenerationEvent[], usage: Usage | undefined): readonly GenerationEvent[] {
  if (!usage || events.some((event) => event.type === 'usage')) return events;
  const end = events.findIndex((event) => event.type === 'end');
  return [...events.slice(0, end), { type: 'usage', usage }, ...events.slice(end)];
}

/** Ids for calls without one (OpenAI's deprecated `function_call`): counted, so that every replay has the same. */
function replyContext({ model }: ClientContext): ReplyContext {
  let count = 0;
  return { model, newCallId: () => `call_${String(count++).padStart(24, '0')}` };
}
