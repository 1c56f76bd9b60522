import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readKnownRow, type AuditRow } from '../../../../core/ports/audit.ts';
import { ANN, KEYS, NOON } from '../contract/opened-store.testkit.ts';
import { ChainKeys, nextRow } from '../rules/audit-chain.ts';
import { KeyEncryptionKeys } from '../rules/sealing.ts';
import { Engine } from './engine.ts';
import { StoreReader } from './store-reader.ts';

const key = (name: string, byte: number): string => `${name}:${Buffer.alloc(32, byte).toString('base64')}`;
const OTHER = key('k2', 9);

let folder: string;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'gatehouse-chain-')), 'state');
});
afterEach(() => rmSync(join(folder, '..'), { recursive: true }));

/** Opens the store with these keys, adds so many rows, and closes it. */
function write(keys: string, count: number): void {
  const engine = new Engine({ folder, owner: { pid: 4711, boot: 'b'.repeat(32), host: 'host-a' }, keys, now: NOON });
  for (let row = 0; row < count; row += 1)
    engine.calls.addAudit(NOON, { action: 'login', kind: 'admins', id: `${row}` }, ANN);
  engine.close();
}

function verify(keys: string, known?: string) {
  const reader = new StoreReader(folder);
  const verdict = reader.verifyAudit(
    KeyEncryptionKeys.parse(keys),
    known === undefined ? undefined : readKnownRow(known),
  );
  reader.close();
  return verdict;
}

function onFile<Result>(work: (db: DatabaseSync) => Result): Result {
  const db = new DatabaseSync(join(folder, 'state.db'));
  db.exec('DROP TRIGGER IF EXISTS audit_update; DROP TRIGGER IF EXISTS audit_delete');
  const result = work(db);
  db.close();
  return result;
}

const rows = (): AuditRow[] =>
  onFile((db) => db.prepare('SELECT * FROM audit ORDER BY seq').all() as unknown as AuditRow[]);

/** Changes a row and writes the chain behind it anew, as a holder of these keys can. */
function forge(from: number, keys: string): void {
  const ring = new ChainKeys(KeyEncryptionKeys.parse(keys));
  const kept = rows();
  let after = kept[from - 2];
  for (const old of kept.slice(from - 1)) {
    const event = {
      ...old,
      id: old.seq === from ? 'forged' : old.id,
      before: undefined,
      after: undefined,
      reason: undefined,
    };
    const next = nextRow(event, { ...ANN, id: old.actor, role: old.role }, { after, at: old.at, keys: ring });
    const { id, prev, hash, seq } = next;
    onFile((db) => db.prepare('UPDATE audit SET id = ?, prev = ?, hash = ? WHERE seq = ?').run(id, prev, hash, seq));
    after = next;
  }
}

