import type { FormatName, JsonObject } from '../conversation.ts';
import type { GenerationEvent } from '../events.ts';
import type { ClientContext } from '../format.ts';
import { stringOf } from '../json/read.ts';

/** Fields around the choices of a reply, the same in a plain body and in every chunk. */
export interface ReplyEnvelope {
  readonly id?: string | undefined;
  readonly model?: string | undefined;
  readonly created?: number | undefined;
  readonly extras?: JsonObject | undefined;
  readonly extrasFormat?: FormatName | undefined;
}

/** Fields that the events hold. `obfuscation` pads one chunk, and a falsy `error` means that there is none. */
const PLACED: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created',
  'model',
  'choices',
  'usage',
  'obfuscation',
  'error',
]);

/**
 * Optional fields of a reply that OpenAI documents (docs/protocols/openai-chat.md#reply). A strict client gets no
 * others.
 */
const STANDARD: ReadonlySet<string> = new Set(['service_tier', 'system_fingerprint', 'moderation']);

export function decodeEnvelope(body: JsonObject): GenerationEvent {
  const id = stringOf(body.id);
  const model = stringOf(body.model);
  const { created } = body;
  const extras = Object.entries(body).filter(([key]) => !PLACED.has(key));
  return {
    type: 'start',
    ...(id && { id }),
    ...(model && { model }),
    ...(typeof created === 'number' && { created }),
    ...(extras.length > 0 && { extras: Object.fromEntries(extras), extrasFormat: 'openai-chat' as const }),
  };
}

/** The fields before `choices`. The client's context supplies those that the reply lacks. */
export function encodeEnvelope(envelope: ReplyEnvelope, object: string, client: ClientContext): JsonObject {
  const { id, model, created, extras, extrasFormat } = envelope;
  const known = extrasFormat === 'openai-chat' ? Object.entries(extras ?? {}) : [];
  return {
    id: id ?? client.id,
    object,
    created: created ?? client.created,
    model: model ?? client.model,
    ...Object.fromEntries(known.filter(([key]) => !client.strict || STANDARD.has(key))),
  };
}
