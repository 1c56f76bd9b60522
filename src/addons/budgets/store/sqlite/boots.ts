import { MAX_BOOTS, type BootRow, type LiveBoots, type ShownBoot } from '../../../../core/ports/boots.ts';
import { LEASE_MS, type Boot } from '../../../../core/ports/counters.ts';
import { checkShown } from '../rules/checks.ts';
import type { Database } from './database.ts';

interface StoredBoot extends Omit<BootRow, 'refused'> {
  readonly refused: string | null;
}

export const bootCalls = (db: Database) => ({
  seenBoot(now: number, boot: Boot, shown: ShownBoot): LiveBoots {
    checkShown(boot, shown);
    const { id, host, role, version: release, startedAt } = boot;
    const { configHash, version, refused } = shown;
    const row = { id, host, role, version: release, config_hash: configHash, started_at: startedAt, seen_at: now };
    const text = refused ? JSON.stringify(refused) : null;
    db.insert(
      'boot',
      { ...row, batch: 0, answer: '[]', shown_at: now, shown_version: version, refused: text },
      'ON CONFLICT (id) DO UPDATE SET config_hash = excluded.config_hash, seen_at = excluded.seen_at, shown_at = excluded.shown_at, shown_version = excluded.shown_version, refused = excluded.refused',
    );
    return db.get<LiveBoots>(
      'SELECT count(*) AS gateways, count(DISTINCT config_hash) AS hashes FROM boot WHERE shown_at > ?',
      now - LEASE_MS,
    )!;
  },
  liveBoots: (now: number): BootRow[] =>
    db
      .all<StoredBoot>(
        'SELECT id, host, role, version AS release, config_hash AS configHash, started_at AS startedAt, shown_at AS seenAt, shown_version AS version, refused FROM boot WHERE shown_at > ? ORDER BY started_at, id LIMIT ?',
        now - LEASE_MS,
        MAX_BOOTS,
      )
      // This store has written the text.
      .map((row) => ({
        ...row,
        refused: row.refused === null ? undefined : (JSON.parse(row.refused) as BootRow['refused']),
      })),
  endBoot: (_now: number, id: Boot['id']): void => void db.run('UPDATE boot SET shown_at = 0 WHERE id = ?', id),
});
