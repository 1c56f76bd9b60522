import type { JsonObject, MediaPart, Part, TextPart, Turn } from '../conversation.ts';
import type { RequestTarget } from '../request-target.ts';
import type { LossReport } from '../losses/losses.ts';
import { BodyPlace } from '../losses/place.ts';
import { loseOpaque } from '../opaque-parts.ts';
import { encodeMedia } from './encode-media.ts';
import { takes } from './extensions.ts';

export interface MessageDestination {
  readonly path: BodyPlace;
  readonly at: number;
  readonly target: RequestTarget;
  readonly report: LossReport;
  /** True: arguments may be any text, and the server refuses text that is no object. Other clients have objects, or get what they wrote. */
  readonly anyArguments: boolean;
}

/** Joined texts: many servers read only a string there (docs/protocols/messages-route.md#joined-texts). */
export function joined(parts: readonly JsonObject[], between: string): string | undefined {
  const texts = parts.map(({ type, text, ...others }) =>
    type === 'text' && typeof text === 'string' && Object.keys(others).length === 0 ? text : undefined,
  );
  return texts.length > 1 && !texts.includes(undefined) ? texts.join(between) : undefined;
}

export function plainText(parts: readonly JsonObject[]): string | undefined {
  if (parts.length === 0) return '';
  const [only] = parts;
  const plain = parts.length === 1 && only?.type === 'text' && Object.keys(only).length === 2;
  return plain && typeof only.text === 'string' && only.text !== '' ? only.text : undefined;
}

/** A part of a system or user message. */
export function encodeInput(
  part: Part,
  path: BodyPlace,
  role: Turn['role'],
  place: MessageDestination,
): JsonObject | undefined {
  const { report } = place;
  switch (part.type) {
    case 'text':
      return marked({ type: 'text', text: textOf(part, path, report) }, part, { path, role, place });
    case 'media':
      if (part.signature) report.dropped(BodyPlace.field(path, 'signature'), 'OpenAI chat has no signatures on media.');
      return marked(encodeMedia(part, path, place), part, { path, role, place });
    case 'opaque':
      return part.format === 'openai-chat' ? part.value : loseOpaque(part, path, role, report);
    default:
      return report.unreadable(path, `OpenAI chat has no ${part.type} part in a ${role} message`);
  }
}

export function textOf(part: TextPart, path: BodyPlace, report: LossReport): string {
  if (part.signature) report.dropped(BodyPlace.field(path, 'signature'), 'OpenAI chat has no signatures on text.');
  return part.text;
}

interface Marking {
  readonly path: BodyPlace;
  readonly role: Turn['role'];
  readonly place: MessageDestination;
}

/** OpenAI's cache markers: parts of user messages, no time to live (docs/protocols/openai-chat.md#cache-markers). */
function marked(block: JsonObject, { cache }: TextPart | MediaPart, { path, role, place }: Marking): JsonObject {
  if (!cache) return block;
  const { target, report } = place;
  // A target without Anthropic's marker is OpenAI's own API. Other servers may refuse the newer field.
  if (role !== 'user' || target.host === 'vertex' || takes(target, 'cache_control')) {
    report.dropped(BodyPlace.field(path, 'cache_control'), `No cache markers in ${role} messages of this target.`);
    return block;
  }
  if (cache.ttl)
    report.downgraded(
      BodyPlace.field(path, 'cache_control.ttl'),
      'OpenAI sets the time to live for the whole request.',
    );
  return { ...block, prompt_cache_breakpoint: { mode: 'explicit' } };
}
