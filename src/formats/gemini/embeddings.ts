import type { JsonObject } from '../conversation.ts';
import { RequestFault } from '../faults.ts';
import type { LoseField, TaskForms } from '../task-forms.ts';
import { compact, isObject, objectOf, stringOf } from '../json/object.ts';
import { toCamel } from '../json/field-names.ts';
import { mediaKind } from '../media/media-types.ts';
import { countOf } from '../counts.ts';
import { asNumber, objectsOf, pick } from './wire.ts';
import { toBase64 } from './thought-signature.ts';

/**
 * Google's requests for embeddings as OpenAI's, and OpenAI's reply as Google's (docs/protocols/embeddings.md#batch-embed-contents).
 * The providers read OpenAI's form with the extensions of the gateway: media, `task_type` and `title`.
 */
const FIELDS: Readonly<Record<string, string>> = {
  task_type: 'taskType',
  dimensions: 'outputDimensionality',
  auto_truncate: 'autoTruncate',
};

export const singleForms: TaskForms = {
  native: 'embedContent',
  fields: FIELDS,
  toOpenAi: (body, lose) => ({ ...settingsOf(body, '', lose), input: [inputOf(pick(body, 'content'), 'content')] }),
  fromOpenAi(reply) {
    const [values] = vectorsOf(reply);
    return { embedding: { values }, ...usageOf(reply) };
  },
};

export const batchForms: TaskForms = {
  native: 'batchEmbedContents',
  fields: FIELDS,
  toOpenAi(body, lose) {
    const requests = objectsOf(pick(body, 'requests'));
    const [first = {}, ...others] = requests.map((request, at) => settingsOf(request, `requests[${at}].`, lose));
    others.forEach((settings, at) =>
      checkSame(first, settings, (name) => `requests[${at + 1}].${FIELDS[name] ?? name}`),
    );
    const input = requests.map((request, at) => inputOf(pick(request, 'content'), `requests[${at}].content`));
    return { ...first, input };
  },
  fromOpenAi: (reply) => ({ embeddings: vectorsOf(reply).map((values) => ({ values })), ...usageOf(reply) }),
};

const REQUEST: ReadonlySet<string> = new Set(['model', 'stream', 'content', 'embedContentConfig']);
const CONFIG: ReadonlySet<string> = new Set([...Object.values(FIELDS), 'title']);

/** Vertex AI has the settings in an object of their own. */
function settingsOf(request: JsonObject, path: string, lose: LoseField): JsonObject {
  const own = objectOf(pick(request, 'embedContentConfig')) ?? {};
  const config = { ...request, ...own };
  for (const [object, at] of [
    [request, path],
    [own, `${path}embedContentConfig.`],
  ] as const)
    for (const [key, value] of Object.entries(object))
      if (!REQUEST.has(toCamel(key)) && !CONFIG.has(toCamel(key)) && value !== null)
        lose(at + key, 'This model has no such field');
  return compact({
    encoding_format: 'float',
    task_type: pick(config, 'taskType'),
    title: pick(config, 'title'),
    dimensions: asNumber(pick(config, 'outputDimensionality')),
    auto_truncate: pick(config, 'autoTruncate'),
  });
}

/**
 * Other APIs have the settings once for all inputs.
 * @param place of a setting by its name
 */
export function checkSame(first: JsonObject, other: JsonObject, place: (name: string) => string): void {
  const names = Object.keys({ ...first, ...other });
  const differing = names.find((name) => first[name] !== other[name]);
  if (differing === undefined) return;
  const param = place(differing);
  throw new RequestFault('invalid_value', `${param} must be that of the first request for this model.`, param);
}

/** Text alone, or an object with text and media of different kinds. */
function inputOf(content: unknown, place: string): string | JsonObject {
  const parts = isObject(content) ? objectsOf(pick(content, 'parts')) : [];
  const texts = parts.flatMap((part) => stringOf(part['text']) ?? []);
  const input: Record<string, unknown> = texts.length > 0 ? { text: texts.join('\n') } : {};
  for (const [index, part] of parts.entries()) {
    if (stringOf(part['text']) !== undefined) continue;
    const [kind, medium] = mediumOf(part, `${place}.parts[${index}]`);
    if (Object.hasOwn(input, kind)) refuse(`${place}.parts[${index}]`, 'is a second medium of its kind');
    input[kind] = medium;
  }
  if (Object.keys(input).length === 0)
    throw new RequestFault('missing_required_parameter', `${place}.parts is required.`, `${place}.parts`);
  return Object.keys(input).length === 1 && texts.length > 0 ? texts.join('\n') : input;
}

function mediumOf(part: JsonObject, place: string): readonly [string, JsonObject] {
  const inline = objectOf(pick(part, 'inlineData'));
  const payload = inline ?? objectOf(pick(part, 'fileData')) ?? refuse(place, 'is neither text nor media');
  const mime = stringOf(pick(payload, 'mimeType'));
  const kind = mediaKind(mime ?? '');
  const source = inline
    ? { base64: toBase64(stringOf(pick(payload, 'data')) ?? '') }
    : { url: stringOf(pick(payload, 'fileUri')) ?? '' };
  return [kind, compact({ ...source, mime_type: mime })];
}

function refuse(place: string, why: string): never {
  throw new RequestFault('unsupported_parameter', `${place} ${why}: this model cannot embed it.`, place);
}

function vectorsOf(reply: JsonObject): readonly unknown[] {
  return objectsOf(reply['data'])
    .toSorted((a, b) => Number(a['index'] ?? 0) - Number(b['index'] ?? 0))
    .map(({ embedding }) => embedding);
}

function usageOf({ usage }: JsonObject): JsonObject {
  const tokens = isObject(usage) ? countOf(usage['prompt_tokens']) : undefined;
  return tokens ? { usageMetadata: { promptTokenCount: tokens } } : {};
}
