import type { Turn } from '../conversation.ts';
import { append, stringOf } from '../json/object.ts';
import { OpenActions } from '../open-actions.ts';
import { BodyPlace } from '../losses/place.ts';
import { messagesOf } from '../losses/places.ts';
import { isOwnOpaque } from './block-fields.ts';
import { encodeParts, encodeResult } from './encode-parts.ts';
import { LossReport } from '../losses/losses.ts';
import type { WireBlock, RequestContext, WireMessage } from './request-context.ts';

export interface EncodedTurns {
  readonly system: readonly WireBlock[];
  readonly messages: readonly WireMessage[];
}

/** Turns → `system` and alternating messages (docs/protocols/requests.md#messages-for-claude). */
export function encodeTurns(context: RequestContext): EncodedTurns {
  let system: WireBlock[] = [];
  const messages: WireMessage[] = [];
  const actions = new OpenActions(context.native ? undefined : context.conversation.tools);
  let at = 0;
  for (const turn of context.conversation.turns) {
    const from = at;
    const path = BodyPlace.item('messages', from);
    at += messagesOf(turn);
    const answers = answersIn(turn, path, actions, context);
    if (turn.name !== undefined)
      context.losses.dropped(BodyPlace.field(path, 'name'), 'Claude has no participant names');
    if (turn.role === 'system') {
      const blocks = encodeParts(turn.parts, path, 'system', context);
      if (staysInPlace(turn, messages, context)) addInPlace(messages, blocks, path, context);
      else {
        if (messages.length > 0) context.losses.downgraded(path, 'Claude’s system prompt comes before all messages');
        if (system.length === 0) system = blocks;
        else append(system, blocks);
      }
    } else if (turn.role === 'tool' && !context.native) {
      for (const [index, part] of turn.parts.entries()) {
        add(messages, 'user', encodeParts([part], BodyPlace.item('messages', from + index), 'user', context));
      }
    } else if (turn.role === 'assistant') {
      add(messages, 'assistant', encodeParts(turn.parts, path, 'assistant', context));
    } else add(messages, 'user', answers ?? encodeParts(turn.parts, path, 'user', context));
  }
  arrange(messages, context);
  const sent = messages.every(hasContent) ? messages : messages.filter(hasContent);
  // The API demands a message, so a system prompt alone is sent as a message of the user, as for Gemini (docs/protocols/requests.md#system-alone).
  if (sent.length > 0 || system.length === 0) return { system, messages: sent };
  return { system: [], messages: [{ role: 'user', content: system }] };
}

const hasContent = ({ content }: WireMessage): boolean => content.length > 0;

/**
 * System turns are hoisted: their order rarely matters, and it works with every model
 * (docs/protocols/requests.md#system-text-for-claude). A body written in this format may hold later ones on purpose (beta
 * mid-conversation-system), with tools added at that point (recorded): those stay.
 */
function staysInPlace(turn: Turn, messages: readonly WireMessage[], { native }: RequestContext): boolean {
  return native && (messages.length > 0 || turn.parts.some(isOwnOpaque));
}

function addInPlace(
  messages: WireMessage[],
  blocks: readonly WireBlock[],
  path: BodyPlace,
  { facts, losses }: RequestContext,
): void {
  if (facts.systemTurns) return add(messages, 'system', [...blocks]);
  losses.downgraded(path, 'this model has no system turns: sent as text of the user');
  if (!blocks.every(isText)) losses.dropped(path, 'this model takes no changes of tools between turns');
  add(messages, 'user', reminders(blocks));
}

/** Texts of the system as Claude Code writes them into a user's turn, for models without system turns. */
const reminders = (blocks: readonly WireBlock[]): WireBlock[] =>
  blocks.flatMap((block) => {
    const text = stringOf(block.text);
    if (block.type !== 'text' || text === undefined) return [];
    return [{ ...block, text: `<system-reminder>\n${text}\n</system-reminder>` }];
  });

/**
 * The user's message about actions of computer use that have no result yet. The API demands a result for each call
 * (docs/protocols/anthropic-messages.md#order-of-results), so the message becomes their results.
 */
