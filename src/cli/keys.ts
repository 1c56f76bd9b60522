import { stringify } from 'yaml';
import { generateKey, type NewKey } from '../settings/api-keys.ts';

export interface CreateKeyOptions {
  readonly id: string;
  /** `@slug`s or provider names the key may use. */
  readonly providers?: readonly string[];
  /** A moment (`2027-01-01`, RFC 3339), or how long from now: `90d`, `12h`. */
  readonly expires?: string;
  /** Ids that keys.yaml has already. */
  readonly taken?: readonly string[];
  readonly now?: number;
  readonly generate?: () => NewKey;
  readonly out: (text: string) => void;
}

const PROVIDER = /^@?[A-Za-z0-9*][A-Za-z0-9._*-]{0,63}$/;
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** `gatehouse keys create`. Exit code 0: printed; 1: the id is taken; 2: an argument cannot be used. */
export function createKeyCommand(options: CreateKeyOptions): 0 | 1 | 2 {
  const { id, providers = [], expires, now = Date.now(), generate = generateKey, out } = options;
  if (!ID.test(id)) {
    out(`--id ${JSON.stringify(id)} cannot be used: letters, digits, \`.\`, \`_\` and \`-\`, at most 64.\n`);
    return 2;
  }
  const odd = providers.find((name) => !PROVIDER.test(name));
  if (odd !== undefined) {
    out(
      `--provider ${JSON.stringify(odd)} cannot be used: give the @slug of a catalog entry, or a provider name such as vertex-ai.\n`,
    );
    return 2;
  }
  if (options.taken?.includes(id)) {
    out(`keys.yaml has a key with the id ${JSON.stringify(id)} already: choose another, or take that one out first.\n`);
    return 1;
  }
  const expiresAt = expires === undefined ? undefined : readExpiry(expires, now);
  if (expires !== undefined && expiresAt === undefined) {
    out(
      `--expires ${JSON.stringify(expires)} cannot be used: give a coming moment such as 2027-01-01T00:00:00Z, or a time such as 90d.\n`,
    );
    return 2;
  }
  const { key, digest } = generate();
  const entry = { id, digest, ...(expiresAt && { expires_at: expiresAt }), ...(providers.length > 0 && { providers }) };
  out(`The key (shown once, stored nowhere):\n\n  ${key}\n\nAdd this to \`keys:\` in keys.yaml:\n\n`);
  out(stringify([entry], { lineWidth: 0 }).replaceAll(/^/gm, '  ').trimEnd());
  out('\n');
  return 0;
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

function readExpiry(text: string, now: number): string | undefined {
  const [, count, unit] = /^(\d+)([mhd])$/.exec(text) ?? [];
  const isMoment =
    /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text) && isDay(text.slice(0, 10));
  const at = count === undefined ? Date.parse(isMoment ? text : '') : now + Number(count) * UNITS[unit!]!;
  // A date beyond the year 9999 has no RFC 3339 form.
  return Number.isNaN(at) || at <= now || at > Date.UTC(9999, 0) ? undefined : new Date(at).toISOString();
}

/** The 30th of February would be read as the 2nd of March. */
function isDay(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}
