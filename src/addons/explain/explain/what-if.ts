import { isObject } from '../../../core/kernel/index.ts';
import type { Health, QuestionBody } from '../../../core/process/explain-port.ts';
import { BadQuestion } from '../../../core/process/explain-port.ts';
import { problemOfTexts } from '../../../core/settings/read/edited-files.ts';
import type { FrozenHealth } from './frozen.ts';

const MAX_TARGETS = 64;
const STATES: readonly Health[] = ['closed', 'open', 'half_open'];

/** Files that a question puts in the place of those in force. Throws BadQuestion. */
export function readTexts(value: unknown): Readonly<Record<string, string>> | undefined {
  if (value === undefined) return undefined;
  const entries = isObject(value) ? Object.entries(value) : [];
  const problem = problemOfTexts(entries);
  if (problem !== undefined) throw new BadQuestion(`\`settings\`: ${problem}.`);
  return Object.fromEntries(entries) as Record<string, string>;
}

/** The health of targets that a question supposes. Throws BadQuestion. */
export function readHealth(value: unknown): Readonly<Record<string, Health>> | undefined {
  const entries = entriesOf(value);
  for (const [name, state] of entries ?? [])
    if (!STATES.some((one) => one === state))
      throw new BadQuestion(`\`health\`: ${JSON.stringify(name.slice(0, 100))} must be one of ${STATES.join(', ')}.`);
  return entries && (Object.fromEntries(entries) as Record<string, Health>);
}

function entriesOf(value: unknown): [string, unknown][] | undefined {
  if (value === undefined) return undefined;
  const entries = isObject(value) ? Object.entries(value) : [];
  if (entries.length > 0 && entries.length <= MAX_TARGETS) return entries;
  throw new BadQuestion(`\`health\` must be an object with 1 to ${MAX_TARGETS} members.`);
}

export const supposedHealth = (health: QuestionBody['health'], now: number): FrozenHealth | undefined =>
  health &&
  new Map(Object.entries(health).map(([target, state]) => [target, { state, retryAt: now, admits: state !== 'open' }]));
