import type { JsonObject } from '../conversation.ts';
import { sealedText, type SealedText } from '../envelope.ts';
import { toSnake } from '../json/field-names.ts';
import { isObject, listOf, objectOf, stringOf } from '../json/object.ts';
import type { TextKind } from './channels.ts';

/** Who wrote a text of a request. system: definitions too. tool: the result of a call. */
export type TextRole = 'system' | 'user' | 'assistant' | 'tool';

/** definition: of a tool, of the form of the answer, or of the model's template. */
export type RequestTextKind = Exclude<TextKind, 'error'> | 'file_name' | 'definition';

/** A text of a request and its path in the body. */
export interface RequestText {
  readonly role: TextRole;
  readonly kind: RequestTextKind;
  readonly path: readonly string[];
  readonly text: string;
  /** The value is an object: the text is its JSON. */
  readonly json: boolean;
  /** A signature covers it: it cannot be changed. */
  readonly signed: boolean;
  /** The value that has another text in its place, where that is not the text itself. */
  readonly written?: SealedText['written'];
}

/** Content of a request that has no text: it is named and not given. */
export interface RequestMedia {
  readonly role: TextRole;
  /** The type of the part, as the client's API calls it: `image_url`, `inlineData`. */
  readonly type: string;
  readonly path: readonly string[];
}

export interface RequestTexts {
  readonly texts: readonly RequestText[];
  readonly media: readonly RequestMedia[];
}

type Path = readonly string[];
type By = readonly [role: TextRole, kind: RequestTextKind, signed?: boolean];

/** Collects texts in the order of the body. */
class Collector implements RequestTexts {
  readonly texts: RequestText[] = [];
  readonly media: RequestMedia[] = [];

  add([role, kind, signed = false]: By, path: Path, value: unknown): void {
    if (typeof value === 'string') this.texts.push({ role, kind, path, text: value, json: false, signed });
    else if (isObject(value)) this.texts.push({ role, kind, path, text: JSON.stringify(value), json: true, signed });
  }

  /** A signature covers the texts from this one on. */
  sign(from: number): void {
    for (let at = from; at < this.texts.length; at += 1) this.texts[at] = { ...this.texts[at]!, signed: true };
  }

  /** A text in an envelope: any client can write one. */
  sealed([role, kind, signed = false]: By, path: Path, sealed: SealedText | undefined): void {
    if (sealed) this.texts.push({ role, kind, path, json: false, signed, ...sealed });
  }

  /** A text, a part, or a list of texts and parts. */
  content(role: TextRole, path: Path, value: unknown, kind: RequestTextKind = 'text'): void {
    if (typeof value === 'string') return this.add([role, kind], path, value);
    if (isObject(value)) return this.#part({ role, path, kind }, value);
    const items = listOf(value) ?? [];
    // A prompt may be the numbers of its tokens, or a list of such prompts.
    if (items.some((item) => typeof item === 'number' || listOf(item))) this.media.push({ role, type: 'tokens', path });
    for (const [index, item] of items.entries()) {
      const at = [...path, String(index)];
      if (typeof item === 'string') this.add([role, kind], at, item);
      else if (isObject(item)) this.#part({ role, path: at, kind }, item);
    }
  }

