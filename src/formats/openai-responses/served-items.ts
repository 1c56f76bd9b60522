import type { JsonObject, McpCallPart, McpResultPart } from '../conversation.ts';
import { jsonBytes, literalOf } from '../json/literal.ts';
import type { ItemWriter, PlacedItem } from './item-writer.ts';
import { mcpFields } from './mcp-items.ts';
import type { ResponseSink } from './response-sink.ts';

interface PlacedCall {
  readonly part: McpCallPart;
  readonly item: PlacedItem;
}

/**
 * Writes the items of tools that the provider runs, with the events by which clients follow them
 * (docs/protocols/openai-responses.md#stream). A call of an MCP server stays open until its result comes: others may begin meanwhile.
 */
export class ServedItems {
  readonly #sink: ResponseSink;
  readonly #items: ItemWriter;
  /** Most answers have no such call. */
  #open: Map<string, PlacedCall> | undefined;

  constructor(sink: ResponseSink, items: ItemWriter) {
    this.#sink = sink;
    this.#items = items;
  }

  /** @param item with its picture */
  picture(item: JsonObject): void {
    const placed = this.#items.place({ type: 'image_generation_call', status: 'in_progress', result: null });
    for (const step of ['in_progress', 'generating', 'completed'])
      this.#sink.event(`image_generation_call.${step}`, placed.head);
    this.#items.fill(placed, item);
  }

  mcpCall(part: McpCallPart): void {
    this.#close(part.id);
    const item = this.#items.place(mcpFields({ ...part, arguments: '' }, undefined, 'in_progress'));
    (this.#open ??= new Map<string, PlacedCall>()).set(part.id, { part, item });
    this.#sink.event('mcp_call.in_progress', item.head);
    if (part.arguments !== '') this.#sink.delta('mcp_call_arguments.delta', item.head, literalOf(part.arguments));
    this.#sink.event('mcp_call_arguments.done', `${item.head},"arguments":${jsonBytes(part.arguments)}`);
  }

  /** False for a result without its call. */
  mcpResult(result: McpResultPart): boolean {
    const open = this.#take(result.callId);
    if (!open) return false;
    this.#sink.event(`mcp_call.${result.isError ? 'failed' : 'completed'}`, open.item.head);
    this.#items.fill(open.item, mcpFields(open.part, result));
    return true;
  }

  /** Calls without a result, at the end of the answer. */
  end(): void {
    for (const id of this.#open?.keys() ?? []) this.#close(id);
  }

  #close(id: string): void {
    const open = this.#take(id);
    if (open) this.#items.fill(open.item, mcpFields(open.part, undefined));
  }

  #take(id: string): PlacedCall | undefined {
    const open = this.#open?.get(id);
    this.#open?.delete(id);
    return open;
  }
}
