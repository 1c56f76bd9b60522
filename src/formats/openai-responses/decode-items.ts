import type { JsonObject, Part, Tool, ToolCallPart, ToolResultPart, Turn } from '../conversation.ts';
import { ENVELOPE, readEnvelope, readSummary, type Envelope } from '../envelope.ts';
import { RequestFault } from '../faults.ts';
import { compact, isObject, objectOf, stringOf } from '../json/object.ts';
import type { Origins } from '../losses/origins.ts';
import { LossReport } from '../losses/losses.ts';
import { BodyPlace } from '../losses/place.ts';
import { COMPACTION_TRIGGER } from './compaction-item.ts';
import { decodeContent } from './decode-content.ts';
import { hostedParts } from './decode-hosted.ts';
import { decodeTools, TOOL_SEARCH } from './decode-tools.ts';
import { invalid, listAt, objectAt, textAt } from './read.ts';

type Signature = Extract<Envelope, { kind: 'signature' }>;

const CONFIGURED = ['reasoning', 'text'] as const;
type Configured = (typeof CONFIGURED)[number];

/** Items of `input` → turns (docs/protocols/openai-responses.md#items). */
export class ItemDecoder {
  readonly turns: Turn[] = [];
  /** Tools that items declare. */
  readonly tools: Tool[] = [];
  /** Fields of the body that items change from their place on. */
  readonly configured: { [K in Configured]?: { readonly value: JsonObject; readonly place: BodyPlace } } = {};
  readonly losses = new LossReport();
  readonly #origins: Origins | undefined;
  /** The parts of the turn under way: a run of one role is one turn. */
  #open: { readonly role: 'assistant' | 'tool'; readonly parts: Part[]; readonly path: BodyPlace } | undefined;
  /** Calls without a result yet, with their places. */
  readonly #calls = new Map<string, BodyPlace>();
  /** All ids of calls: a result may come twice, but not without its call. */
  readonly #called = new Set<string>();
  /** Outputs of opaque calls that wait for the results of other calls. */
  #held: (readonly [part: Part, path: BodyPlace])[] = [];
  /** The signature of the next part. */
  #signature: Signature | undefined;

  constructor(origins: Origins | undefined) {
    this.#origins = origins;
  }

  decode(input: unknown): void {
    if (typeof input === 'string') this.#turn('user', decodeContent(input, 'input', this.#origins), 'input');
    else {
      const list = listAt(input, 'input');
      list.forEach((item, at) => {
        const path = BodyPlace.item('input', at);
        const read = objectAt(item, path);
        if (read.type !== COMPACTION_TRIGGER) this.#item(read, path);
        else if (at < list.length - 1) throw invalid(path, 'must be the last item of `input`');
      });
    }
    this.#close();
    this.#release();
  }

