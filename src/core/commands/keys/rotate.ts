import { generateKey, type NewKey } from '../../settings/compile/api-keys.ts';
import type { GatewayKey } from '../../../../schemas/types.generated.ts';
import { readSpan, showKey } from './create.ts';
import { readKeys, refuse, whatNext, writeKeys, type KeysCommandOptions } from './keys-file.ts';
import { indexOfKey } from './revoke.ts';
import { isMap, isScalar, type Pair, type YAMLMap } from 'yaml';
import {
  BY_HAND,
  checked,
  endOf,
  endOfLine,
  findList,
  insertAt,
  lineEndOf,
  splice,
  type Cut,
  type FileEdit,
} from './edit-keys.ts';

interface RotateRequest {
  readonly id: string;
  /** Time for which the previous key stays valid: `7d`, `12h`. */
  readonly overlap: string;
  readonly generate?: () => NewKey;
}

const LONGEST_OVERLAP_MS = 366 * 86_400_000;

/** Exit code 0: rotated; 1: nothing was changed; 2: an argument is invalid, or the folder does not exist. */
export async function rotateKeyCommand(request: RotateRequest, options: KeysCommandOptions): Promise<0 | 1 | 2> {
  const { id, overlap, generate = generateKey } = request;
  const { dir, env, now = Date.now(), out, err } = options;
  const overlapMs = readSpan(overlap);
  if (overlapMs === undefined || overlapMs === 0 || overlapMs > LONGEST_OVERLAP_MS) {
    err(`--overlap ${JSON.stringify(overlap)} is not valid: give a time such as 7d or 12h, at most 366d.\n`);
    return 2;
  }
  const file = await readKeys(dir, { env, now });
  if ('diagnostics' in file) return refuse(file, options);
  const index = indexOfKey(file, id, options);
  const key = file.keys[index];
  if (!key) return 1;
  const { digest: old } = key;
  const problem = obstacle(key, now);
  if (problem !== undefined || old === undefined) {
    err(`${file.path} was not changed: ${problem ?? GIVEN_BY_REFERENCE}\n`);
    return 1;
  }
  const made = generate();
  const end = Math.min(now + overlapMs, key.expires_at === undefined ? Infinity : Date.parse(key.expires_at));
  const previous = { digest: old, expires_at: new Date(end).toISOString() };
  if (!(await writeKeys(file, rotateEntry(file.text, index, { digest: made.digest, previous }), options))) return 1;
  out(
    `${showKey(made.key)}\nRotated \`${id}\` in ${file.path}, which has only the digests. The previous key is valid until ${previous.expires_at}; the gateway logs its uses, at most one a minute.\n${whatNext(file, dir)}`,
  );
  return 0;
}

const GIVEN_BY_REFERENCE =
  'the entry has `key`, a reference, and not `digest`: change the value that it refers to, or replace `key` by the digest';

function obstacle({ id, expires_at: end, previous }: GatewayKey, now: number): string | undefined {
  if (end !== undefined && Date.parse(end) <= now)
    return `the key \`${id}\` has expired, and so would a new one: change \`expires_at\` first`;
  if (previous && Date.parse(previous.expires_at) > now)
    return `\`${id}\` was rotated before, and its previous key is valid until ${previous.expires_at}: wait until then, or remove \`previous\` first`;
  return undefined;
}

interface Rotation {
  /** Digest of the new key. */
  readonly digest: string;
  readonly previous: { readonly digest: string; readonly expires_at: string };
}

/** Replaces the digest of the entry at `index`, and writes or replaces its `previous`. Every other character stays. */
export function rotateEntry(text: string, index: number, rotation: Rotation): FileEdit {
  const entry = findList(text)?.seq.items[index];
  const cuts = isMap(entry) ? cutsOf(text, entry, rotation) : undefined;
  if (!cuts) return { problem: BY_HAND };
  return checked(text, splice(text, cuts), (keys) =>
    keys.map((key, at) => (at === index ? { ...Object(key), ...rotation } : key)),
  );
}

function cutsOf(text: string, entry: YAMLMap, { digest, previous }: Rotation): readonly Cut[] | undefined {
  const pair = pairOf(entry, 'digest');
  const value = pair && rangeOf(pair.value, text);
  if (!value || !isScalar(pair.value)) return undefined;
  const replaced: Cut = { ...value, insert: JSON.stringify(digest) };
  const written = `{ digest: ${JSON.stringify(previous.digest)}, expires_at: ${JSON.stringify(previous.expires_at)} }`;
  const old = pairOf(entry, 'previous');
  if (old) {
    const oldValue = rangeOf(old.value, text);
    return oldValue && [replaced, { ...oldValue, insert: written }];
  }
  if (entry.flow) return [replaced, insertAt(value.to, `, previous: ${written}`)];
  const start = isScalar(pair.key) ? pair.key.range?.[0] : undefined;
  if (start === undefined) return undefined;
  const indent = ' '.repeat(start - (text.lastIndexOf('\n', start - 1) + 1));
  return [replaced, insertAt(endOfLine(text, value.to), `${lineEndOf(text)}${indent}previous: ${written}`)];
}

const pairOf = (entry: YAMLMap, name: string): Pair | undefined =>
  entry.items.find(({ key }) => isScalar(key) && key.value === name);

function rangeOf(node: unknown, text: string): { readonly from: number; readonly to: number } | undefined {
  const from = isScalar(node) || isMap(node) ? node.range?.[0] : undefined;
  return from === undefined ? undefined : { from, to: endOf(node, text) };
}
