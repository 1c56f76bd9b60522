import { isDeepStrictEqual } from 'node:util';
import { TARGET_FIELDS } from './anthropic-messages/target-fields.ts';
import type { Conversation, FormatName, JsonObject, Loss } from './conversation.ts';
import { RequestFault } from './faults.ts';
import type { EncodedRequest, Format } from './format.ts';
import type { RequestTarget } from './request-target.ts';
import type { ParameterApi } from './fields/field-table.ts';
import { formats } from './index.ts';
import { absorb, isObject, rest } from './json/object.ts';
import { LossReport } from './losses/losses.ts';
import { finish } from './steps.ts';

/** They name state that OpenAI keeps of one client. The gateway checks them in requests of the Responses API alone. */
const KEPT = ['previous_response_id', 'conversation', 'prompt', 'background'];

/** How each API's parameters are read: as a body without content. */
const APIS: Readonly<Record<ParameterApi, { readonly format: FormatName; readonly content: readonly string[] }>> = {
  chat: { format: 'openai-chat', content: ['messages'] },
  messages: { format: 'anthropic-messages', content: ['messages', 'system'] },
  responses: { format: 'openai-responses', content: ['input', 'instructions', ...KEPT] },
  gemini: { format: 'gemini', content: ['contents', 'systemInstruction', 'system_instruction'] },
};

const NO_CONTENT: JsonObject = { model: '', messages: [], input: [], contents: [] };

/** Fields of bodies of each API. */
type ByApi = ReadonlyMap<ParameterApi, Readonly<JsonObject>>;

/** The parameters of a config that are written for one API, which is not that of the request. */
interface ReadParams {
  readonly format: Format;
  readonly params: JsonObject;
  readonly conversation: Conversation;
  readonly extras: JsonObject;
  readonly losses: readonly Loss[];
}

/** The parameters of a config that are written for other APIs than that of the request, in words that every format reads. */
export class ConfigParams {
  readonly #all: readonly ReadParams[];

  /** Throws RequestFault for a value that its own API does not have. */
  constructor(byApi: ByApi) {
    this.#all = [...byApi].map(([api, params]) => readParams(api, params));
  }

  /** As the config writes them. */
  get fields(): JsonObject {
    return Object.assign({}, ...this.#all.map(({ params }) => params)) as JsonObject;
  }

  get changesThinking(): boolean {
    return this.#all.some(({ conversation }) => conversation.reasoning !== undefined);
  }

  /** The conversation with the parameters in place of its own. Turns stay the same objects. */
  merge(conversation: Conversation): Conversation {
    return this.#all.reduce(merged, conversation);
  }

  /** The client's format, whose losses and faults name these parameters as the config writes them. */
  named(client: Format): Format {
    return { ...client, clientPaths: (place) => this.#nameOf(place) ?? client.clientPaths(place) };
  }

  /** The request of another format with what these parameters alone mean to it. Throws RequestFault. */
  complete(encoded: EncodedRequest, upstream: Format, target: RequestTarget): EncodedRequest {
    const body = { ...encoded.body };
    let headers = encoded.headers;
    const losses = [...encoded.losses];
    for (const one of this.#all) {
      const patch = this.#extrasPatch(one, upstream, target);
      for (const { path, value } of patch.changes) setAt(body, path, value);
      headers = joined(headers, patch.headers);
      losses.push(...one.losses, ...patch.losses);
    }
    return { ...encoded, body, losses, ...(headers && { headers }) };
  }

  /**
   * The changes that these parameters make to a body of the target's own format. Undefined: the answer has to be translated too.
   * Throws RequestFault.
   * @param conversation of the body
   */
  patch(conversation: Conversation, upstream: Format, target: RequestTarget): Patch | undefined {
    const encode = (from: Conversation): EncodedRequest => this.#encode(from, upstream, target);
    let before = encode(conversation);
    let all: Patch = NO_PATCH;
    for (const one of this.#all) {
      conversation = merged(conversation, one);
      const after = encode(conversation);
      if (!isDeepStrictEqual(before.reply, after.reply)) return undefined;
      const patch = this.#difference(before, after);
      const extras = this.#extrasPatch(one, upstream, target);
      all = {
        changes: [...all.changes, ...patch.changes, ...extras.changes],
        headers: joined(joined(all.headers, patch.headers), extras.headers),
        losses: [...all.losses, ...one.losses, ...patch.losses, ...extras.losses],
      };
      before = after;
    }
    return all;
  }

  #encode(from: Conversation, upstream: Format, target: RequestTarget): EncodedRequest {
    try {
      return finish(upstream.encodeRequest(from, target, NO_REPLY));
    } catch (error) {
      const name = error instanceof RequestFault && error.param !== null ? this.#nameOf(error.param)?.[0] : undefined;
      throw error instanceof RequestFault && name !== undefined
        ? new RequestFault(error.code, error.message, name)
        : error;
    }
  }

  /** The effect of fields that the conversation has no place for. */
  #extrasPatch({ format, extras }: ReadParams, upstream: Format, target: RequestTarget): Patch {
    const losses = new LossReport();
    const kept = format.name === upstream.name ? takenExtras(extras, target, losses) : extras;
    const stub: Conversation = { model: target.model, turns: HELLO, sampling: {}, maxTokens: 4096, stream: false };
    const encode = (from: Conversation): EncodedRequest => finish(upstream.encodeRequest(from, target, NO_REPLY));
    const patch =
      Object.keys(kept).length > 0
        ? this.#difference(encode(stub), encode({ ...stub, extras: kept, extrasFormat: format.name }))
        : NO_PATCH;
    return { ...patch, losses: [...losses.list(), ...patch.losses] };
  }

