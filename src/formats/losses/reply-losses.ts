import type { Loss } from '../conversation.ts';

const NOT_STRICT =
  'OpenAI’s has an extension for clients that are not strict (`x-gateway-strict-open-ai-compliance: false`).';

/** Parts of an answer that a client's API has no field for, and why. The names are label values: a fixed set. */
const REASONS = {
  audio: 'The API of the client has no field for generated audio.',
  image: `The API of the client has no field for generated images. ${NOT_STRICT}`,
  video: `The API of the client has no field for generated video. ${NOT_STRICT}`,
  document: `The API of the client has no field for generated files. ${NOT_STRICT}`,
  code: `OpenAI’s API has no field for executed code. ${NOT_STRICT}`,
  content_blocks: 'The API of the client has no field for this block of the provider.',
  signatures: 'The API of the client has no field for the signature of a call, or of the last text.',
  reasoning_details: 'The server does not take its thoughts back, or they are too long for the client to carry.',
  choices: 'The API of the client returns one answer: the first.',
  logprobs: 'The API of the client has no field for log probabilities.',
  citations: 'The API of the client has no field for a citation on this content.',
} as const;

type ReplyPart = keyof typeof REASONS;

/** The losses of a reply on its way to the client, each part named once. Undefined when nothing was lost. */
export interface LossNotes {
  losses: readonly Loss[] | undefined;
}

export const noLosses = (): LossNotes => ({ losses: undefined });

const paramOf = (part: ReplyPart): string => `reply.${part}`;

export const REPLY_LOSSES: readonly string[] = (Object.keys(REASONS) as ReplyPart[]).map(paramOf);

/** Reason for missing citations when the client's API has a field for them. */
export const TOO_MANY_CITATIONS = 'The citations of an answer are cut at 1 MiB.';

export function lose(notes: LossNotes, part: ReplyPart, reason: string = REASONS[part]): void {
  const param = paramOf(part);
  const { losses = [] } = notes;
  if (losses.some((loss) => loss.param === param)) return;
  notes.losses = [...losses, { param, action: 'dropped', reason }];
}