describe('the chain of the audit with `state.encryption_keys`', () => {
  it('is keyed from the next row on, and says where that part begins', () => {
    write('', 2);
    expect(verify('')).toMatchObject({ intact: true, parts: [{ from: 1, to: 2, proof: 'none' }] });
    write(KEYS, 3);
    const [, second, third, , fifth] = rows();
    expect([second!.hash, third!.hash, third!.prev]).toEqual([
      expect.stringMatching(/^[0-9a-f]{64}$/),
      expect.stringMatching(/^[0-9a-f]{16}\.[0-9a-f]{64}$/),
      second!.hash,
    ]);
    const parts = [
      { from: 1, to: 2, proof: 'none' },
      { from: 3, to: 5, proof: 'key', key: 'k1' },
    ];
    expect(verify(KEYS)).toMatchObject({ intact: true, rows: 5, seq: 5, head: fifth!.hash, parts });
    expect(verify(KEYS, `5:${fifth!.hash}`)).toMatchObject({ intact: true });
    expect(verify(KEYS, `3:${fifth!.hash}`)).toEqual({ intact: false, at: 3, reason: 'it had another hash' });
  });

  it.each([
    [
      'without a key',
      '',
      4,
      'it has no key and the rows before it have: it was replaced, or written without state.encryption_keys',
    ],
    ['with the id of the key and without its bytes', 'id', 4, 'its values are not those of its hash'],
  ])('shows a row that was replaced with all behind it %s', (_, how, at, reason) => {
    write(KEYS, 6);
    const id = rows()[0]!.hash.slice(0, 17);
    forge(4, '');
    if (how === 'id') {
      onFile((db) => db.prepare(`UPDATE audit SET hash = ? || hash WHERE seq >= 4`).run(id));
      onFile((db) => db.prepare(`UPDATE audit SET prev = ? || prev WHERE seq > 4`).run(id));
    }
    expect(verify(KEYS)).toEqual({ intact: false, at, reason });
  });

  it('proves nothing without a key: a forger with write access makes a chain that is intact', () => {
    write('', 6);
    forge(1, '');
    expect(verify('')).toMatchObject({ intact: true, parts: [{ from: 1, to: 6, proof: 'none' }] });
  });

  it('announces a new first key under the old one; the part of a key that left is not verifiable, and no fault', () => {
    write(KEYS, 2);
    // The old key may leave after one start, also one that adds no row of its own.
    for (const keys of [`${OTHER},${KEYS}`, `${OTHER},${KEYS}`]) write(keys, 0);
    write(OTHER, 2);
    const announced = rows()[2]!;
    expect(announced).toMatchObject({ actor: 'gatehouse', action: 'rekey', kind: 'audit', after: '{"key":"k2"}' });
    expect(rows()[3]!.hash.split('.')[0]).toBe(announced.id);
    const [old, next] = [
      { from: 1, to: 3 },
      { from: 4, to: 5, proof: 'key', key: 'k2' },
    ];
    expect(verify(`${OTHER},${KEYS}`)).toMatchObject({
      intact: true,
      parts: [{ ...old, proof: 'key', key: 'k1' }, next],
    });
    for (const left of [OTHER, `${OTHER},${key('k1', 1)}`])
      expect(verify(left)).toMatchObject({ intact: true, parts: [{ ...old, proof: 'unknown_key' }, next] });
    expect(verify('')).toMatchObject({ intact: true, parts: [{ from: 1, to: 5, proof: 'unknown_key' }] });
    write(`${KEYS},${OTHER}`, 1);
    const parts = [
      { ...old, proof: 'key', key: 'k1' },
      { from: 4, to: 6, proof: 'unknown_key' },
      { from: 7, to: 7, proof: 'key', key: 'k1' },
    ];
    expect(verify(KEYS)).toMatchObject({ intact: true, parts });
    onFile((db) => db.exec('DELETE FROM audit WHERE seq = 2'));
    expect(verify('')).toEqual({ intact: false, at: 2, reason: 'row 2 is missing' });
  });

  it('shows rows that a forger without a key wrote under a key that no row announces, also behind new rows', () => {
    write(KEYS, 4);
    forge(3, OTHER);
    const forged = { intact: false, at: 3, reason: expect.stringContaining('does not announce that key') };
    expect(verify(KEYS)).toEqual(forged);
    write(KEYS, 2);
    expect(verify(KEYS)).toEqual(forged);
  });

  it('is verified from the key of the list on where an older store announced no key', () => {
    write(KEYS, 2);
    onFile((db) => db.exec('DELETE FROM key_check'));
    write(OTHER, 2);
    const next = { from: 3, to: 4, proof: 'key', key: 'k2' };
    expect(verify(OTHER)).toMatchObject({ intact: true, parts: [{ from: 1, to: 2, proof: 'unknown_key' }, next] });
    expect(verify(`${OTHER},${KEYS}`)).toMatchObject({ intact: true, parts: [{ from: 1, to: 2, key: 'k1' }, next] });
  });

  it.each(['', 'zz', 'ABCDEF', `${'0'.repeat(16)}.zz`])('shows a row whose hash is %j', (hash) => {
    write(KEYS, 1);
    onFile((db) => db.prepare('UPDATE audit SET hash = ?').run(hash));
    expect(verify(KEYS)).toEqual({ intact: false, at: 1, reason: 'its values are not those of its hash' });
  });

  it('is compared with a last row of either form, and with no other text', () => {
    for (const hash of ['a'.repeat(64), `${'0'.repeat(16)}.${'a'.repeat(64)}`])
      expect(readKnownRow(`7:${hash}`)).toEqual({ seq: 7, hash });
    for (const text of [`7:${'a'.repeat(63)}`, `7:.${'a'.repeat(64)}`, `7:${'0'.repeat(17)}.${'a'.repeat(64)}`])
      expect(readKnownRow(text)).toBeUndefined();
  });
});