  #item(item: JsonObject, path: BodyPlace): void {
    const type = stringOf(item.type) ?? (item.role === undefined ? 'item_reference' : 'message');
    switch (type) {
      case 'message':
        return this.#message(item, path);
      case 'reasoning':
        return this.#reasoning(item, path);
      case 'function_call':
      case 'custom_tool_call':
        return this.#call(item, path, type === 'custom_tool_call');
      case 'tool_search_call':
        return item.execution === 'server' ? this.#opaque(item, path) : this.#search(item, path);
      case 'function_call_output':
      case 'custom_tool_call_output':
        return this.#result(item, path, decodeContent(item.output, BodyPlace.field(path, 'output'), this.#origins));
      case 'tool_search_output':
        return this.#found(item, path);
      case 'additional_tools':
        return this.#declare(item.tools, path);
      case 'image_generation_call':
      case 'code_interpreter_call':
      case 'mcp_call':
        return this.#hosted(item, path);
      case 'compaction':
        return this.#compaction(item, path);
      case 'item_reference':
        return this.#reference(item, path);
      case 'configuration_update':
        return this.#configure(item, path);
      default:
        return this.#opaque(item, path);
    }
  }

  /** Other APIs have one configuration for a request: the last one. */
  #configure(item: JsonObject, path: BodyPlace): void {
    for (const field of CONFIGURED) {
      const value = objectOf(item[field]);
      if (!value) continue;
      const place = BodyPlace.field(path, field);
      const before = this.configured[field];
      if (before) this.losses.dropped(before.place, 'a later `configuration_update` replaces it');
      this.configured[field] = { value, place };
    }
  }

  /** The plugin `responses` has put items in place of the references that it knows. An answer is complete without its reasoning. */
  #reference(item: JsonObject, path: BodyPlace): void {
    if (stringOf(item.id)?.startsWith('rs_') !== true) throw notStored(item, path);
    this.losses.dropped(path, 'the gateway does not keep this reasoning');
  }

  #message(item: JsonObject, path: BodyPlace): void {
    const parts = decodeContent(item.content, BodyPlace.field(path, 'content'), this.#origins);
    switch (item.role) {
      case 'assistant':
        for (const part of parts) this.#say(part.type === 'text' ? this.#placed(part, item) : part, path);
        return;
      case 'system':
      case 'developer':
        return this.#turn('system', parts, path);
      case 'user':
        return this.#turn('user', parts, path);
      default:
        throw invalid(BodyPlace.field(path, 'role'), 'must be one of user, system, developer, assistant');
    }
  }

  #placed(part: Extract<Part, { type: 'text' }>, item: JsonObject): Part {
    const placed = compact({ ...part, phase: stringOf(item.phase), itemId: stringOf(item.id) });
    this.#origins?.carry(part, placed);
    return placed;
  }

  #reasoning(item: JsonObject, path: BodyPlace): void {
    const text = textsOf(item.summary) || textsOf(item.content);
    const encrypted = stringOf(item.encrypted_content);
    if (encrypted === undefined || encrypted === '') {
      if (text !== '') this.#part({ type: 'thinking', text, unnamed: true }, path);
      return;
    }
    if (!encrypted.startsWith(ENVELOPE)) {
      const itemId = stringOf(item.id);
      const by = { signature: encrypted, maker: 'openai' as const };
      return this.#part(compact({ type: 'thinking' as const, text, ...by, itemId }), path);
    }
    const envelope = readEnvelope(encrypted);
    switch (envelope?.kind) {
      case 'thinking': {
        const { maker, signature } = envelope;
        return this.#part({ type: 'thinking', text: envelope.text ?? text, signature, maker }, path);
      }
      case 'redacted':
        return this.#part({ type: 'redacted_thinking', data: envelope.data, maker: envelope.maker }, path);
      case 'signature':
        if (!this.#signPrevious(envelope)) this.#signature = envelope;
        return;
      default:
        this.losses.dropped(path, 'a signature that the gateway cannot read');
    }
  }

  /** A text is signed at its end, so the signature follows it. */
  #signPrevious({ of, signature, maker }: Signature): boolean {
    const parts = this.#open?.role === 'assistant' ? this.#open.parts : [];
    const last = parts.at(-1);
    if (of !== 'text' || last?.type !== 'text' || last.signature !== undefined) return false;
    const signed: Part = { ...last, signature, maker };
    this.#origins?.carry(last, signed);
    parts[parts.length - 1] = signed;
    return true;
  }

  /** A part of the assistant's answer, with the signature that came before it. */
  #say(part: Part, path: BodyPlace): void {
    const { type } = part;
    const kind = type === 'tool_call' ? 'call' : type === 'media' ? 'picture' : 'text';
    if (this.#signature?.of !== kind || !(type === 'tool_call' || type === 'media' || type === 'text'))
      return this.#part(part, path);
    const { signature, maker } = this.#signature;
    this.#signature = undefined;
    const signed = { ...part, signature, maker };
    this.#origins?.carry(part, signed);
    this.#part(signed, path);
  }

  #call(item: JsonObject, path: BodyPlace, custom: boolean): void {
    const args = item[custom ? 'input' : 'arguments'];
    this.#noteCall(
      compact({
        type: 'tool_call' as const,
        id: textAt(item, path, 'call_id'),
        name: textAt(item, path, 'name'),
        namespace: stringOf(item.namespace),
        arguments: typeof args === 'string' ? args : textAt(item, path, custom ? 'input' : 'arguments'),
        custom: custom || undefined,
        itemId: stringOf(item.id),
      }),
      path,
    );
  }

  #search(item: JsonObject, path: BodyPlace): void {
    const given = item.arguments;
    const args = typeof given === 'string' ? given : JSON.stringify(given ?? {});
    this.#noteCall({ type: 'tool_call', id: textAt(item, path, 'call_id'), name: TOOL_SEARCH, arguments: args }, path);
  }

  #noteCall(call: ToolCallPart, path: BodyPlace): void {
    this.#origins?.note(call, path);
    this.#say(call, path);
    this.#calls.set(call.id, path);
    this.#called.add(call.id);
  }

  #result(item: JsonObject, path: BodyPlace, content: readonly Part[]): void {
    const callId = textAt(item, path, 'call_id');
    if (!this.#called.has(callId))
      throw invalid(BodyPlace.field(path, 'call_id'), 'names no call before it in `input`');
    this.#calls.delete(callId);
    const part: ToolResultPart = { type: 'tool_result', callId, content };
    this.#origins?.note(part, path);
    this.#append('tool', part, path);
    if (this.#calls.size === 0) this.#release();
  }

  /** The tools that the client found. The model gets their names as the result of its call. */
  #found(item: JsonObject, path: BodyPlace): void {
    this.#declare(item.tools, path);
    if (item.execution === 'server' || stringOf(item.call_id) === undefined) return this.#opaque(item, path);
    const text = JSON.stringify({ tools: listAt(item.tools, BodyPlace.field(path, 'tools')).map(titleOf) });
    this.#result(item, path, [{ type: 'text', text }]);
  }

  #declare(tools: unknown, path: BodyPlace): void {
    for (const tool of decodeTools(tools, BodyPlace.field(path, 'tools'), this.#origins)) this.tools.push(tool);
  }

  #compaction(item: JsonObject, path: BodyPlace): void {
    const encrypted = textAt(item, path, 'encrypted_content');
    const summary = readSummary(encrypted);
    if (summary !== undefined) return this.#turn('user', [{ type: 'text', text: summary }], path);
    throw invalid(path, 'is a compaction of another provider, which this model cannot read');
  }

  /** Pictures, code runs and calls of MCP servers of an earlier answer. Another provider's model has made them, or the target's own. */
  #hosted(item: JsonObject, path: BodyPlace): void {
    const parts = hostedParts(item, path, this.losses);
    if (parts.length === 0) return this.#opaque(item, path);
    for (const part of parts) {
      this.#origins?.note(part, path);
      this.#say(part, path);
    }
  }

  #opaque(item: JsonObject, path: BodyPlace): void {
    const part: Part = { type: 'opaque', format: 'openai-responses', value: item };
    if (!stringOf(item.type)?.endsWith('_output')) return this.#part(part, path);
    this.#origins?.note(part, path);
    // Other APIs demand the results of a turn's calls before anything else.
    if (this.#calls.size > 0) this.#held.push([part, path]);
    else this.#turn('user', [part], path);
  }

  /** Outputs of opaque calls that came before those of other calls. */
  #release(): void {
    const held = this.#held;
    this.#held = [];
    for (const [part, path] of held) this.#turn('user', [part], path);
  }

  #part(part: Part, path: BodyPlace): void {
    this.#origins?.note(part, path);
    this.#append('assistant', part, path);
  }

  #append(role: 'assistant' | 'tool', part: Part, path: BodyPlace): void {
    if (this.#open?.role !== role) {
      this.#close();
      if (role === 'assistant') this.#demandResults();
      this.#open = { role, parts: [], path };
    }
    this.#open?.parts.push(part);
  }

  #turn(role: 'system' | 'user', parts: readonly Part[], path: BodyPlace | string): void {
    this.#close();
    if (role === 'user') this.#demandResults();
    const turn: Turn = { role, parts };
    this.#origins?.note(turn, path);
    this.turns.push(turn);
  }

  /** APIs refuse a call that is followed by another turn before its result. */
  #demandResults(): void {
    for (const [id, path] of this.#calls)
      throw invalid(path, `has no output: call ${JSON.stringify(id.slice(0, 100))}`);
  }

  #close(): void {
    if (!this.#open) return;
    const { role, parts, path } = this.#open;
    this.#open = undefined;
    const turn: Turn = { role, parts };
    this.#origins?.note(turn, path);
    this.turns.push(turn);
  }
}

function textsOf(parts: unknown): string {
  if (!Array.isArray(parts)) return '';
  return parts.map((part: unknown) => (isObject(part) ? (stringOf(part.text) ?? '') : '')).join('\n\n');
}

const titleOf = (tool: unknown): unknown => objectOf(tool)?.name;

function notStored(item: JsonObject, path: BodyPlace): RequestFault {
  return invalid(
    BodyPlace.field(path, 'id'),
    `names the item ${JSON.stringify((stringOf(item.id) ?? '').slice(0, 100))}, which the gateway does not keep: send the item ` +
      'itself (in the AI SDK: `providerOptions.openai.store = false`, or `openai.chat()`)',
  );
}
