import type { RE2JSException, RE2Set } from 're2js';
import { loadRe2 } from '../../kernel/on-demand.ts';
import { GatewayError } from '../../../plugin/index.ts';
import { looksSecret } from '../values/show.ts';
import type { Field } from './fields.ts';

const MAX_LENGTH = 1000;
/** The number of characters and classes, with repeats expanded. */
const MAX_SIZE = 1000;
/** Bytes of matching states that each pattern may keep: callers control the texts. */
const MAX_MEMORY = 256 * 1024;
/**
 * The cost that all patterns of one request may add up to, as characters × size of the pattern: the worst case of a
 * linear-time engine. At 15 ns for a step, the maximum measured, this is 150 ms; nearly always a character takes one step.
 */
const MAX_STEPS = 10_000_000;

const spent = new WeakMap<object, number>();

/** One `$regex`, compiled by the first request that reaches it: a config sent with a request is built before it is checked. */
export class Pattern {
  readonly #source: string;
  readonly #field: Field;
  #compiled: RE2Set | undefined;

  constructor(source: string, field: Field) {
    this.#source = source;
    this.#field = field;
  }

  /** Throws GatewayError for a text that is too long. @param account the exchange, which adds up the cost */
  isIn(text: string, account: object): boolean {
    const set = (this.#compiled ??= compile(this.#source));
    const steps = (spent.get(account) ?? 0) + text.length * set.prog.numInst();
    if (steps > MAX_STEPS) throw tooLong(this.#field);
    spent.set(account, steps);
    return set.match(text).length > 0;
  }
}

function compile(source: string): RE2Set {
  const { RE2Set } = loadRe2();
  const set = new RE2Set(RE2Set.UNANCHORED, 0, MAX_MEMORY);
  set.add(source);
  set.compile();
  return set;
}

const tooLong = ({ name, kind }: Field): GatewayError =>
  new GatewayError(
    'request_too_large',
    `${name} is too long for the \`$regex\` of this gateway config. The pattern was not matched and the request was not sent.`,
    kind === 'json' ? { param: name.slice('params.'.length) } : {},
  );

/** The mistake in a pattern; undefined for a valid one. */
export function patternMistake(source: string): string | undefined {
  if (source === '') return '`$regex` must not be empty; use `$exists: true` to test whether a field is present';
  if (source.length > MAX_LENGTH)
    return `\`$regex\` has ${source.length} characters; at most ${MAX_LENGTH} are allowed`;
  // Compiling is expensive: `\\pL{1000}`, a few hundred times, takes seconds.
  const size = expandedSize(source);
  if (size > MAX_SIZE)
    return `\`$regex\` is too large: with its repeats expanded it has ${size} parts, at most ${MAX_SIZE} are allowed`;
  try {
    compile(source);
    return undefined;
  } catch (error) {
    if (!(error instanceof loadRe2().RE2JSException)) throw error;
    return `\`$regex\` cannot be read: ${reasonOf(error)}`;
  }
}

const TOKEN = /\\[pP](?:\{[^}]*\}|.)|\\.|\[\^?\]?(?:\\.|\[:[a-z^]+:\]|[^\]\\])*\]|\{(\d+)(,\d*)?\}|[^]/gu;
/** The size counted for a Unicode class, which has hundreds of ranges. */
const CLASS_SIZE = 10;

/** The approximate size of a pattern with its repeats expanded, which determines the cost of compiling it. */
export function expandedSize(source: string): number {
  /** The size of each open group, and of the last element in it, to which a repeat applies. */
  const open = [{ size: 0, last: 0 }];
  for (const [token, from, to = ''] of source.matchAll(TOKEN)) {
    const group = open.at(-1)!;
    if (from !== undefined) {
      const times = Math.max(Number(from), Number(to.slice(1)), 1);
      group.size += group.last * (times - 1);
      group.last *= times;
    } else if (token === '(') open.push({ size: 1, last: 0 });
    else if (token === ')' && open.length > 1) {
      open.pop();
      const around = open.at(-1)!;
      around.size += group.size;
      around.last = group.size;
    } else {
      group.last = /^\\p/i.test(token) ? CLASS_SIZE : 1;
      group.size += group.last;
    }
  }
  return open.reduce((sum, { size }) => sum + size, 0);
}

/** Features of other engines that a linear-time engine cannot have. */
const LACKING = [
  [/^\(\?[=!]/, 'RE2 has no lookahead'],
  [/^\(\?<[=!]/, 'RE2 has no lookbehind'],
  [/^\(\?>/, 'RE2 has no atomic groups'],
  [/^\\([1-9]|k)/, 'RE2 has no backreferences'],
  [/^[*+?]\+$/, 'RE2 has no possessive repeats'],
] as const;

function reasonOf(error: RE2JSException): string {
  if (!(error instanceof loadRe2().RE2JSSyntaxException)) return 'it is too large';
  const { error: what, input } = error;
  const at = input ? ` at \`${input.slice(0, 20)}\`` : '';
  const place = looksSecret(input ?? '') ? '' : at;
  const lack = LACKING.find(([form]) => form.test(input ?? ''));
  return lack ? `${lack[1]}${place}` : `${what}${place}`;
}
