import type { Health, QuestionBody } from '../../../core/process/explain-port.ts';
import { BadQuestion } from '../../../core/process/explain-port.ts';
import { MAX_FILE_BYTES } from '../../../core/settings/source/files.ts';
import type { FrozenHealth } from './frozen.ts';

/** Names of settings files: no path leads out of the folder. */
const NAME = /^(?:gateway\/[A-Za-z0-9][A-Za-z0-9._-]{0,63}|server|catalog|keys|teams|prices)\.yaml$/;
const MAX_FILES = 16;
const MAX_TARGETS = 64;
const STATES: readonly Health[] = ['closed', 'open', 'half_open'];

/** Files that a question puts in the place of those in force. Throws BadQuestion. */
export function readTexts(value: unknown): Readonly<Record<string, string>> | undefined {
  const entries = entriesOf(value, 'settings', MAX_FILES);
  for (const [name, text] of entries ?? []) {
    if (!NAME.test(name))
      throw new BadQuestion(`\`settings\`: ${JSON.stringify(name.slice(0, 100))} is no settings file.`);
    if (typeof text !== 'string' || text.length > MAX_FILE_BYTES)
      throw new BadQuestion(`\`settings\`: ${name} must be a text of at most 1 MiB.`);
  }
  return entries && (Object.fromEntries(entries) as Record<string, string>);
}

/** The health of targets that a question supposes. Throws BadQuestion. */
export function readHealth(value: unknown): Readonly<Record<string, Health>> | undefined {
  const entries = entriesOf(value, 'health', MAX_TARGETS);
  for (const [name, state] of entries ?? [])
    if (!STATES.some((one) => one === state))
      throw new BadQuestion(`\`health\`: ${JSON.stringify(name.slice(0, 100))} must be one of ${STATES.join(', ')}.`);
  return entries && (Object.fromEntries(entries) as Record<string, Health>);
}

function entriesOf(value: unknown, field: string, most: number): [string, unknown][] | undefined {
  if (value === undefined) return undefined;
  const entries = typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
  if (entries.length > 0 && entries.length <= most) return entries;
  throw new BadQuestion(`\`${field}\` must be an object with 1 to ${most} members.`);
}

export const supposedHealth = (health: QuestionBody['health'], now: number): FrozenHealth | undefined =>
  health &&
  new Map(Object.entries(health).map(([target, state]) => [target, { state, retryAt: now, admits: state !== 'open' }]));
