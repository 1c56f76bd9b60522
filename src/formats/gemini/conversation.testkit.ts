import * as fc from 'fast-check';
import type { Conversation, JsonObject, Part, Tool, Turn } from '../conversation.ts';
import { toCarrier } from './schema.ts';
import { compact } from '../json/object.ts';

/**
 * Returns the form that a conversation has after the wire: adjacent turns of one role are one turn, unsigned empty text
 * is gone, media alone have a blank text, calls are numbered, code has no id (Vertex accepts none), and schemas are in
 * the wire's dialect. Both sides of a round trip are compared in this form; everything else must come back unchanged.
 */
export function canonical(conversation: Conversation): Conversation {
  const { responseFormat, tools } = conversation;
  const ids = new Map<string, string>();
  const turns = mergeTurns(conversation.turns).map((turn) => ({
    ...turn,
    parts: turn.parts.map((part) => numbered(part, ids)),
  }));
  return {
    ...conversation,
    turns,
    ...(tools && {
      tools: tools.map((tool) =>
        tool.type === 'function' ? { ...tool, ...schemaOf('parameters', tool.parameters) } : tool,
      ),
    }),
    ...(responseFormat?.type === 'json_schema' && {
      responseFormat: { ...responseFormat, ...schemaOf('schema', responseFormat.schema) },
    }),
  };
}

function schemaOf(name: string, schema: JsonObject | undefined): JsonObject {
  return { [name]: schema && toCarrier(schema).schema };
}

function mergeTurns(turns: readonly Turn[]): Turn[] {
  const merged: Turn[] = [];
  for (const turn of turns) {
    const parts = turn.parts.filter((part) => part.type !== 'text' || part.text !== '' || part.signature !== undefined);
    const last = merged.at(-1);
    if (parts.length === 0) continue;
    if (last?.role === turn.role) merged[merged.length - 1] = { ...last, parts: [...last.parts, ...parts] };
    else merged.push({ ...turn, parts });
  }
  // System text alone is sent as a user turn (docs/protocols/requests.md#system-text-for-gemini).
  if (merged.every(({ role }) => role === 'system')) return merged.map((turn) => ({ ...turn, role: 'user' }));
  return merged.map((turn) => (turn.role === 'user' ? { ...turn, parts: withBlank(turn.parts) } : turn));
}

function withBlank(parts: readonly Part[]): readonly Part[] {
  const needs = parts.some(({ type }) => type === 'media') && !parts.some(({ type }) => type === 'text');
  return needs ? [...parts, { type: 'text', text: ' ' }] : parts;
}

function numbered(part: Part, ids: Map<string, string>): Part {
  const number = (id: string) => ids.get(id) ?? ids.set(id, `n${ids.size}`).get(id)!;
  if (part.type === 'tool_call') return { ...part, id: number(part.id) };
  if (part.type === 'code' || part.type === 'code_result') {
    const { id: _, ...rest } = part;
    return rest;
  }
  return part.type === 'tool_result' ? { ...part, callId: number(part.callId) } : part;
}

const word = fc.string({ minLength: 1, maxLength: 10, unit: 'grapheme' });
const name = fc.stringMatching(/^[a-z][a-z0-9_]{2,8}x$/);
const signature = fc.option(fc.base64String({ minLength: 4, maxLength: 12 }), { nil: undefined });

const text: fc.Arbitrary<Part> = fc
  .record({ text: word, signature })
  .map((part) => compact({ type: 'text' as const, ...part }));
const media: fc.Arbitrary<Part> = fc.oneof(
  fc
    .base64String()
    .map((data): Part => ({ type: 'media', media: 'image', mime: 'image/png', source: { kind: 'data', data } })),
  fc.constant<Part>({
    type: 'media',
    media: 'document',
    mime: 'application/pdf',
    source: { kind: 'url', url: 'gs://b/a' },
  }),
);
const args = fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 });

