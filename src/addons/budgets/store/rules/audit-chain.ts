import { createHash, createHmac } from 'node:crypto';
import type { Actor } from '../../../../core/ports/entities.ts';
import type { AuditEvent, AuditPart, AuditRow, AuditVerdict, KnownRow } from '../../../../core/ports/audit.ts';
import type { ChainCheck, LastRow, SecretRing } from '../../../../core/ports/store-rules.ts';
import { checkActor, checkText, invalid } from './checks.ts';

const MAX_VALUES = 64 * 1024;
const NO_HASH = '0'.repeat(64);

interface NextPlace {
  readonly after: LastRow | undefined;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly keys: ChainKeys;
  /** Of the key that signs; default: the first. */
  readonly keyId?: string;
}

/** The row under the old key that announces the first key, or undefined: the last row needs none. */
export function announcementOf(place: NextPlace): AuditRow | undefined {
  const { after, keys } = place;
  const old = (after && keyIdOf(after.hash)) ?? '';
  if (!after || old === keys.first || keys.nameOf(old) === undefined || isChangeTo(after, keys.first)) return undefined;
  return nextRow(changeTo(keys), GATEWAY, { ...place, keyId: old });
}

export function nextRow(event: AuditEvent, by: Actor, { after, at, keys, keyId = keys.first }: NextPlace): AuditRow {
  checkActor(by);
  checkText('the action of an audit row', event.action, 64);
  if (event.kind.length > 64 || event.id.length > 256)
    throw invalid('an audit row has a kind of 64 and an id of 256 characters at most');
  if ((event.reason?.length ?? 0) > 1_000) throw invalid('a reason has at most 1000 characters');
  const row = {
    seq: (after?.seq ?? 0) + 1,
    at,
    actor: by.id,
    role: by.role,
    address: by.address,
    action: event.action,
    kind: event.kind,
    id: plain(event.id),
    ...shortened(event),
    reason: event.reason && plain(event.reason),
    prev: after?.hash ?? NO_HASH,
  };
  return { ...row, hash: hashOf(row, keys, keyId)! };
}

/** Callers choose it. PostgreSQL, to which a store may move, has no U+0000 and no half of a pair in a text. */
const plain = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd');

function shortened({ before, after }: AuditEvent): Pick<AuditEvent, 'before' | 'after'> {
  if ((before?.length ?? 0) + (after?.length ?? 0) <= MAX_VALUES) return { before, after };
  return { before: before && digestOf(before), after: after && digestOf(after) };
}

const digestOf = (text: string): string => `{"sha256":"${createHash('sha256').update(text).digest('hex')}"}`;

/** Over the hash before and a list in a fixed order, which is canonical JSON without a canonicaliser. Undefined: the key is missing. */
function hashOf(row: Omit<AuditRow, 'hash'>, keys: ChainKeys, keyId: string): string | undefined {
  const { seq, at, actor, role, address, action, kind, id, before, after, reason, prev } = row;
  const text = [seq, at, actor, role, address ?? null, action, kind, id, before ?? null, after ?? null, reason ?? null];
  return keys.hash(prev, JSON.stringify(text), keyId);
}

const GATEWAY = { id: 'gatehouse', role: 'system' } as const;

const changeTo = (keys: ChainKeys): AuditEvent => ({
  action: 'rekey',
  kind: 'audit',
  id: keys.first,
  after: JSON.stringify({ key: keys.nameOf(keys.first) }),
});

const isChangeTo = (row: LastRow | undefined, keyId: string): boolean =>
  row?.action === 'rekey' && row.kind === 'audit' && row.id === keyId;

export const dropOf = (last: Pick<AuditRow, 'seq' | 'hash'>): AuditEvent => ({
  action: 'drop',
  kind: 'audit',
  id: String(last.seq),
  after: JSON.stringify({ hash: last.hash }),
  reason: 'older than state.retention.audit_days',
});

/** The row says that the rows up to `seq` were dropped, of which the last had this hash. */
const isDropOf = (row: AuditRow, seq: number, hash: string): boolean =>
  row.action === 'drop' && row.kind === 'audit' && row.id === String(seq) && row.after === JSON.stringify({ hash });

/**
 * @param rows all rows, from the first
 * @param keys those that the settings have: the hashes of other keys are not compared
 * @param known a row that is or was among them
 */
export function verifyChain(rows: Iterable<AuditRow>, keys: ChainKeys, known?: KnownRow): AuditVerdict {
  const check = new ChainReading(keys, known);
  for (const row of rows) {
    const broken = check.add(row);
    if (broken) return broken;
  }
  return check.end();
}

/** A check of a chain whose rows come one after the other, for backends that read them in pieces. */
export class ChainReading implements ChainCheck {
  readonly #known: KnownRow | undefined;
  readonly #parts: Parts;
  #first: AuditRow | undefined;
  #isBegun = true;
  #head = NO_HASH;
  #seq = 0;
  #count = 0;

  constructor(keys: ChainKeys, known?: KnownRow) {
    this.#parts = new Parts(keys);
    this.#known = known;
  }

