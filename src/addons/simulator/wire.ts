import type { JsonObject } from '../../formats/conversation.ts';
import type { SimulatedChoice, Completion, SimulatedCall } from './answer.ts';
import type { ChatRequest } from './chat-request.ts';

/** The values that all parts of one reply share. */
export interface ReplyHead {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  /** The id of a call: 24 characters of `[a-z0-9]`. */
  readonly callId: (choice: number, call: number) => string;
}

export const event = (data: JsonObject): string => `data: ${JSON.stringify(data)}\n\n`;
const DONE = 'data: [DONE]\n\n';

/** A plain reply (docs/protocols/openai-chat.md#reply). */
export function plainReply({ model }: Pick<ChatRequest, 'model'>, completion: Completion, head: ReplyHead): JsonObject {
  return {
    id: head.id,
    object: 'chat.completion',
    created: head.created,
    model,
    choices: completion.choices.map((choice, index) => plainChoice(choice, index, head)),
    usage: usageOf(completion),
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
export function streamEvents(
  { model, includeUsage }: Pick<ChatRequest, 'model' | 'includeUsage'>,
  completion: Completion,
  head: ReplyHead,
): string[] {
  const chunk = (choices: readonly JsonObject[], usage: JsonObject | null): string =>
    event({
      id: head.id,
      object: 'chat.completion.chunk',
      created: head.created,
      model,
      choices,
      ...(includeUsage && { usage }),
    });
  const events = completion.choices.flatMap((choice, index) =>
    deltasOf(choice, index, head).map(({ delta, finish }) => chunk([{ index, delta, finish_reason: finish }], null)),
  );
  if (includeUsage) events.push(chunk([], usageOf(completion)));
  return [...events, DONE];
}

interface Delta {
  readonly delta: JsonObject;
  readonly finish: string | null;
}

function deltasOf(choice: SimulatedChoice, index: number, head: ReplyHead): Delta[] {
  const content = choice.calls.length > 0 ? null : '';
  const parts: JsonObject[] = [{ role: 'assistant', content, refusal: null }];
  for (const piece of choice.pieces) parts.push({ content: piece });
  for (const [at, call] of choice.calls.entries()) {
    for (const part of callDeltas(call, head.callId(index, at))) parts.push({ tool_calls: [{ index: at, ...part }] });
  }
  return [...parts.map((delta) => ({ delta, finish: null })), { delta: {}, finish: choice.finish }];
}

/** The name first, then the input split at arbitrary points, as OpenAI sends it. */
function callDeltas({ tool, input }: SimulatedCall, id: string): JsonObject[] {
  const key = tool.kind === 'custom' ? 'input' : 'arguments';
  const start = { id, type: tool.kind, [tool.kind]: { name: tool.name, [key]: '' } };
  return [start, ...inPieces(input).map((piece) => ({ [tool.kind]: { [key]: piece } }))];
}

const PIECE = 12;

function inPieces(text: string): string[] {
  const characters = [...text];
  const pieces: string[] = [];
  for (let at = 0; at < characters.length; at += PIECE) pieces.push(characters.slice(at, at + PIECE).join(''));
  return pieces;
}