/** Calls of one assistant turn and their results. */
const exchange: fc.Arbitrary<Turn[]> = fc
  .tuple(
    fc.array(text, { maxLength: 1 }),
    fc.array(fc.tuple(name, args, signature, word), { minLength: 1, maxLength: 3 }),
  )
  .map(([spoken, calls]): Turn[] => {
    const parts = calls.map(([name, args, signature], index): Part =>
      compact({ type: 'tool_call' as const, id: `c${index}`, name, arguments: JSON.stringify(args), signature }),
    );
    const results = calls.map(([name, , , output], index): Part => {
      const content: Part[] = [{ type: 'text', text: `> ${output}` }];
      return { type: 'tool_result', callId: `c${index}`, name, content, ...(index === 1 && { isError: true }) };
    });
    const answered: Turn = { role: 'tool', parts: results };
    return [{ role: 'assistant', parts: [...spoken, ...parts] }, answered];
  });

const turns: fc.Arbitrary<Turn[]> = fc
  .array(
    fc.oneof(
      fc.array(fc.oneof(text, media), { minLength: 1, maxLength: 3 }).map((parts): Turn[] => [{ role: 'user', parts }]),
      text.map((part): Turn[] => [{ role: 'assistant', parts: [part] }]),
      exchange,
    ),
    { maxLength: 4 },
  )
  .map((groups) => uniqueIds(groups.flat()));

/** Gives each exchange its own ids. */
function uniqueIds(turns: readonly Turn[]): Turn[] {
  let exchanges = 0;
  return turns.map((turn) => {
    if (turn.parts.some(({ type }) => type === 'tool_call')) exchanges += 1;
    const parts = turn.parts.map((part): Part => {
      if (part.type === 'tool_call') return { ...part, id: `${exchanges}-${part.id}` };
      return part.type === 'tool_result' ? { ...part, callId: `${exchanges}-${part.callId}` } : part;
    });
    return { ...turn, parts };
  });
}

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const number = fc.integer({ min: 0, max: 100 });

/** A conversation that Gemini 2.5 accepts without a loss. */
export const conversation: fc.Arbitrary<Conversation> = fc
  .record({
    system: fc.array(text, { maxLength: 2 }),
    turns,
    maxTokens: maybe(number),
    sampling: fc.record(
      {
        temperature: number,
        topP: number,
        topK: number,
        frequencyPenalty: number,
        presencePenalty: number,
        seed: number,
        n: number,
        stop: fc.array(word, { minLength: 1, maxLength: 5 }),
        logprobs: fc.boolean(),
        topLogprobs: fc.integer({ min: 1, max: 20 }),
      },
      { requiredKeys: [] },
    ),
    tools: fc.uniqueArray(name, { maxLength: 3 }),
    search: fc.boolean(),
    choice: maybe(fc.constantFrom<'auto' | 'none' | 'required'>('auto', 'none', 'required')),
    responseFormat: fc.constantFrom<Conversation['responseFormat']>(
      undefined,
      { type: 'json_object' },
      { type: 'json_schema', schema: { type: 'array', items: { type: 'string' } } },
    ),
    reasoning: fc.constantFrom<Conversation['reasoning']>(
      undefined,
      { thinking: { type: 'disabled' } },
      { thinking: { type: 'adaptive', display: 'summarized' } },
      { thinking: { type: 'enabled', budgetTokens: 500, display: 'omitted' } },
    ),
    modalities: maybe(fc.constant(['text', 'image'])),
    safetySettings: maybe(fc.constant([{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'OFF' }])),
  })
  .map(({ system, turns, tools, search, choice, ...fields }): Conversation => {
    const functions = tools.map((name): Tool => ({
      type: 'function',
      name,
      parameters: { type: 'object', properties: { a: { type: 'string' } } },
    }));
    // The tool choice does not apply to search, so such a conversation has a loss.
    const offered: Tool[] =
      search && choice !== 'none' && choice !== 'required'
        ? [...functions, { type: 'builtin', kind: 'web_search' }]
        : functions;
    return compact({
      model: 'm',
      stream: false,
      ...fields,
      turns: system.length > 0 ? [{ role: 'system' as const, parts: system }, ...turns] : turns,
      tools: offered.length > 0 ? offered : undefined,
      toolChoice: choice && functions.length > 0 ? { mode: choice } : undefined,
    });
  });