  /** A part of chat, Messages or Responses: their names do not contradict each other. */
  #part({ role, path, kind }: { role: TextRole; path: Path; kind: RequestTextKind }, part: JsonObject): void {
    const type = stringOf(part.type) ?? 'text';
    const inner = (key: string): Path => [...path, key];
    if (type === 'thinking') return this.#thinking(role, path, part);
    if (TOOL_USES.has(type)) return this.add(CALL, inner('input'), part.input);
    if (type.endsWith('tool_result')) return this.content('tool', inner('content'), part.content, 'tool_result');
    if (type === 'refusal') return this.add([role, 'refusal'], inner('refusal'), part.refusal);
    const source = objectOf(part.source);
    const isTextSource = source?.type === 'text' || source?.type === 'content';
    const isRead = this.#ownTexts({ role, path, kind }, part, type) || isTextSource;
    // A picture with a text of its own stays a picture. A piece of a streamed part is joined with others later.
    const isMedia = MEDIA.test(type) || (source && !isTextSource) || (part.type === undefined && isObject(part.delta));
    if (isMedia || !isRead) this.media.push({ role, type, path });
  }

  /** Texts of a part under any of their names. True: the part is no media, unless its type says so. */
  #ownTexts(
    { role, path, kind }: { role: TextRole; path: Path; kind: RequestTextKind },
    part: JsonObject,
    type: string,
  ) {
    for (const key of ['title', 'context', 'filename'])
      this.add([role, key === 'context' ? kind : 'file_name'], [...path, key], stringOf(part[key]));
    this.add([role, 'file_name'], [...path, 'file', 'filename'], stringOf(objectOf(part.file)?.filename));
    const source = objectOf(part.source);
    if (source?.type === 'text') this.add([role, kind], [...path, 'source', 'data'], stringOf(source.data));
    if (source?.type === 'content') this.content(role, [...path, 'source', 'content'], source.content, kind);
    if (typeof part.text === 'string') this.add([role, kind], [...path, 'text'], part.text);
    if (part.content) this.content(role, [...path, 'content'], part.content, kind);
    // Code that the vendor has run, and its results.
    const run = RUN.filter((key) => typeof part[key] === 'string');
    for (const key of run) this.add([role, kind], [...path, key], part[key]);
    const isText = typeof part.text === 'string' && type.endsWith('text');
    return isText || Boolean(part.content) || run.length > 0 || WITHOUT_MEDIA.test(type);
  }

  /** Mistral has a list of texts. */
  #thinking(role: TextRole, path: Path, { thinking, signature }: JsonObject): void {
    const at = [...path, 'thinking'];
    this.sealed([role, 'thinking', true], [...path, 'signature'], sealedText(signature));
    if (listOf(thinking)) this.content(role, at, thinking, 'thinking');
    else this.add([role, 'thinking', Boolean(signature)], at, thinking);
  }

  /** Members of the call of a hosted tool, such as a search, with its results, or of a definition: texts, and objects as their JSON. */
  members(path: Path, item: JsonObject, own?: By, skipped = NO_TEXTS): void {
    for (const [key, value] of Object.entries(item)) {
      const by = own ?? (RESULTS.has(key) ? RESULT : CALL);
      const list = listOf(value);
      for (const [index, one] of list?.entries() ?? []) this.add(by, [...path, key, String(index)], one);
      if (!list && !skipped.has(key)) this.add(by, [...path, key], value);
    }
  }

  /** Members of an object that define tools or the form of the answer: texts, objects as their JSON, and what lists of objects have. */
  definitions(object: JsonObject | undefined, names: readonly string[], path: Path = []): void {
    for (const name of names) {
      this.add(DEFINITION, [...path, name], object?.[name]);
      for (const [item, at] of objectsIn(listOf(object?.[name]), [...path, name]))
        this.members(at, item, DEFINITION, NO_DEFINITIONS);
    }
  }

  /** Members of an object that are texts, if they are there. */
  fields(role: TextRole, path: Path, object: JsonObject, keys: readonly string[]): void {
    for (const key of keys) this.content(role, [...path, key], object[key]);
  }
}

const TOOL_USES: ReadonlySet<string> = new Set(['tool_use', 'server_tool_use', 'mcp_tool_use']);
const WITHOUT_MEDIA = /^redacted_thinking$|^cache_point$|_error$|_execution_result$/;
const MEDIA = /^(?:input_)?(?:image|audio|video|file)(?:_url)?$/;
const RUN = ['stdout', 'stderr', 'code', 'output'];

const CALL: By = ['assistant', 'tool_arguments'];
const RESULT: By = ['tool', 'tool_result'];
const DEFINITION: By = ['system', 'definition'];
const RESULTS: ReadonlySet<string> = new Set(['output', 'outputs', 'results', 'result', 'error']);
/** Names and ids; `arguments` and `input` are read for every call. */
const NO_TEXTS: ReadonlySet<string> = new Set('type id call_id status name arguments input result'.split(' '));
/** The credentials of a tool are for its server, and its name stands in calls too. */
const NO_DEFINITIONS: ReadonlySet<string> = new Set('type name headers authorization authorization_token'.split(' '));
const DEFINITIONS =
  'tools functions mcp_servers response_format output_format output_config structured_outputs web_search_options'
    .concat(' chat_template chat_template_kwargs guided_json guided_grammar')
    .split(' ');
const SCHEMAS = 'responseSchema response_schema responseJsonSchema response_json_schema'.split(' ');

const ROLES: Readonly<Partial<Record<string, TextRole>>> = {
  system: 'system',
  developer: 'system',
  assistant: 'assistant',
  model: 'assistant',
  tool: 'tool',
  function: 'tool',
};

const roleOf = (role: unknown): TextRole => (typeof role === 'string' && ROLES[role]) || 'user';

