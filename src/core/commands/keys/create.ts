import { readMoment } from '../../kernel/units.ts';
import { generateKey, type NewKey } from '../../settings/compile/api-keys.ts';
import type { Output } from '../terminal/output.ts';
import { appendEntry, formatEntry, type NewEntry } from './edit-keys.ts';
import { readKeys, refuse, whatNext, writeKeys, type KeysCommandOptions } from './keys-file.ts';

export interface KeyRequest {
  readonly id: string;
  /** `@slug`s or provider names the key may use. */
  readonly providers?: readonly string[];
  /** A moment (`2027-01-01`, RFC 3339), or a time from now: `90d`, `12h`. */
  readonly expires?: string;
  readonly team?: string;
}

export interface CreateKeyOptions extends KeyRequest, Output {
  /** Ids that already exist in keys.yaml. */
  readonly taken?: readonly string[];
  readonly now?: number;
  readonly generate?: () => NewKey;
}

const PROVIDER = /^@?[A-Za-z0-9*][A-Za-z0-9._*-]{0,63}$/;
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** `gatehouse keys create`. Exit code 0: printed; 1: the id exists; 2: an argument is invalid. */
export function createKeyCommand(options: CreateKeyOptions): 0 | 1 | 2 {
  const made = makeKey(options);
  if ('problem' in made) {
    options.err(`${made.problem}\n`);
    return made.code;
  }
  options.out(`${showKey(made.key)}\nAdd this to \`keys:\` in keys.yaml:\n\n`);
  options.out(`${formatEntry(made.entry).replaceAll(/^/gm, '  ')}\n`);
  return 0;
}

/** `gatehouse keys create --write`: adds the entry to the file, then prints the key. */
export async function writeKeyCommand(request: KeyRequest, options: KeysCommandOptions): Promise<0 | 1 | 2> {
  const { dir, env, now = Date.now(), out, err } = options;
  const file = await readKeys(dir, { env, now });
  if ('diagnostics' in file) return refuse(file, options);
  const made = makeKey({ ...request, now, taken: file.keys.map(({ id }) => id) });
  if ('problem' in made) {
    err(`${made.problem}\n`);
    return made.code;
  }
  if (!(await writeKeys(file, appendEntry(file.text, made.entry), options))) return 1;
  out(
    `${showKey(made.key)}\nAdded \`${request.id}\` to ${file.path}, which has only the digest.\n${whatNext(file, dir)}`,
  );
  return 0;
}

/** The existing ids, or none if keys.yaml cannot be read: printing an entry needs no folder. */
export async function takenIds(dir: string, env: KeysCommandOptions['env']): Promise<readonly string[]> {
  const file = await readKeys(dir, { env, now: Date.now() });
  return 'diagnostics' in file ? [] : file.keys.map(({ id }) => id);
}

export const showKey = (key: string): string => `The key (shown once, stored nowhere):\n\n  ${key}\n`;

type Made = { readonly key: string; readonly entry: NewEntry } | { readonly problem: string; readonly code: 1 | 2 };

function makeKey(request: Omit<CreateKeyOptions, keyof Output>): Made {
  const { id, providers = [], expires, team, taken, now = Date.now(), generate = generateKey } = request;
  const invalid = (option: string, value: string, wanted: string): Made => ({
    problem: `--${option} ${JSON.stringify(value)} is not valid: ${wanted}.`,
    code: 2,
  });
  for (const [option, value] of Object.entries({ id, team }))
    if (value !== undefined && !ID.test(value))
      return invalid(option, value, 'letters, digits, `.`, `_` and `-`, at most 64');
  const invalidName = providers.find((name) => !PROVIDER.test(name));
  if (invalidName !== undefined)
    return invalid('provider', invalidName, 'give the @slug of a catalog entry, or a provider name such as vertex-ai');
  if (taken?.includes(id)) {
    const problem = `keys.yaml already has a key with the id ${JSON.stringify(id)}: choose another id, or remove that key first.`;
    return { problem, code: 1 };
  }
  const expiresAt = expires === undefined ? undefined : readExpiry(expires, now);
  if (expires !== undefined && expiresAt === undefined)
    return invalid('expires', expires, 'give a future moment such as 2027-01-01T00:00:00Z, or a time such as 90d');
  const { key, digest } = generate();
  const limits = {
    ...(team !== undefined && { team }),
    ...(expiresAt && { expires_at: expiresAt }),
    ...(providers.length > 0 && { providers }),
  };
  return { key, entry: { id, digest, ...limits } };
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of `90d`, `12h`, `30m`; undefined for any other text. */
export function readSpan(text: string): number | undefined {
  const [, count, unit] = /^(\d+)([mhd])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * UNITS[unit!]!;
}

function readExpiry(text: string, now: number): string | undefined {
  const span = readSpan(text);
  const at = span === undefined ? readMoment(text) : now + span;
  // A date after the year 9999 has no RFC 3339 form.
  return at === undefined || at <= now || at > Date.UTC(9999, 0) ? undefined : new Date(at).toISOString();
}
