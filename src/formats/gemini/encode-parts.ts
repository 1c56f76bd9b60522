import type { JsonObject, Part } from '../conversation.ts';
import type { LogprobToken } from '../events.ts';
import { nestsTooDeep } from '../json/depth.ts';
import { lose, type LossNotes } from '../losses/reply-losses.ts';
import { isCandidateMetadata } from './metadata.ts';
import { isPartBlock } from './part-block.ts';
import { fromThoughtBlock } from './thought-media.ts';
import { optional } from './wire.ts';
import { objectOf } from '../json/object.ts';

/** Encodes a part of an answer for Gemini's clients. Returns undefined for a part that this API has no form for. */
export function encodeAnswerPart(part: Part): JsonObject | undefined {
  switch (part.type) {
    case 'text':
      return words(part.text, false, part.signature);
    case 'thinking':
      return words(part.text, true, part.signature);
    case 'refusal':
      return { text: part.text };
    case 'tool_call': {
      const { id, name, custom, signature } = part;
      const args = custom ? { input: part.arguments } : parseArguments(part.arguments);
      return { functionCall: { id, name, args }, ...optional('thoughtSignature', signature) };
    }
    case 'media': {
      if (part.source.kind !== 'data') return undefined;
      const inlineData = { mimeType: part.mime ?? 'application/octet-stream', data: part.source.data };
      return { inlineData, ...optional('thoughtSignature', part.signature) };
    }
    case 'code': {
      const executableCode = { language: part.language, code: part.code, ...optional('id', part.id) };
      return { executableCode, ...optional('thoughtSignature', part.signature) };
    }
    case 'code_result': {
      const codeExecutionResult = { outcome: part.outcome, output: part.output, ...optional('id', part.id) };
      return { codeExecutionResult, ...optional('thoughtSignature', part.signature) };
    }
    case 'opaque':
      if (part.format !== 'gemini' || isCandidateMetadata(part.value)) return undefined;
      if (isPartBlock(part.value)) return objectOf(part.value['part']);
      return fromThoughtBlock(part.value) ?? part.value;
    case 'redacted_thinking':
    case 'tool_result':
      return undefined;
  }
}

/**
 * Reports a block of another provider, which this API has no part for. Fields of a part or of the whole reply are no
 * blocks.
 */
export function loseForeign(part: Part, notes: LossNotes): void {
  if (part.type !== 'opaque' || part.format === 'gemini' || part.attached) return;
  if (typeof part.value['type'] === 'string') lose(notes, 'content_blocks');
}

export function words(text: string, thought: boolean, signature: string | undefined): JsonObject {
  return { text, ...(thought && { thought }), ...optional('thoughtSignature', signature) };
}

/** Arguments are an object on this wire. A model's invalid or too deeply nested JSON is passed on as text. */
function parseArguments(text: string): JsonObject {
  if (text.trim() === '') return {};
  if (nestsTooDeep(text)) return { value: text };
  try {
    const value: unknown = JSON.parse(text);
    return objectOf(value) ?? { value };
  } catch {
    return { value: text };
  }
}

export function encodeLogprobs(tokens: readonly LogprobToken[]): JsonObject {
  const entry = ({ token, logprob }: { token: string; logprob: number }) => ({ token, logProbability: logprob });
  const chosenCandidates = tokens.map(entry);
  if (!tokens.some(({ top }) => top)) return { chosenCandidates };
  return { chosenCandidates, topCandidates: tokens.map(({ top }) => ({ candidates: (top ?? []).map(entry) })) };
}