/** Of a list, or of one object in its place, which ProtoJSON takes. */
function* objectsIn(value: unknown, path: Path): Iterable<readonly [JsonObject, Path]> {
  if (isObject(value)) yield [value, path];
  for (const [index, item] of (listOf(value) ?? []).entries())
    if (isObject(item)) yield [item, [...path, String(index)]];
}

/** `messages` of chat and of Messages, with the calls of chat. */
function ofMessages(to: Collector, body: JsonObject): void {
  to.definitions(body, DEFINITIONS);
  to.content('system', ['system'], body.system);
  for (const [message, path] of objectsIn(body.messages, ['messages'])) {
    const role = roleOf(message.role);
    to.content(role, [...path, 'content'], message.content, role === 'tool' ? 'tool_result' : 'text');
    for (const key of ['reasoning_content', 'reasoning'])
      to.add([role, 'thinking'], [...path, key], stringOf(message[key]));
    to.add([role, 'refusal'], [...path, 'refusal'], stringOf(message.refusal));
    ofCall(to, [...path, 'function_call'], message.function_call);
    for (const [call, at] of objectsIn(message.tool_calls, [...path, 'tool_calls'])) {
      ofCall(to, [...at, 'function'], call.function);
      ofCall(to, [...at, 'custom'], call.custom);
    }
    // Extensions of this gateway, which take the place of `content`.
    for (const key of ['content_blocks', 'content_parts']) to.content(role, [...path, key], message[key]);
  }
  to.content('user', ['prediction', 'content'], objectOf(body.prediction)?.content);
}

function ofCall(to: Collector, path: Path, call: unknown): void {
  const { arguments: given, input } = objectOf(call) ?? {};
  to.add(CALL, [...path, 'arguments'], given);
  to.add(CALL, [...path, 'input'], input);
}

function ofResponses(to: Collector, body: JsonObject): void {
  to.definitions(body, DEFINITIONS);
  to.definitions(objectOf(body.text), ['format'], ['text']);
  to.content('system', ['instructions'], body.instructions);
  to.add(['user', 'text'], ['input'], stringOf(body.input));
  for (const [item, path] of objectsIn(body.input, ['input'])) {
    const type = stringOf(item.type) ?? 'message';
    ofCall(to, path, item);
    if (type === 'reasoning') {
      const from = to.texts.length;
      for (const key of ['summary', 'content']) to.content('assistant', [...path, key], item[key], 'thinking');
      if (item.encrypted_content) to.sign(from);
      to.sealed(['assistant', 'thinking', true], [...path, 'encrypted_content'], sealedText(item.encrypted_content));
    } else if (type === 'compaction')
      // The model reads it as the words of the user.
      to.sealed(['user', 'text'], [...path, 'encrypted_content'], sealedText(item.encrypted_content));
    else if (type.endsWith('_output')) to.content('tool', [...path, 'output'], item.output, 'tool_result');
    else if (type.endsWith('_call')) {
      to.members(path, item);
      if (type.startsWith('image_')) to.media.push({ role: 'assistant', type, path });
    } else {
      to.content(roleOf(item.role), [...path, 'content'], item.content);
      // Of the answer to a question for approval.
      to.add(['user', 'text'], [...path, 'reason'], stringOf(item.reason));
    }
  }
  const variables = objectOf(objectOf(body.prompt)?.variables) ?? {};
  for (const [name, value] of Object.entries(variables))
    to.content('user', ['prompt', 'variables', name], typeof value === 'string' ? value : [value]);
}

/** Objects under any of the names: Google takes each name in two spellings. */
function* membersOf(object: JsonObject, ...names: readonly string[]): Iterable<readonly [JsonObject, string]> {
  for (const name of new Set(names.flatMap((name) => [name, toSnake(name)])))
    if (isObject(object[name])) yield [object[name], name];
}

