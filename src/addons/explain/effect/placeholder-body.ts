import { isObject, type Operation } from '../../../core/kernel/index.ts';

const TEXT = '[text]';

/** The fields that an API requires in a body. Those of an operation take precedence over those of its format. */
const BY_FORMAT: Readonly<Record<string, object>> = {
  'openai-chat': { messages: [{ role: 'user', content: TEXT }] },
  'anthropic-messages': { messages: [{ role: 'user', content: TEXT }], max_tokens: 1 },
  'openai-responses': { input: TEXT },
  gemini: { contents: [{ role: 'user', parts: [{ text: TEXT }] }] },
};

const BY_OPERATION: Readonly<Record<string, object>> = {
  embeddings: { input: TEXT },
  moderations: { input: TEXT },
  completions: { prompt: TEXT },
  'images.generations': { prompt: TEXT },
  'images.edits': { prompt: TEXT },
  'images.variations': {},
  'audio.speech': { input: TEXT, voice: 'alloy' },
  'audio.transcriptions': {},
  'audio.translations': {},
  'gemini.embed_content': { content: { parts: [{ text: TEXT }] } },
  'gemini.batch_embed_contents': { requests: [{ content: { parts: [{ text: TEXT }] } }] },
  'vertex.predict': { instances: [{ content: TEXT }] },
};

interface KnownBody {
  /** As the caller named it, unless the path has it. */
  readonly model: string | undefined;
  readonly stream: boolean;
  readonly fields: ReadonlyMap<string, unknown>;
}

/** A body in the place of one that a record does not have. Undefined: the operation is not known here. */
export function placeholderBody(operation: Operation, { model, stream, fields }: KnownBody): object | undefined {
  const needed = BY_OPERATION[operation.id] ?? BY_FORMAT[operation.format.name];
  if (!needed) return undefined;
  const inPath = operation.fieldsInPath !== undefined;
  const body: Record<string, unknown> = {
    ...(model !== undefined && !inPath && { model }),
    ...structuredClone(needed),
    // Google's API has it in the path.
    ...(stream && !inPath && { stream }),
  };
  for (const [path, value] of fields) if (value !== undefined) setAt(body, path.split('.'), value);
  return body;
}

function setAt(into: Record<string, unknown>, [name = '', ...inner]: readonly string[], value: unknown): void {
  // Assigning it would change the object itself.
  if (name === '__proto__') return;
  const before = into[name];
  const next: Record<string, unknown> = isObject(before) ? before : {};
  into[name] = inner.length === 0 ? value : next;
  if (inner.length > 0) setAt(next, inner, value);
}
