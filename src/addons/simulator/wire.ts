import type { JsonObject } from '../../formats/conversation.ts';
import type { Completion, SimulatedCall, SimulatedChoice } from './answer.ts';
import type { ChatRequest } from './chat-request.ts';

/** The values that all parts of one reply share. */
export interface ReplyHead {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  /** The id of a call: 24 characters of `[a-z0-9]`. */
  readonly callId: (choice: number, call: number) => string;
}

export type SimulatedReply = Completion & ReplyHead;

/** A plain reply (docs/protocols/openai-chat.md#reply). */
export function plainReply({ model }: ChatRequest, reply: SimulatedReply): JsonObject {
  return {
    id: reply.id,
    object: 'chat.completion',
    created: reply.created,
    model,
    choices: reply.choices.map((choice, index) => plainChoice(choice, index, reply)),
    usage: usageOf(reply),
  };
}

function plainChoice({ pieces, calls, finish }: SimulatedChoice, index: number, head: ReplyHead): JsonObject {
  const content = calls.length > 0 ? null : pieces.join('');
  const toolCalls = calls.map((call, at) => wireCall(call, head.callId(index, at)));
  const message = { role: 'assistant', content, refusal: null, ...(calls.length > 0 && { tool_calls: toolCalls }) };
  return { index, message, logprobs: null, finish_reason: finish };
}

function wireCall({ tool, input }: SimulatedCall, id: string): JsonObject {
  if (tool.kind === 'custom') return { id, type: 'custom', custom: { name: tool.name, input } };
  return { id, type: 'function', function: { name: tool.name, arguments: input } };
}

function usageOf({ promptTokens, completionTokens }: Completion): JsonObject {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}

/** The events of a stream, in order (docs/protocols/openai-chat.md#stream): one element for each event, `[DONE]` last. */
export function streamEvents({ model, includeUsage }: ChatRequest, reply: SimulatedReply): string[] {
  const { id, created } = reply;
  const base = { id, object: 'chat.completion.chunk', created, model, ...(includeUsage && { usage: null }) };
  const choices = reply.choices.flatMap((choice, index) => choiceDeltas(choice, index, reply));
  const chunks: JsonObject[] = choices.map((choice) => ({ ...base, choices: [choice] }));
  if (includeUsage) chunks.push({ ...base, choices: [], usage: usageOf(reply) });
  return [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'];
}

function choiceDeltas(choice: SimulatedChoice, index: number, head: ReplyHead): JsonObject[] {
  const content = choice.calls.length > 0 ? null : '';
  const parts: JsonObject[] = [{ role: 'assistant', content, refusal: null }];
  for (const piece of choice.pieces) parts.push({ content: piece });
  for (const [at, call] of choice.calls.entries()) {
    for (const part of callDeltas(call, head.callId(index, at))) parts.push({ tool_calls: [{ index: at, ...part }] });
  }
  const deltas = parts.map((delta): JsonObject => ({ index, delta, finish_reason: null }));
  return [...deltas, { index, delta: {}, finish_reason: choice.finish }];
}

/** The name first, then the input split at arbitrary points, as OpenAI sends it. */
function callDeltas({ tool, input }: SimulatedCall, id: string): JsonObject[] {
  const key = tool.kind === 'custom' ? 'input' : 'arguments';
  const start = { id, type: tool.kind, [tool.kind]: { name: tool.name, [key]: '' } };
  const pieces = input.match(/.{1,12}/gsu) ?? [];
  return [start, ...pieces.map((piece) => ({ [tool.kind]: { [key]: piece } }))];
}