function answersIn(
  turn: Turn,
  path: BodyPlace,
  actions: OpenActions,
  context: RequestContext,
): WireBlock[] | undefined {
  const answers = actions.answeredBy(turn);
  for (const part of turn.parts) {
    if (part.type === 'tool_result') actions.answered(part);
    else if (part.type === 'tool_call') actions.called(part);
  }
  return answers?.map(({ part, textOnly }) => {
    if (!textOnly) return encodeResult(part, path, context);
    const words = { ...part, content: part.content.filter(({ type }) => type !== 'media') };
    // The last result reports these losses.
    return encodeResult(words, path, { ...context, losses: new LossReport('drop') });
  });
}

/** The API merges neighbours of one role; merging here lets results come first in the merged message. */
function add(messages: WireMessage[], role: WireMessage['role'], content: WireBlock[]): void {
  const last = messages.at(-1);
  if (last && last.role === role) append(last.content, content);
  else if (content.length > 0) messages.push({ role, content });
}

/** An assistant's turn that was written in this format keeps the order that Claude gave it. */
function arrange(messages: WireMessage[], { native }: RequestContext): void {
  messages.forEach((message, at) => {
    if (message.role === 'assistant') message.content = native ? message.content : arrangeAssistant(message.content);
    else if (message.role === 'user') message.content = arrangeUser(message.content, messages[at - 1]);
  });
  const last = messages.at(-1);
  if (last?.role === 'assistant') last.content = trimEnd(last.content);
}

const isThinking = (block: WireBlock): boolean => block.type === 'thinking' || block.type === 'redacted_thinking';
const isText = (block: WireBlock): boolean => block.type === 'text';
const isCall = (block: WireBlock): boolean => block.type === 'tool_use';
const isResult = (block: WireBlock): boolean => block.type === 'tool_result';

/** Thinking first, calls last (docs/protocols/requests.md#order-for-claude). Claude's own blocks keep their order. */
function arrangeAssistant(content: WireBlock[]): WireBlock[] {
  const plain = (block: WireBlock): boolean => isText(block) || isThinking(block) || isCall(block);
  if (content.length === 1 || content.every(isText) || !content.every(plain)) return content;
  const spoken = content.filter((block) => !isCall(block));
  const thoughts = spoken.filter(isThinking);
  const led = thoughts.length === 0 || isThinking(spoken[0]!);
  const opening = led ? spoken : [...thoughts, ...spoken.filter((block) => !isThinking(block))];
  return [...opening, ...content.filter(isCall)];
}

/** Results first, in the order of their calls, then others (docs/protocols/anthropic-messages.md#order-of-results). */
function arrangeUser(content: WireBlock[], before: WireMessage | undefined): WireBlock[] {
  if (content.length === 1 || !content.some(isResult)) return content;
  const results = content.filter(isResult);
  const calls = new Map<unknown, number>();
  for (const block of before?.content ?? []) if (isCall(block) && !calls.has(block.id)) calls.set(block.id, calls.size);
  const ordered = results
    .map((result) => ({ result, order: calls.get(result.tool_use_id) ?? calls.size }))
    .sort((a, b) => a.order - b.order)
    .map(({ result }) => result);
  for (const block of content) if (!isResult(block)) ordered.push(block);
  return ordered;
}

/** A prefill that ends in white space is a 400 (docs/protocols/requests.md#empty-text-for-claude). */
function trimEnd(content: WireBlock[]): WireBlock[] {
  const last = content.at(-1);
  const text = last?.type === 'text' ? stringOf(last.text) : undefined;
  if (!last || text === undefined) return content;
  return content.with(content.length - 1, { ...last, text: text.trimEnd() });
}

/**
 * With manual thinking the assistant turn that began the open tool loop must start with its thinking
 * (docs/protocols/anthropic-messages.md#thinking-blocks). True when that turn has lost it, as it does with clients of the OpenAI API that
 * keep only `tool_calls`.
 */
export function loopLostThinking(messages: readonly WireMessage[]): boolean {
  let first: WireMessage | undefined;
  for (let at = messages.length - 1; at > 0; at -= 2) {
    const [calling, answering] = [messages[at - 1]!, messages[at]!];
    if (answering.role !== 'user' || !answering.content.some(isResult) || !calling.content.some(isCall)) break;
    first = calling;
  }
  return first !== undefined && !isThinking(first.content[0]!);
}