  #difference(before: EncodedRequest, after: EncodedRequest): Patch {
    const known = new Set(before.losses.map(keyOf));
    const headers = Object.entries(after.headers ?? {}).filter(([name, value]) => before.headers?.[name] !== value);
    return {
      changes: changesBetween(before.body, after.body),
      headers: headers.length > 0 ? Object.fromEntries(headers) : undefined,
      losses: after.losses
        .filter((loss) => !known.has(keyOf(loss)))
        .map((loss) => ({ ...loss, param: this.#nameOf(loss.param)?.[0] ?? loss.param })),
    };
  }

  /** The name that the config writes; undefined: the place is none of these parameters. */
  #nameOf(place: string): readonly string[] | undefined {
    for (const { format, params } of this.#all) {
      const spellings = format.clientPaths(place);
      const found = (spellings.length > 0 ? spellings : [place]).filter((path) => hasPath(params, path));
      if (found.length > 0) return found;
    }
    return undefined;
  }
}

/** The changes that parameters make to a request. */
interface Patch {
  readonly changes: readonly FittedChange[];
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly losses: readonly Loss[];
}

export interface FittedChange {
  readonly path: readonly string[];
  readonly value: unknown;
  /** Items to be added to a list, of which `value` has all. */
  readonly added?: readonly unknown[];
}

const NO_PATCH: Patch = { changes: [], headers: undefined, losses: [] };
const NO_REPLY = { model: '', newCallId: () => 'call_0' };
const HELLO = [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'hi' }] }];

function readParams(api: ParameterApi, params: JsonObject): ReadParams {
  const { format: name, content } = APIS[api];
  const format = formats[name];
  const losses = new LossReport();
  for (const field of Object.keys(params)) {
    if (content.includes(field)) losses.dropped(field, 'a config sets content only in requests of its own API');
    if (field === 'reasoning' && hasPath(params, 'reasoning.summary'))
      losses.dropped('reasoning.summary', 'clients of the Responses API alone read summaries');
    if (field === 'stream_options') losses.dropped(field, 'only streams of chat completions have it');
  }
  const conversation = format.decodeRequest({ ...NO_CONTENT, ...rest(params, content) });
  const { extras = {}, unread = [] } = conversation;
  for (const loss of unread) losses.add(loss);
  return { format, params, conversation, extras: rest(extras, Object.keys(NO_CONTENT)) ?? {}, losses: losses.list() };
}

/** Members of a conversation that are no parameters, or merge in another way. */
const UNMERGED = [
  'model',
  'turns',
  'stream',
  'extras',
  'extrasFormat',
  'unread',
  'sampling',
  'reasoning',
  'labels',
  'metadata',
];

function merged(into: Conversation, { format, conversation: from }: ReadParams): Conversation {
  const both = (key: 'labels' | 'metadata') => from[key] && { [key]: { ...into[key], ...from[key] } };
  const { reasoning } = from;
  return {
    ...into,
    ...rest({ ...from }, UNMERGED),
    ...both('labels'),
    ...both('metadata'),
    sampling: { ...into.sampling, ...from.sampling },
    ...(reasoning && {
      reasoning: {
        ...(into.reasoning?.summary && { summary: true }),
        ...reasoning,
        ...(reasoning.effort !== undefined && { effortOf: format.name }),
      },
    }),
  };
}

/** Fields of the target's own API, without those that its host does not have. */
function takenExtras(extras: JsonObject, { host }: RequestTarget, losses: LossReport): JsonObject {
  const refused = TARGET_FIELDS.filter(({ at }) => host === 'vertex' && at.vertex !== 'send').map(({ field }) => field);
  const left = refused.filter((field) => Object.hasOwn(extras, field));
  for (const field of left) losses.dropped(field, 'this host has no such field');
  return rest(extras, left) ?? {};
}

/** The changes of leaves that make one object of the other. */
function changesBetween(before: JsonObject, after: JsonObject, at: readonly string[] = []): readonly FittedChange[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key): readonly FittedChange[] => {
    const [was, value] = [before[key], after[key]];
    if (isDeepStrictEqual(was, value)) return [];
    const path = [...at, key];
    if (isObject(value) && Object.keys(value).length > 0 && (was === undefined || isObject(was)))
      return changesBetween(was ?? {}, value, path);
    if (!Array.isArray(was) || !Array.isArray(value)) return [{ path, value }];
    const isLonger = was.every((item, index) => isDeepStrictEqual(item, value[index]));
    return [{ path, value, ...(isLonger && { added: value.slice(was.length) }) }];
  });
}

function setAt(body: JsonObject, [key = '', ...inner]: readonly string[], value: unknown): void {
  if (inner.length > 0) {
    const copy = { ...(isObject(body[key]) ? body[key] : {}) };
    setAt(copy, inner, value);
    absorb(body, { [key]: copy });
  } else if (value === undefined) delete body[key];
  else absorb(body, { [key]: value });
}

const keyOf = ({ param, action, reason }: Loss): string => `${action} ${param} ${reason}`;

function joined(one: Patch['headers'], other: Patch['headers']): Patch['headers'] {
  return one && other ? { ...one, ...other } : (one ?? other);
}

function hasPath(value: unknown, path: string): boolean {
  let at = value;
  for (const key of path.split('[', 1)[0]!.split('.')) {
    if (!isObject(at)) return at !== undefined;
    if (!Object.hasOwn(at, key)) return false;
    at = at[key];
  }
  return true;
}
