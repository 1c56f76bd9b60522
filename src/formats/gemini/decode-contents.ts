import type {
  JsonObject,
  Loss,
  MediaPart,
  OpaquePart,
  Part,
  ThinkingPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../conversation.ts';
import { RequestFault } from '../faults.ts';
import { mediaKind, typed } from '../media/media-types.ts';
import { LossReport } from '../losses/losses.ts';
import type { Origins } from '../losses/origins.ts';
import { BodyPlace, type ParamPath } from '../losses/place.ts';
import { decodeCode } from './parts.ts';
import { makerOf } from '../maker.ts';
import { sisterPart } from '../sister-parts.ts';
import { OpenCalls } from './open-calls.ts';
import { OWN_MAKER, signatureOfClient, thoughtOnCall, toBase64 } from './thought-signature.ts';
import { asList, bothSpellings, hasOthers, objectsOf, pick } from './wire.ts';
import { isObject, objectOf, stringOf, compact } from '../json/object.ts';

interface DecodedContents {
  readonly turns: Turn[];
  readonly losses: readonly Loss[];
}

/** Decodes `systemInstruction` and `contents` into turns. */
export function decodeContents(systemInstruction: unknown, contents: unknown, origins?: Origins): DecodedContents {
  const decoder = new ContentsDecoder(origins);
  const turns: Turn[] = [];
  const system = decoder.system(systemInstruction);
  if (system) {
    origins?.note(system, 'systemInstruction');
    turns.push(system);
  }
  asList(contents).forEach((content, index) => {
    const param = BodyPlace.item('contents', index);
    if (!isObject(content)) throw new RequestFault('invalid_request', `${String(param)} is not an object.`, param);
    const decoded = decoder.content(content, param);
    for (const turn of decoded) origins?.note(turn, param);
    turns.push(...decoded);
  });
  return { turns, losses: decoder.losses.list() };
}

class ContentsDecoder {
  readonly losses = new LossReport();
  readonly #open = new OpenCalls();
  /** Ids of calls with a response. */
  readonly #answered = new Set<string>();
  #count = 0;
  readonly #origins: Origins | undefined;

  constructor(origins: Origins | undefined) {
    this.#origins = origins;
  }

  system(instruction: unknown): Turn | undefined {
    if (instruction === undefined || instruction === null) return undefined;
    const source = isObject(instruction) ? pick(instruction, 'parts') : [{ text: instruction }];
    const parts = this.#parts(source, 'systemInstruction');
    return parts.length > 0 ? { role: 'system', parts } : undefined;
  }

  /** A content with function responses becomes a tool turn, and a user turn for its other parts. */
  content(content: JsonObject, param: BodyPlace): Turn[] {
    const role = roleOf(content, param);
    const parts = this.#parts(pick(content, 'parts'), param);
    if (role === 'assistant') return [{ role, parts }];
    // All of its responses repeat earlier ones.
    if (parts.length === 0 && asList(pick(content, 'parts')).length > 0) return [];
    if (!parts.some(isResult)) return [{ role, parts }];
    const results = parts.filter(isResult);
    const others = parts.filter((part) => !isResult(part));
    const turns: Turn[] = [{ role: 'tool', parts: results }];
    return others.length > 0 ? [...turns, { role: 'user', parts: others }] : turns;
  }

  #parts(parts: unknown, param: ParamPath): Part[] {
    const decoded: Part[] = [];
    /** Where the parts after the last call begin. */
    let begin = 0;
    for (const [index, part] of asList(parts).entries()) {
      const place = BodyPlace.itemOf(param, 'parts', index);
      if (!isObject(part)) throw new RequestFault('invalid_request', `${String(place)} is not an object.`, place);
      const modified = decodeModified(part);
      const alone = modified?.part ?? this.#part(part, place);
      if (!alone) continue;
      const read = alone.type === 'thinking' && isForeign(alone) ? joined(alone, decoded) : alone;
      this.#origins?.note(read, place);
      if (read.type === 'tool_call') {
        const thought = thoughtOnCall(stringOf(pick(part, 'thoughtSignature')));
        if (thought) {
          this.#origins?.note(thought, place);
          restore(thought, decoded, begin);
        }
        begin = decoded.length + 1;
      }
      decoded.push(read);
      if (!modified) continue;
      this.#origins?.note(modified.fields, place);
      decoded.push(modified.fields);
    }
    return decoded;
  }

  /** Undefined for a response that repeats an earlier one. */
  #part(part: JsonObject, place: BodyPlace): Part | undefined {
    // Most parts are text or media without further fields.
    const plain = decodeWords(part) ?? decodeMedia(part);
    if (plain) return plain;
    const signed = signatureOfClient('tool_call', stringOf(pick(part, 'thoughtSignature')));
    const call = pick(part, 'functionCall');
    if (isObject(call)) return { ...this.#call(call, BodyPlace.field(place, 'functionCall')), ...signed };
    const response = pick(part, 'functionResponse');
    if (isObject(response)) {
      if (!this.#repeats(response)) return this.#result(response, BodyPlace.field(place, 'functionResponse'));
      return this.losses.dropped(place, REPEATED);
    }
    const code = decodeCode(pick(part, 'executableCode'), pick(part, 'codeExecutionResult'));
    if (code) return { ...code, ...signed };
    return sisterPart(part) ?? { type: 'opaque', format: 'gemini', value: part };
  }

  #call(call: JsonObject, place: BodyPlace): ToolCallPart {
    const name = stringOf(pick(call, 'name')) || unnamed(place);
    const id = stringOf(pick(call, 'id')) || this.#newId();
    this.#open.add({ id, name });
    return { type: 'tool_call', id, name, arguments: JSON.stringify(pick(call, 'args') ?? {}) };
  }

  /**
   * Without this check the response would answer another call of the same name. Gemini CLI 0.61 sends every response of a
   * resumed conversation twice (google-gemini/gemini-cli#29365), and other APIs refuse two results of one call.
   */
  #repeats(response: JsonObject): boolean {
    const id = stringOf(pick(response, 'id'));
    return id !== undefined && this.#answered.has(id) && !this.#open.byId(id);
  }

  #result(response: JsonObject, place: BodyPlace): ToolResultPart {
    const id = stringOf(pick(response, 'id'));
    const known = id === undefined ? undefined : this.#open.byId(id);
    const name = stringOf(pick(response, 'name')) || (known?.name ?? unnamed(place));
    const call = known ?? this.#open.byName(name);
    const callId = call?.id ?? id ?? this.#newId();
    if (call) this.#open.remove(call);
    if (id !== undefined) this.#answered.add(id);
    const media = objectsOf(pick(response, 'parts')).map(
      (part): Part => decodeMedia(part) ?? { type: 'opaque', format: 'gemini', value: part },
    );
    const { text, isError } = outputOf(pick(response, 'response'));
    const content: Part[] = text === '' && media.length > 0 ? media : [{ type: 'text', text }, ...media];
    for (const part of content) this.#origins?.note(part, place);
    return { type: 'tool_result', callId, name, content, ...(isError && { isError }) };
  }

  /** Ids only pair calls with their results in this conversation. They are always the same: decoding is pure. */
  #newId(): string {
    return `call_${this.#count++}`;
  }
}

