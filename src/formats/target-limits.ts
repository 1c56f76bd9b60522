import type { FormatName } from './conversation.ts';
import type { RequestTarget } from './request-target.ts';
import type { LossReport } from './losses/losses.ts';

/** The form of a name that an API takes. */
export interface NameLimit {
  /** In characters. Default: any length. */
  readonly max?: number;
  /** Matches each character that the API refuses. Default: it refuses none. */
  readonly illegal?: RegExp;
  /** Matches a first character that the API takes. Default: every legal one. */
  readonly first?: RegExp;
}

interface TargetLimits {
  readonly toolName: NameLimit;
  readonly callId: NameLimit;
  /** Number of stop sequences. Default: any. */
  readonly stops?: number;
}

const WORD = /[^a-zA-Z0-9_-]/g;

/** The limits of each API that has some (docs/protocols/requests.md#limits-of-names): the one table of them. */
const LIMITS: Readonly<Partial<Record<FormatName, TargetLimits>>> = {
  'openai-chat': { toolName: { max: 64, illegal: WORD }, callId: {} },
  'openai-responses': { toolName: { max: 64, illegal: WORD }, callId: { max: 64 } },
  'anthropic-messages': { toolName: { max: 128, illegal: WORD }, callId: { illegal: WORD } },
  // Google's pages name 64 characters or 128, and the first character on some of them.
  gemini: { toolName: { max: 64, illegal: /[^a-zA-Z0-9_.:-]/g, first: /[a-zA-Z_]/ }, callId: {}, stops: 5 },
};

/** OpenAI's own chat API and Azure's. Other servers with that API are not known to have these limits. */
const OPENAI_CHAT: TargetLimits = { toolName: { max: 64, illegal: WORD }, callId: { max: 40 }, stops: 4 };

const NO_LIMITS: TargetLimits = { toolName: {}, callId: {} };

export const limitsOf = (format: FormatName, { extensions }: Pick<RequestTarget, 'extensions'>): TargetLimits =>
  format === 'openai-chat' && extensions?.size === 0 ? OPENAI_CHAT : (LIMITS[format] ?? NO_LIMITS);

export function isWithin(name: string, { max = Infinity, illegal, first }: NameLimit): boolean {
  return name.length <= max && name.search(illegal ?? NEVER) < 0 && (!first || name === '' || first.test(name[0]!));
}

const NEVER = /(?!)/;

/** The first stop sequences that the target takes. */
export function fitStops(
  stop: readonly string[] | undefined,
  { stops = Infinity }: TargetLimits,
  losses: LossReport,
): readonly string[] | undefined {
  if (!stop || stop.length <= stops) return stop;
  losses.dropped('stop', `this target takes ${stops} stop sequences: the first ones are sent`);
  return stop.slice(0, stops);
}
