import type {
  JsonObject,
  McpCallPart,
  McpResultPart,
  MediaPart,
  Part,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../conversation.ts';
import { ENVELOPE } from '../envelope.ts';
import { RequestFault } from '../faults.ts';
import type { RequestTarget } from '../request-target.ts';
import { isObject, stringOf } from '../json/object.ts';
import type { LossReport } from '../losses/losses.ts';
import { isOfScope, isOpenAi, OTHER_ACCOUNT, type Maker } from '../maker.ts';
import { BodyPlace } from '../losses/place.ts';
import { messagesOf } from '../losses/places.ts';
import { extensionOf, toDataUri } from '../media/media-types.ts';
import { isGoogleFile, refuseForeignFile } from '../media/foreign-files.ts';
import { loseOpaque } from '../opaque-parts.ts';
import { mcpFields, ownMcpId } from './mcp-items.ts';

/** Turns → items (docs/protocols/openai-responses.md#items). */
export function encodeItems(
  turns: readonly Turn[],
  losses: LossReport,
  target: Pick<RequestTarget, 'signatureScope'>,
): JsonObject[] {
  const encoder = new ItemEncoder(losses, target.signatureScope);
  let at = 0;
  for (const turn of turns) {
    encoder.turn(turn, at);
    at += messagesOf(turn);
  }
  return encoder.items;
}

class ItemEncoder {
  readonly items: JsonObject[] = [];
  readonly #losses: LossReport;
  readonly #scope: string | undefined;
  /** Calls of free-text tools, whose results have a type of their own. */
  readonly #custom = new Set<string>();
  /** Items of calls to MCP servers, by the ids of the calls. */
  readonly #servers = new Map<string, { readonly part: McpCallPart; readonly item: JsonObject }>();

  constructor(losses: LossReport, scope: string | undefined) {
    this.#losses = losses;
    this.#scope = scope;
  }

  turn(turn: Turn, at: number): void {
    const path = BodyPlace.item('messages', at);
    if (turn.name !== undefined)
      this.#losses.dropped(BodyPlace.field(path, 'name'), 'the Responses API has no participant names');
    if (turn.role === 'tool')
      return turn.parts.forEach((part, index) => this.#result(part, BodyPlace.item('messages', at + index)));
    if (turn.role === 'assistant') return this.#assistant(turn.parts, path);
    const role = turn.role === 'system' ? 'developer' : 'user';
    const content: JsonObject[] = [];
    for (const [index, part] of turn.parts.entries()) {
      const here = BodyPlace.itemOf(path, 'content', index);
      if (part.type === 'tool_result') this.#result(part, here);
      else if (part.type === 'opaque' && part.format === 'openai-responses' && isItem(part.value))
        this.items.push(part.value);
      else {
        const input = this.#input(part, here, turn.role);
        if (input) content.push(input);
      }
    }
    if (content.length === 0 && turn.parts.length > 0) return;
    this.items.push({ type: 'message', role, content: plainText(content) ?? content });
  }

  #assistant(parts: readonly Part[], path: BodyPlace): void {
    const from = this.items.length;
    let calls = 0;
    let message: { readonly phase: string | undefined; readonly content: JsonObject[] } | undefined;
    for (const [index, part] of parts.entries()) {
      const isCall = part.type === 'tool_call';
      const here = isCall ? BodyPlace.itemOf(path, 'tool_calls', calls++) : BodyPlace.itemOf(path, 'content', index);
      if (part.type === 'text' || part.type === 'refusal') {
        const phase = part.type === 'text' ? part.phase : undefined;
        if (part.text === '') continue;
        if (!message || message.phase !== phase) {
          message = { phase, content: [] };
          this.items.push({ type: 'message', role: 'assistant', ...(phase && { phase }), content: message.content });
        }
        message.content.push(this.#said(part, here));
        continue;
      }
      const item = isCall ? this.#call(part, here) : this.#spoken(part, here);
      if (!item) continue;
      message = undefined;
      this.items.push(item);
    }
    // OpenAI refuses reasoning without an item after it.
    while (this.items.length > from && this.items.at(-1)?.type === 'reasoning') {
      this.items.pop();
      this.#losses.dropped(path, 'reasoning without an answer after it');
    }
  }

  #said(part: Extract<Part, { type: 'text' | 'refusal' }>, path: BodyPlace): JsonObject {
    if (part.type === 'refusal') return { type: 'refusal', refusal: part.text };
    if (part.signature) this.#losses.dropped(BodyPlace.field(path, 'signature'), FOREIGN);
    return { type: 'output_text', text: part.text };
  }

  #spoken(part: Part, path: BodyPlace): JsonObject | undefined {
    switch (part.type) {
      case 'thinking':
        return part.shown ? undefined : this.#reasoning(part.text, part.signature, part.maker, path);
      case 'redacted_thinking':
        return this.#reasoning('', part.data, part.maker, path);
      case 'opaque':
        if (part.format === 'openai-responses' && isItem(part.value)) return part.value;
        // The provider has the list already, or asks the server for it.
        if (part.value.type !== 'mcp_tool_listing') this.#losses.dropped(path, `Only ${part.format} has this part.`);
        return undefined;
      case 'mcp_call':
        return this.#mcpCall(part);
      case 'mcp_result':
        return this.#mcpResult(part, path);
      case 'code':
      case 'code_result': {
        this.#losses.downgraded(path, 'Code that another provider ran is sent as text.');
        const text = part.type === 'code' ? part.code : part.output;
        return {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: `\`\`\`\n${text}\n\`\`\`` }],
        };
      }
      default:
        return this.#losses.dropped(path, `The Responses API cannot take ${part.type} back in an answer.`);
    }
  }

  /** @param encrypted by the account of `maker`; only that account reads it */
  #reasoning(
    text: string,
    encrypted: string | undefined,
    maker: Maker | undefined,
    path: BodyPlace,
  ): JsonObject | undefined {
    const isEncrypted = encrypted !== undefined && !encrypted.startsWith(ENVELOPE) && isOpenAi(maker);
    if (isEncrypted && isOfScope(maker, this.#scope))
      return {
        type: 'reasoning',
        summary: text === '' ? [] : [{ type: 'summary_text', text }],
        encrypted_content: encrypted,
      };
    return this.#losses.dropped(path, isEncrypted ? OTHER_ACCOUNT : 'the thinking of another provider');
  }

  #mcpCall(part: McpCallPart): JsonObject {
    const item: JsonObject = { id: ownMcpId(part.id), ...mcpFields(part, undefined) };
    this.#servers.set(part.id, { part, item });
    return item;
  }

  /** Joins the item of its call. */
  #mcpResult(result: McpResultPart, path: BodyPlace): undefined {
    const call = this.#servers.get(result.callId);
    if (call) Object.assign(call.item, mcpFields(call.part, result));
    else this.#losses.dropped(path, 'the result of no call');
  }

  #call(part: ToolCallPart, path: BodyPlace): JsonObject {
    const { id: call_id, name, namespace } = part;
    if (part.signature) this.#losses.dropped(BodyPlace.field(path, 'function.thought_signature'), FOREIGN);
    if (part.cache) this.#losses.dropped(BodyPlace.field(path, 'cache_control'), NO_MARKERS);
    const of = { call_id, name, ...(namespace !== undefined && { namespace }) };
    if (!part.custom) return { type: 'function_call', ...of, arguments: part.arguments || '{}' };
    this.#custom.add(call_id);
    return { type: 'custom_tool_call', ...of, input: part.arguments };
  }

  #result(part: Part, path: BodyPlace): void {
    if (part.type !== 'tool_result')
      return this.#losses.dropped(path, `The Responses API has no ${part.type} among results.`);
    if (part.cache) this.#losses.dropped(BodyPlace.field(path, 'cache_control'), NO_MARKERS);
    const type = this.#custom.has(part.callId) ? 'custom_tool_call_output' : 'function_call_output';
    this.items.push({ type, call_id: part.callId, output: this.#output(part, path) });
  }

  #output(result: ToolResultPart, path: BodyPlace): string | JsonObject[] {
    const parts: JsonObject[] = [];
    for (const [index, part] of result.content.entries()) {
      const input = this.#input(part, BodyPlace.itemOf(path, 'content', index), 'tool');
      if (input) parts.push(input);
    }
    if (result.isError) {
      this.#losses.downgraded(
        BodyPlace.field(path, 'is_error'),
        'The Responses API has no failed results: the text begins with "Error: ".',
      );
      const text = parts[0]?.type === 'input_text' ? stringOf(parts.shift()?.text) : '';
      parts.unshift({ type: 'input_text', text: `Error: ${text ?? ''}` });
    }
    if (parts.length === 0) return '';
    const texts = parts.map(({ type, text }) => (type === 'input_text' ? stringOf(text) : undefined));
    return texts.includes(undefined) ? parts : texts.join('\n');
  }

  /** A part of a user's or system message, or of a result. */
  #input(part: Part, path: BodyPlace, role: Turn['role']): JsonObject | undefined {
    switch (part.type) {
      case 'text':
        if (part.signature) this.#losses.dropped(BodyPlace.field(path, 'signature'), FOREIGN);
        if (part.cache) this.#losses.dropped(BodyPlace.field(path, 'cache_control'), NO_MARKERS);
        return { type: 'input_text', text: part.text };
      case 'media':
        if (part.cache) this.#losses.dropped(BodyPlace.field(path, 'cache_control'), NO_MARKERS);
        return this.#media(part, path);
      case 'opaque':
        return part.format === 'openai-responses' ? part.value : loseOpaque(part, path, role, this.#losses);
      default:
        return this.#losses.unreadable(path, `the Responses API has no ${part.type} part here`);
    }
  }

  #media(part: MediaPart, path: BodyPlace): JsonObject {
    const { source, media, mime, name, detail } = part;
    if (source.kind === 'text') return { type: 'input_text', text: source.text };
    if (source.kind === 'file') refuseForeignFile(source.id, path);
    else if (source.kind === 'url') refuseUnfetched(source.url, path);
    if (media === 'audio' || media === 'video')
      throw new RequestFault('invalid_value', `\`${String(path)}\`: the Responses API takes no ${media}.`, path);
    if (detail && media !== 'image')
      this.#losses.dropped(BodyPlace.field(path, 'detail'), 'Only images have a level of detail.');
    if (media === 'image') {
      if (name) this.#losses.dropped(BodyPlace.field(path, 'filename'), 'Only file parts have a name.');
      const at = source.kind === 'file' ? { file_id: source.id } : { image_url: urlOf(source, mime ?? 'image/png') };
      return { type: 'input_image', ...at, detail: detail ?? 'auto' };
    }
    if (source.kind === 'file') return { type: 'input_file', file_id: source.id };
    if (source.kind === 'url') return { type: 'input_file', file_url: source.url };
    const type = mime ?? 'application/pdf';
    // OpenAI refuses `file_data` without a name.
    return { type: 'input_file', filename: name ?? `file${extensionOf(type) ?? ''}`, file_data: urlOf(source, type) };
  }
}

/** The API fetches by http alone. */
function refuseUnfetched(url: string, path: BodyPlace): void {
  if (/^https?:/i.test(url) && !isGoogleFile(url)) return;
  const reads = 'the Responses API reads media by https or as data';
  throw new RequestFault('invalid_value', `\`${String(path)}\`: ${reads}.`, path);
}

const urlOf = (source: Extract<MediaPart['source'], { kind: 'data' | 'url' }>, mime: string): string =>
  source.kind === 'url' ? source.url : toDataUri(mime, source.data);

const FOREIGN = 'the signature of another provider';
const NO_MARKERS = 'the Responses API has no cache markers';

/** An item of `input`, not a part of a message. */
const isItem = (value: JsonObject): boolean => isObject(value) && !/^(?:input|output)_/.test(String(value.type));

function plainText(content: readonly JsonObject[]): string | undefined {
  if (content.length === 0) return '';
  const [only] = content;
  return content.length === 1 && only?.type === 'input_text' ? stringOf(only.text) : undefined;
}
