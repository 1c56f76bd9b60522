import type { Loss } from './conversation.ts';

/** Parts of an answer that a client's API has no place for, and why. The names are label values of a metric: a fixed few. */
const REASONS = {
  audio: 'The API of the client has no place for made sound.',
  image: 'The API of the client has no place for made pictures; OpenAI’s has one for clients that are not strict.',
  video: 'The API of the client has no place for made films; OpenAI’s has one for clients that are not strict.',
  document: 'The API of the client has no place for made files; OpenAI’s has one for clients that are not strict.',
  code: 'OpenAI’s own fields have no place for code that ran, which clients that are not strict get.',
  content_blocks: 'The API of the client has no place for a block of the provider.',
  choices: 'The API of the client has one answer, the first.',
  logprobs: 'The API of the client has no place for log probabilities.',
  citations: 'The API of the client has no place for a citation there.',
} as const;

export type ReplyPart = keyof typeof REASONS;

/** What a reply has lost on its way to the client, each part named once. Undefined: nothing. */
export interface LossNotes {
  losses: readonly Loss[] | undefined;
}

export const noLosses = (): LossNotes => ({ losses: undefined });

const paramOf = (part: ReplyPart): string => `reply.${part}`;

export const REPLY_LOSSES: readonly string[] = (Object.keys(REASONS) as ReplyPart[]).map(paramOf);

export function lose(notes: LossNotes, part: ReplyPart): void {
  const param = paramOf(part);
  const { losses = [] } = notes;
  if (losses.some((loss) => loss.param === param)) return;
  notes.losses = [...losses, { param, action: 'dropped', reason: REASONS[part] }];
}