const REPEATED = 'the call has a response with this id already';

/**
 * Puts a thought in front of what the model said with it, from the part at `begin` on, and in the place of its pieces. It is there
 * already if the client kept it too.
 */
function restore(thought: ThinkingPart, parts: Part[], begin: number): void {
  const said = parts.splice(begin);
  const kept = said.some((part) => part.type === 'thinking' && part.signature === thought.signature);
  if (!kept) parts.push(thought);
  for (const part of said) if (kept || !isPiece(part)) parts.push(part);
}

/**
 * Claude wants the text of a signed thought unchanged. The SDK of Google sends the pieces of a stream back as they came, with
 * the signature on an empty last one.
 */
function joined(signed: ThinkingPart, parts: Part[]): ThinkingPart {
  const from = parts.findLastIndex((part) => !isPiece(part)) + 1;
  const texts = parts.splice(from).map((part) => (part.type === 'thinking' ? part.text : ''));
  return { ...signed, text: texts.join('') + signed.text };
}

const isForeign = (part: ThinkingPart): boolean => part.signature !== undefined && makerOf(part) !== OWN_MAKER;

const isPiece = (part: Part): boolean => part.type === 'thinking' && part.signature === undefined;

const isResult = ({ type }: Part): boolean => type === 'tool_result';

