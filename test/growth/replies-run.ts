import { formats } from '../../src/formats/index.ts';
import { ReplyFault } from '../../src/formats/faults.ts';
import type { ClientContext, Format, PassThrough, ReplyContext } from '../../src/formats/format.ts';
import { translatingReader } from '../../src/formats/streams/readers.ts';
import { ANTHROPIC_SHAPES } from './replies-anthropic.ts';
import { cutInto, type ReplyShape } from './replies-build.ts';
import { GEMINI_SHAPES } from './replies-gemini.ts';
import { OPENAI_SHAPES } from './replies-openai.ts';
import { RESPONSES_REPLIES } from './replies-responses.ts';

type Name = keyof typeof formats;
export const NAMES = Object.keys(formats) as Name[];

export const SHAPES: Readonly<Record<Name, readonly ReplyShape[]>> = {
  'openai-chat': OPENAI_SHAPES,
  'openai-responses': RESPONSES_REPLIES,
  'anthropic-messages': ANTHROPIC_SHAPES,
  gemini: GEMINI_SHAPES,
};

export interface Case {
  readonly upstream: Name;
  readonly client: Name;
  readonly strict: boolean;
  readonly shape: ReplyShape;
}

const contextOf = (strict: boolean): ClientContext => ({
  id: 'id',
  created: 1,
  strict,
  includeUsage: !strict,
  model: 'asked',
});

function replyContext(): ReplyContext {
  let calls = 0;
  return { model: 'asked', newCallId: () => `call_${calls++}` };
}

function open(upstream: Format, client: Format, { stream, strict }: { stream: boolean; strict: boolean }): PassThrough {
  const context = contextOf(strict);
  if (upstream === client) return client.passThrough!.open(context, stream);
  const type = stream ? 'text/event-stream' : 'application/json';
  return translatingReader({ upstream, client, reply: replyContext(), context }, stream, type);
}

/** The synchronous work of a gateway with one reply. Gives the bytes that leave. */
export function readReply({ upstream, client, strict, shape }: Case, pieces: readonly Buffer[]): number {
  const reader = open(formats[upstream], formats[client], { stream: shape.stream, strict });
  let left = 0;
  try {
    for (const piece of pieces) left += reader.push(piece)?.length ?? 0;
    left += reader.end()?.length ?? 0;
  } catch (error) {
    // A value that nests deeper than the stack is refused by the caller of the reader (upstream/try.ts).
    if (!(error instanceof ReplyFault) && !(error instanceof RangeError)) throw error;
  }
  return left;
}

/** The reads in which a reply comes. */
export const readsOf = (shape: ReplyShape, bytes: number): readonly Buffer[] =>
  cutInto(shape.build(bytes), shape.stream ? (shape.cut ?? 1024) : 64 * 1024);

/** Who reads a reply: every client, a chat client in both its forms. The switch is about OpenAI’s fields, other clients have one form. */
export const CLIENTS: readonly Pick<Case, 'client' | 'strict'>[] = [
  ...NAMES.map((client) => ({ client, strict: false })),
  { client: 'openai-chat', strict: true },
];

export const pairOf = ({ upstream, client, strict }: Omit<Case, 'shape'>): string =>
  `${upstream} → ${client}${strict ? ' (strict)' : ''}`;
