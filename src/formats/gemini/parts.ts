import type { CodePart, CodeResultPart, JsonObject } from '../conversation.ts';
import { isObject, objectOf, stringOf } from '../json/object.ts';
import { toDataUri } from '../media/media-types.ts';
import { OWN_MAKER } from './thought-signature.ts';
import { optional } from './wire.ts';

export function signed(part: JsonObject, signature: string | undefined): JsonObject {
  return signature === undefined ? part : { ...part, thoughtSignature: signature };
}

/** Code that Google ran, or its output. */
export function decodeCode(code: unknown, result: unknown): CodePart | CodeResultPart | undefined {
  if (isObject(code)) {
    const { language, code: text, id } = code;
    const ran = { language: stringOf(language) ?? '', code: stringOf(text) ?? '' };
    return { type: 'code', ...ran, ...optional('id', stringOf(id)) };
  }
  if (!isObject(result)) return undefined;
  const { outcome, output, id } = result;
  const execution = { outcome: stringOf(outcome) ?? '', output: stringOf(output) ?? '' };
  return { type: 'code_result', ...execution, ...optional('id', stringOf(id)) };
}

export function encodeCode(
  part: CodePart | CodeResultPart,
  signature: string | undefined,
  keepIds: boolean,
): JsonObject {
  const id = optional('id', keepIds ? part.id : undefined);
  const encoded =
    part.type === 'code'
      ? { executableCode: { language: part.language, code: part.code, ...id } }
      : { codeExecutionResult: { outcome: part.outcome, output: part.output, ...id } };
  return signed(encoded, signature);
}

/**
 * A part of an answer that no other API has a form for (`fileData`, and parts that Google adds later). Its `type` makes
 * it one of the `content_blocks` of clients that are not strict (docs/protocols/replies.md#content-blocks), which may
 * send it back. Without a `type` it would be a note on the whole answer.
 */
const TYPE = 'gemini_part';

export function toPartBlock(part: unknown): JsonObject {
  return { type: TYPE, part };
}

export function isPartBlock(value: JsonObject): boolean {
  return value['type'] === TYPE;
}

/** Returns the original part. Undefined for any other block, and for a part that was unreadable in the reply. */
export function fromPartBlock(value: JsonObject): JsonObject | undefined {
  const part = isPartBlock(value) ? objectOf(value['part']) : undefined;
  // A call without a name becomes such a block too, and Google refuses it.
  return part && !('functionCall' in part) ? part : undefined;
}

/**
 * Media inside a thought: drafts of the final image. They are thinking and not the answer, so clients that are not
 * strict get them with the thinking (docs/protocols/replies.md#content-blocks), as a `thinking` block with an image.
 * Every reader of `content_blocks` knows that type, this gateway included: a block that comes back is a thought without
 * text, and its signature is sent on (docs/protocols/requests.md#thoughts-to-gemini).
 */
export function toThoughtBlock(mime: string, data: string, signature: string | undefined): JsonObject {
  const image_url = { url: toDataUri(mime, data) };
  return { type: 'thinking', thinking: '', image_url, ...(signature !== undefined && { signature, maker: OWN_MAKER }) };
}

/** Returns the part that such a block was made of. Undefined for any other opaque value. */
export function fromThoughtBlock(block: JsonObject): JsonObject | undefined {
  const url = stringOf(objectOf(block['image_url'])?.['url']);
  if (block['type'] !== 'thinking' || !url?.startsWith(SCHEME)) return undefined;
  const mark = url.indexOf(MARK);
  const inlineData = { mimeType: url.slice(SCHEME.length, mark), data: url.slice(mark + MARK.length) };
  return { inlineData, thought: true, ...optional('thoughtSignature', stringOf(block['signature'])) };
}

const SCHEME = 'data:';
const MARK = ';base64,';