function unnamed(place: BodyPlace): never {
  const name = BodyPlace.field(place, 'name');
  throw new RequestFault('missing_required_parameter', `${String(name)} is missing.`, name);
}

function roleOf(content: JsonObject, param: BodyPlace): 'user' | 'assistant' {
  const role = content['role'];
  if (role === 'model') return 'assistant';
  // The first versions of the API sent function responses under the role `function`.
  if (role === undefined || role === 'user' || role === 'function') return 'user';
  const place = BodyPlace.field(param, 'role');
  throw new RequestFault('invalid_value', `${String(place)} must be "user" or "model".`, place);
}

const WORD_FIELDS = bothSpellings('text', 'thought', 'thoughtSignature');

/** Decodes text, a thought, or a part that holds only a signature. */
function decodeWords(part: JsonObject): Part | undefined {
  if (hasOthers(part, WORD_FIELDS)) return undefined;
  const text = stringOf(part['text']);
  const type = part['thought'] === true ? 'thinking' : 'text';
  const signed = signatureOfClient(type, stringOf(pick(part, 'thoughtSignature')));
  if (text === undefined && signed.signature === undefined) return undefined;
  return { type, text: text ?? '', ...signed };
}

const MEDIA_FIELDS = bothSpellings('inlineData', 'fileData', 'thoughtSignature', 'mediaResolution');
const DETAILS = new Map<unknown, string>([
  ['MEDIA_RESOLUTION_LOW', 'low'],
  ['MEDIA_RESOLUTION_HIGH', 'high'],
]);

/** A text or a media part with further fields, which only this format has (`videoMetadata`): they are attached to it. */
function decodeModified(part: JsonObject): { readonly part: Part; readonly fields: OpaquePart } | undefined {
  const isText = typeof part['text'] === 'string';
  const known = isText ? WORD_FIELDS : PLAIN_MEDIA_FIELDS;
  if (!hasOthers(part, known) || decodeMedia(part) || (!isText && part['thought'] === true)) return undefined;
  const [own, others] = [true, false].map((of) =>
    Object.fromEntries(Object.entries(part).filter(([name]) => known.has(name) === of)),
  );
  const plain = isText ? decodeWords(own!) : decodeMedia(own!);
  return plain && { part: plain, fields: { type: 'opaque', format: 'gemini', value: others!, attached: true } };
}

const PLAIN_MEDIA_FIELDS = bothSpellings('inlineData', 'fileData', 'thoughtSignature');

/** Undefined for media with modifiers that only this format has (`videoMetadata`): see `decodeModified`. */
function decodeMedia(part: JsonObject): MediaPart | undefined {
  if (hasOthers(part, MEDIA_FIELDS)) return undefined;
  const inline = pick(part, 'inlineData');
  const payload = isObject(inline) ? inline : objectOf(pick(part, 'fileData'));
  if (!payload) return undefined;
  const resolution = pick(part, 'mediaResolution');
  const detail = isObject(resolution) ? DETAILS.get(resolution['level']) : undefined;
  if (resolution !== undefined && detail === undefined) return undefined;
  const mime = stringOf(pick(payload, 'mimeType'));
  const uri = stringOf(pick(payload, 'fileUri'));
  const data = stringOf(pick(payload, 'data'));
  const source =
    uri !== undefined ? { kind: 'url' as const, url: uri } : { kind: 'data' as const, data: standard(data ?? '') };
  return typed(
    compact({
      type: 'media' as const,
      media: mediaKind(mime ?? ''),
      mime,
      source,
      name: stringOf(pick(payload, 'displayName')),
      detail,
      ...signatureOfClient('media', stringOf(pick(part, 'thoughtSignature'))),
    }),
  );
}

/** Protobuf JSON accepts base64url too, and recorded clients send it. Other APIs accept standard base64 only. */
function standard(data: string): string {
  return /[-_]/.test(data) ? toBase64(data) : data;
}

function outputOf(response: unknown): { readonly text: string; readonly isError: boolean } {
  const keys = isObject(response) ? Object.keys(response) : [];
  if (isObject(response) && keys.length === 1) {
    const { output, error } = response;
    if (typeof output === 'string') return { text: output, isError: false };
    if (typeof error === 'string') return { text: error, isError: true };
  }
  return { text: JSON.stringify(response ?? {}), isError: false };
}