function ofContent(to: Collector, path: Path, value: unknown, role?: TextRole): void {
  // A system instruction may be a text alone.
  if (role) to.add([role, 'text'], path, stringOf(value));
  const content = objectOf(value);
  if (!content) return;
  for (const [part, at] of objectsIn(content.parts, [...path, 'parts'])) {
    const by = role ?? roleOf(content.role);
    for (const [call, name] of membersOf(part, 'functionCall')) to.add(CALL, [...at, name, 'args'], call.args);
    for (const [code, name] of membersOf(part, 'executableCode')) to.add(CALL, [...at, name, 'code'], code.code);
    for (const [run, name] of membersOf(part, 'codeExecutionResult'))
      to.add(RESULT, [...at, name, 'output'], run.output);
    // Of tools that run on Google's side.
    for (const [call, name] of membersOf(part, 'toolCall')) to.add(CALL, [...at, name], call);
    for (const [result, name] of membersOf(part, 'toolResponse')) to.add(RESULT, [...at, name], result);
    for (const [result, name] of membersOf(part, 'functionResponse')) {
      to.add(RESULT, [...at, name, 'response'], result.response);
      for (const [inner, place] of objectsIn(result.parts, [...at, name, 'parts']))
        ofFile(to, place, { part: inner, role: 'tool' });
    }
    for (const key of ['thoughtSignature', 'thought_signature'])
      to.sealed(['assistant', 'thinking', true], [...at, key], sealedText(part[key], 'base64'));
    if (typeof part.text === 'string')
      to.add([by, part.thought === true ? 'thinking' : 'text'], [...at, 'text'], part.text);
    // Of another API, which clients mix in.
    else if (typeof part.type === 'string') to.content(by, at, part);
    ofFile(to, at, { part, role: by });
  }
}

function ofFile(to: Collector, at: Path, { part, role }: { readonly part: JsonObject; readonly role: TextRole }): void {
  for (const [data, name] of membersOf(part, 'inlineData', 'fileData')) {
    for (const key of ['displayName', 'display_name'])
      to.add([role, 'file_name'], [...at, name, key], stringOf(data[key]));
    to.media.push({ role, type: name, path: at });
  }
}

function ofGemini(to: Collector, body: JsonObject, path: Path = []): void {
  to.definitions(body, ['tools'], path);
  for (const [config, name] of membersOf(body, 'generationConfig')) to.definitions(config, SCHEMAS, [...path, name]);
  for (const name of ['systemInstruction', 'system_instruction']) ofContent(to, [...path, name], body[name], 'system');
  for (const [content, at] of objectsIn(body.contents, [...path, 'contents'])) ofContent(to, at, content);
  for (const [config, name] of membersOf(body, 'embedContentConfig'))
    to.add(['user', 'text'], [...path, name, 'title'], stringOf(config.title));
  for (const [request, at] of [[body, path] as const, ...objectsIn(body.requests, [...path, 'requests'])]) {
    ofContent(to, [...at, 'content'], request.content);
    to.add(['user', 'text'], [...at, 'title'], stringOf(request.title));
  }
  for (const [instance, at] of objectsIn(body.instances, [...path, 'instances'])) {
    to.fields('user', at, instance, ['prompt', 'content', 'text', 'title']);
    for (const type of ['image', 'video', 'mask', 'referenceImages'])
      if (instance[type] !== undefined) to.media.push({ role: 'user', type, path: [...at, type] });
  }
  for (const [parameters, name] of membersOf(body, 'parameters'))
    to.add(['user', 'text'], [...path, name, 'negativePrompt'], stringOf(parameters.negativePrompt));
  if (path.length > 0) return;
  for (const [nested, name] of membersOf(body, 'generateContentRequest')) ofGemini(to, nested, [name]);
}

/** Tasks without a conversation, which all have OpenAI's names: `prompt`, `input`. vLLM puts `documents` into the prompt of chat. */
const FIELDS = 'prompt suffix input instructions title negative_prompt negativePrompt documents'.split(' ');

/** The texts of a request of a client's API, and what of it has none. What is not as the API says is left out: the schema refuses it. */
export type ReadRequestTexts = (body: JsonObject) => RequestTexts;

const reading =
  (read: (to: Collector, body: JsonObject) => void): ReadRequestTexts =>
  (body) => {
    const to = new Collector();
    read(to, body);
    return to;
  };

/** Of an API of OpenAI: some upstreams read `extra_body` as if its fields stood in the body (fields/field-tables.ts). */
const readingLifted = (read: (to: Collector, body: JsonObject) => void): ReadRequestTexts => {
  const own = reading(read);
  return (body) => {
    const extra = objectOf(body.extra_body);
    if (!extra) return own(body);
    const lift = <T extends { readonly path: Path }>(one: T): T => ({ ...one, path: ['extra_body', ...one.path] });
    const [outer, inner] = [own(body), own(extra)];
    return { texts: [...outer.texts, ...inner.texts.map(lift)], media: [...outer.media, ...inner.media.map(lift)] };
  };
};

export const messagesTexts = reading(ofMessages);
export const responsesTexts = readingLifted(ofResponses);
export const geminiTexts = reading((to, body) => ofGemini(to, body));
export const chatTexts = readingLifted((to, body) => {
  ofMessages(to, body);
  to.fields('user', [], body, FIELDS);
});
