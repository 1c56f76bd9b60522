import type { JsonObject, McpCallPart, McpResultPart } from '../conversation.ts';
import { jsonBytes, literalOf } from '../json/literal.ts';
import type { ItemWriter } from './item-writer.ts';
import { mcpFields } from './mcp-items.ts';
import type { ItemPlace, ResponseEvents } from './response-events.ts';

interface PlacedCall {
  readonly part: McpCallPart;
  readonly item: ItemPlace;
}

/**
 * Writes the items of tools that the provider runs, with the events by which clients follow them
 * (docs/protocols/openai-responses.md#stream). A call of an MCP server stays open until its result comes: others may begin meanwhile.
 */
export class ServedItems {
  readonly #stream: ResponseEvents | undefined;
  readonly #items: ItemWriter;
  readonly #open = new Map<string, PlacedCall>();

  constructor(stream: ResponseEvents | undefined, items: ItemWriter) {
    this.#stream = stream;
    this.#items = items;
  }

  /** @param item with its picture */
  picture(item: JsonObject): void {
    const placed = this.#items.place({ type: 'image_generation_call', status: 'in_progress', result: null });
    for (const step of ['in_progress', 'generating', 'completed'])
      this.#stream?.event(`image_generation_call.${step}`, placed.head);
    this.#items.fill(placed, item);
  }

  mcpCall(part: McpCallPart): void {
    this.#close(part.id);
    const item = this.#items.place(mcpFields({ ...part, arguments: '' }, undefined, 'in_progress'));
    this.#open.set(part.id, { part, item });
    this.#stream?.event('mcp_call.in_progress', item.head);
    if (part.arguments !== '') this.#stream?.delta('mcp_call_arguments.delta', item.head, literalOf(part.arguments));
    this.#stream?.event('mcp_call_arguments.done', `${item.head},"arguments":${jsonBytes(part.arguments)}`);
  }

  /** False for a result without its call. */
  mcpResult(result: McpResultPart): boolean {
    const open = this.#open.get(result.callId);
    if (!open) return false;
    this.#open.delete(result.callId);
    this.#stream?.event(`mcp_call.${result.isError ? 'failed' : 'completed'}`, open.item.head);
    this.#items.fill(open.item, mcpFields(open.part, result));
    return true;
  }

  /** Calls without a result, at the end of the answer. */
  end(): void {
    for (const id of this.#open.keys()) this.#close(id);
  }

  #close(id: string): void {
    const open = this.#open.get(id);
    if (!open) return;
    this.#open.delete(id);
    this.#items.fill(open.item, mcpFields(open.part, undefined));
  }
}
