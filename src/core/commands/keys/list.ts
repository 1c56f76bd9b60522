import type { GatewayKey } from '../../../../schemas/types.generated.ts';
import { addedToShown } from '../../settings/compile/added-parts.ts';
import { looksSecret } from '../../settings/values/show.ts';
import { readKeys, refuse, type KeysCommandOptions } from './keys-file.ts';
import { textTable } from '../../kernel/layout.ts';

interface ListKeysOptions extends KeysCommandOptions {
  readonly format: 'table' | 'json';
}

/** `gatehouse keys list`. Exit code 0: listed; 1: errors in keys.yaml; 2: the folder does not exist. */
export async function listKeysCommand(options: ListKeysOptions): Promise<0 | 1 | 2> {
  const { dir, env, now = Date.now(), format, out } = options;
  const file = await readKeys(dir, { env, now });
  if ('diagnostics' in file) return refuse(file, options);
  const keys = file.keys.map((key) => ({ own: describeKey(key, now), more: addedToShown(key) }));
  if (format === 'json')
    out(
      `${JSON.stringify(
        keys.map(({ own, more }) => ({ ...own, ...more })),
        null,
        2,
      )}\n`,
    );
  else if (keys.length === 0) out(`${file.path} has no keys\n`);
  else
    out(
      textTable([
        [...Object.keys(COLUMNS), ...Object.keys(keys[0]!.more).map((name) => name.toUpperCase())],
        ...keys.map(({ own, more }) => [
          ...Object.values(COLUMNS).map((cell) => plain(cell(own, now))),
          ...Object.values(more).map((texts) => plain(texts?.join(', ') ?? '-')),
        ]),
      ]),
    );
  return 0;
}

/** Enough to distinguish keys. The full digest of a weak key could be searched for. */
const DIGEST_SHOWN = 'sha256:'.length + 8;

/** A key without its secret. Null: no limit, or not set. */
function describeKey(key: GatewayKey, now: number) {
  const { id, expires_at: expiresAt } = key;
  return {
    id,
    ...origin(key),
    expires_at: expiresAt ?? null,
    expired: expiresAt !== undefined && Date.parse(expiresAt) <= now,
    previous_expires_at: key.previous?.expires_at ?? null,
    providers: shown(key.providers),
    models: shown(key.models),
    configs: shown(key.configs),
    inline_configs: key.inline_configs ?? false,
    inline_plugins: key.inline_plugins ?? false,
    default_config: key.default_config === undefined ? null : concealed(key.default_config),
    networks: shown(key.networks),
    metadata: key.metadata ? Object.entries(key.metadata).map(([name, value]) => concealed(`${name}=${value}`)) : null,
    team: key.team === undefined ? null : concealed(key.team),
  };
}

/** How the key is given, and the start of its digest or the source of the key: `env:NAME`. */
function origin({ digest, key }: GatewayKey): { readonly given: string; readonly from: string | null } {
  if (digest !== undefined) return { given: 'digest', from: `${digest.slice(0, DIGEST_SHOWN)}…` };
  return key?.source === undefined ? { given: 'clear text', from: null } : { given: 'reference', from: key.source };
}

type ShownKey = ReturnType<typeof describeKey>;

/** Hides a key that was pasted into the wrong field. */
export const concealed = (name: string): string => (looksSecret(name) ? '[secret]' : name);

const shown = (names: readonly string[] | undefined): readonly string[] | null => names?.map(concealed) ?? null;

const COLUMNS: Readonly<Record<string, (key: ShownKey, now: number) => string>> = {
  ID: ({ id }) => id,
  KEY: ({ given, from }) => (from === null ? given : `${given} ${from}`),
  EXPIRES: expiry,
  PROVIDERS: ({ providers }) => list(providers),
  MODELS: ({ models }) => list(models),
  CONFIGS: ({ configs, inline_configs: inline }) => list(configs && inline ? [...configs, '(inline)'] : configs),
  'DEFAULT CONFIG': ({ default_config: config }) => config ?? '-',
  NETWORKS: ({ networks }) => list(networks),
  TEAM: ({ team }) => team ?? '-',
};

const list = (names: readonly string[] | null): string => (names ? names.join(', ') || 'none' : 'all');

/** Replaces control characters, which would move the cursor of a terminal. */
const plain = (text: string): string => text.replaceAll(/\p{Cc}/gu, '\uFFFD');

function expiry({ expires_at: at, expired, previous_expires_at: previous }: ShownKey, now: number): string {
  const own = at === null ? 'never' : endOfKey(at, expired, now);
  return previous === null ? own : `${own}; previous key ${endOfKey(previous, Date.parse(previous) <= now, now)}`;
}

function endOfKey(at: string, expired: boolean, now: number): string {
  const day = new Date(at).toISOString().slice(0, 10);
  return `${day} (${expired ? 'expired' : `in ${span(Date.parse(at) - now)}`})`;
}

const SPANS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const;

/** Rounded down, in the largest unit that fits at least once, so that a key never seems to live longer than it does. */
function span(milliseconds: number): string {
  const [unit, size] = SPANS.find(([, size]) => milliseconds >= size) ?? ['second', 1000];
  const count = Math.floor(milliseconds / size);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