  add(row: AuditRow): AuditVerdict | undefined {
    if (!this.#first) {
      this.#first = row;
      // Old rows may have been dropped: a row of this chain has to say so.
      if (row.seq > 1) [this.#isBegun, this.#head, this.#seq] = [false, row.prev, row.seq - 1];
    }
    this.#count += 1;
    this.#seq += 1;
    const place = { seq: this.#seq, head: this.#head, known: this.#known };
    const reason = wrongIn(row, place) ?? this.#parts.add(row);
    if (reason !== undefined) return { intact: false, at: this.#seq, reason };
    this.#head = row.hash;
    this.#isBegun ||= isDropOf(row, this.#first.seq - 1, this.#first.prev);
    return undefined;
  }

  end(): AuditVerdict {
    const [first, known, seq] = [this.#first, this.#known, this.#seq];
    if (first && !this.#isBegun) return { intact: false, at: first.seq - 1, reason: `row ${first.seq - 1} is missing` };
    const whole = { intact: true, rows: this.#count, seq, head: this.#head, parts: this.#parts.all } as const;
    return (known && missing(known, { first, seq })) ?? whole;
  }
}

class Parts {
  readonly all: { from: number; to: number; proof: AuditPart['proof']; key?: string }[] = [];
  readonly #keys: ChainKeys;
  #before: LastRow | undefined;

  constructor(keys: ChainKeys) {
    this.#keys = keys;
  }

  add(row: AuditRow): string | undefined {
    const id = keyIdOf(row.hash);
    if (id === undefined) return OTHER_VALUES;
    const hash = hashOf(row, this.#keys, id);
    if (hash !== undefined && hash !== row.hash) return OTHER_VALUES;
    const key = this.#keys.nameOf(id);
    const proof = id === '' ? 'none' : key === undefined ? 'unknown_key' : 'key';
    const last = this.all.at(-1);
    // Without this, a forger without the key writes the rest of the chain anew without one.
    if (proof === 'none' && this.#keys.first !== '' && last && last.proof !== 'none') return KEY_LOST;
    // Without this, a forger without a key names a key that no gateway has, and the gateway's next row stands behind the forged ones.
    if (proof === 'unknown_key' && last?.proof === 'key' && !isChangeTo(this.#before, id)) return UNANNOUNCED;
    this.#before = row;
    if (last?.proof === proof && last.key === key) last.to = row.seq;
    else this.all.push({ from: row.seq, to: row.seq, proof, ...(key !== undefined && { key }) });
    return undefined;
  }
}

function wrongIn(
  row: AuditRow,
  { seq, head, known }: { readonly seq: number; readonly head: string; readonly known: KnownRow | undefined },
): string | undefined {
  if (row.seq !== seq) return `row ${seq} is missing`;
  if (row.prev !== head) return 'it does not follow the row before it';
  return seq === known?.seq && row.hash !== known.hash ? OTHER_HASH : undefined;
}

/** The verdict on a known row that is not in the chain. @param seq the number of the chain's last row */
function missing(
  known: KnownRow,
  { first, seq }: { readonly first: AuditRow | undefined; readonly seq: number },
): AuditVerdict | undefined {
  if (known.seq > seq) return { intact: false, at: seq + 1, reason: `row ${seq + 1} is missing` };
  if (!first || known.seq >= first.seq) return undefined;
  if (known.seq < first.seq - 1) return { intact: false, at: known.seq, reason: DROPPED };
  return first.prev === known.hash ? undefined : { intact: false, at: known.seq, reason: OTHER_HASH };
}

const OTHER_VALUES = 'its values are not those of its hash';
const KEY_LOST = 'it has no key and the rows before it have: it was replaced, or written without state.encryption_keys';
const UNANNOUNCED =
  'state.encryption_keys does not have its key, and the row before it does not announce that key: it was replaced, or the list needs that key';
const OTHER_HASH = 'it had another hash';
const DROPPED = 'it was dropped, as rows older than state.retention.audit_days are: compare with a later row';

/** A hash of the chain: SHA-256 or, behind the id of a key and a point, HMAC-SHA-256. */
const HASH = /^(?:([0-9a-f]{16})\.)?[0-9a-f]{64}$/;

/** The keys of the audit's chain, one for each key of the ring, by an id made of its bytes: a name may be given again. */
export class ChainKeys {
  readonly #keys: ReadonlyMap<string, { readonly name: string; readonly bytes: Buffer }>;
  readonly #first: string | undefined;

  constructor(ring: SecretRing) {
    this.#keys = new Map(
      ring.names.map((name) => {
        const bytes = ring.derive('audit chain', name)!;
        return [createHmac('sha256', bytes).update('id').digest('hex').slice(0, 16), { name, bytes }];
      }),
    );
    [this.#first] = this.#keys.keys();
  }

  /** The name of a key in the ring. Undefined: the ring does not have it. */
  nameOf(id: string): string | undefined {
    return this.#keys.get(id)?.name;
  }

  /** The id of the key of the next row; empty: it has none. */
  get first(): string {
    return this.#first ?? '';
  }

  /**
   * The hash of a row. Undefined: the ring does not have the key.
   * @param prev the hash of the row before
   * @param id of the key; empty: SHA-256
   */
  hash(prev: string, text: string, id: string): string | undefined {
    // The bytes of a hash without a key, as in chains that were made before there were keys.
    const before = prev.includes('.') ? prev : Buffer.from(prev, 'hex');
    if (id === '') return createHash('sha256').update(before).update(text).digest('hex');
    const key = this.#keys.get(id);
    return key && `${id}.${createHmac('sha256', key.bytes).update(before).update(text).digest('hex')}`;
  }
}

/** The id of the key of a hash; empty for a hash without one, undefined for a text that is no hash. */
function keyIdOf(hash: string): string | undefined {
  const found = HASH.exec(hash);
  return found ? (found[1] ?? '') : undefined;
}
