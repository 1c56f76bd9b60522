import type { JsonObject, Part, ToolCallPart } from '../conversation.ts';
import type { GenerationEvent } from '../events.ts';
import type { ClientContext } from '../format.ts';
import { compact } from '../json/object.ts';
import { makerOf, tagOf } from '../maker.ts';

/**
 * Tool calls of a reply (docs/protocols/openai-chat.md#tool-calls, docs/protocols/openai-chat.md#stream), whole and in
 * fragments. A call that arrives as the deprecated `function_call` is sent as one: a client that sent `functions` reads
 * no other form. The forms differ only in the field name and the position of the arguments.
 */
type Start = Extract<GenerationEvent, { type: 'tool_call' }>;
type Form = 'function' | 'custom' | 'legacy';

type Client = Pick<ClientContext, 'strict' | 'functionCalls'>;

/** A message has at most one deprecated call. Further calls are sent in the newer form, so that they are not lost. */
function formOf({ custom, legacy }: { custom?: boolean; legacy?: boolean }, first: boolean, client: Client): Form {
  if (custom) return 'custom';
  return first && (legacy || client.functionCalls) ? 'legacy' : 'function';
}

export function hasLegacy([first]: readonly ToolCallPart[], client: Client): boolean {
  return first !== undefined && formOf(first, true, client) === 'legacy';
}

export function callsOf(parts: readonly Part[]): readonly ToolCallPart[] {
  return parts.some(isCall) ? parts.filter(isCall) : NO_CALLS;
}

const NO_CALLS: readonly never[] = [];

const isCall = (part: Part): part is ToolCallPart => part.type === 'tool_call';

/** The fields of a plain message that hold its calls. */
export function encodeCalls(calls: readonly ToolCallPart[], client: Client): JsonObject {
  const old = hasLegacy(calls, client) ? calls[0] : undefined;
  const listed = (old ? calls.slice(1) : calls).map((call) => encodeCall(call, client.strict));
  return compact({
    tool_calls: listed.length > 0 ? listed : undefined,
    function_call: old && { name: old.name, arguments: old.arguments || '{}' },
  });
}

function encodeCall(part: ToolCallPart, strict: boolean): JsonObject {
  const { id, name, custom } = part;
  const { inside, beside } = strict ? {} : callSignatureFields(part);
  if (custom) return { id, type: 'custom', custom: { name, input: part.arguments, ...inside }, ...beside };
  // Clients parse the arguments, so missing arguments become the empty object.
  return { id, type: 'function', function: { name, arguments: part.arguments || '{}', ...inside }, ...beside };
}

/**
 * Writes the signature in this gateway's field and in that of Google's OpenAI endpoint
 * (docs/protocols/replies.md#thought-signatures): some clients (@ai-sdk/openai-compatible) return only the latter.
 */
function callSignatureFields(call: Pick<ToolCallPart, 'type' | 'signature' | 'maker'>): SignatureFields {
  const { signature: thought_signature } = call;
  if (thought_signature === undefined) return {};
  if (makerOf(call) !== 'gemini') return { inside: { thought_signature, ...tagOf(call) } };
  return { inside: { thought_signature }, beside: { extra_content: { google: { thought_signature } } } };
}

interface SignatureFields {
  readonly inside?: JsonObject;
  readonly beside?: JsonObject;
}

interface CallState {
  readonly form: Form;
  readonly index: number;
  empty: boolean;
}

/** Writes the deltas of one choice's calls as JSON text. Indexes count its calls, not the provider's blocks. */
export class CallWriter {
  readonly #client: Client;
  readonly #calls = new Map<number, CallState>();
  #listed = 0;

  constructor(client: Client) {
    this.#client = client;
  }

  get any(): boolean {
    return this.#calls.size > 0;
  }

  get legacy(): boolean {
    return this.#calls.values().next().value?.form === 'legacy';
  }

  start(event: Start): string {
    const form = formOf(event, !this.any, this.#client);
    const index = form === 'legacy' ? 0 : this.#listed++;
    this.#calls.set(event.call, { form, index, empty: true });
    const { id, name } = event;
    if (form === 'legacy') return JSON.stringify({ function_call: { name, arguments: '' } });
    const { inside, beside } = this.#client.strict ? {} : callSignatureFields(event);
    const field = form === 'custom' ? 'input' : 'arguments';
    const body = { name, [field]: '', ...inside };
    return JSON.stringify({ tool_calls: [{ index, id, type: form, [form]: body, ...beside }] });
  }

  /** The hot path of calls. Returns undefined when there is nothing to send. */
  arguments(call: number, text: string): string | undefined {
    const state = this.#calls.get(call);
    if (!state || text === '') return undefined;
    state.empty = false;
    return fragment(state, text);
  }

  /** Clients parse the arguments: a call without any gets the empty object, as in the plain reply. */
  close(): string[] {
    return [...this.#calls.values()]
      .filter((call) => call.empty && call.form !== 'custom')
      .map((call) => fragment(call, '{}'));
  }
}

function fragment({ form, index }: CallState, text: string): string {
  const json = JSON.stringify(text);
  if (form === 'legacy') return `{"function_call":{"arguments":${json}}}`;
  const field = form === 'custom' ? '"custom":{"input"' : '"function":{"arguments"';
  return `{"tool_calls":[{"index":${index},${field}:${json}}}]}`;
}
