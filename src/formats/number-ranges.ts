import type { Conversation, FormatName } from './conversation.ts';
import { RequestFault } from './faults.ts';
import type { RequestTarget } from './request-target.ts';

interface Range {
  readonly param: string;
  readonly of: (conversation: Conversation) => number | undefined;
  readonly min: number;
  readonly max?: number;
}

/** Numbers that every vendor refuses. */
const RANGES: readonly Range[] = [
  { param: 'max_tokens', of: ({ maxTokens }) => maxTokens, min: 1 },
  { param: 'n', of: ({ sampling }) => sampling.n, min: 1 },
  { param: 'temperature', of: ({ sampling }) => sampling.temperature, min: 0, max: 2 },
];

/**
 * Refuses numbers before they are sent. A server that only resembles OpenAI gets them as written: -1 means no limit at some of them.
 * Throws RequestFault.
 */
export function refuseNumbers(
  conversation: Conversation,
  upstream: FormatName,
  { extensions }: Pick<RequestTarget, 'extensions'>,
): void {
  if (upstream === 'openai-chat' && extensions?.size !== 0) return;
  for (const range of RANGES) checkNumber(range, range.of(conversation));
}

/** The same for a field of a body of the chat API. */
export function refuseNumber(param: string, value: unknown): void {
  const name = param === 'max_completion_tokens' ? 'max_tokens' : param;
  const range = RANGES.find((one) => one.param === name);
  if (range && typeof value === 'number') checkNumber({ ...range, param }, value);
}

function checkNumber({ param, min, max = Infinity }: Range, value: number | undefined): void {
  if (value === undefined || (value >= min && value <= max)) return;
  const range = max === Infinity ? `at least ${min}` : `between ${min} and ${max}`;
  throw new RequestFault('invalid_value', `\`${param}\` must be ${range}.`, param);
}

/** Throws RequestFault below -1, which leaves the amount to the model: opencode 1.18 sends it, as Gemini takes it. */
export function thinkingBudget(given: number | undefined): number | undefined {
  if (given === undefined || given >= 0) return given;
  if (given === -1) return undefined;
  const param = 'thinking.budget_tokens';
  throw new RequestFault(
    'invalid_value',
    `\`${param}\` must be at least 0, or -1 for an amount that the model chooses.`,
    param,
  );
}
