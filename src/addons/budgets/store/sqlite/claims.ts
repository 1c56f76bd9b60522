import { mostClaims, type Claim, type ClaimWish } from '../../../../core/ports/claims.ts';
import { StateFailure } from '../../../../core/ports/failures.ts';
import { checkClaim } from '../rules/checks.ts';
import type { Database } from './database.ts';

export const claimCalls = (db: Database) => ({
  takeClaim(now: number, wish: ClaimWish): Claim {
    checkClaim(wish);
    const { name, holder, text = '', ms } = wish;
    return db.transaction(() => {
      const found = claimOf(db, name);
      if (found && found.until > now && found.holder !== holder) return found;
      if (!found) makeRoom(db, now, mostClaims(name));
      const until = now + ms;
      db.put('claim', ['name'], { name, holder, text, until });
      return { holder, text, until };
    });
  },
  findClaim(now: number, name: string): Claim | undefined {
    const found = claimOf(db, name);
    return found && found.until > now ? found : undefined;
  },
  endClaim: (_now: number, name: string, holder: string | undefined): void =>
    void db.run('DELETE FROM claim WHERE name = ?1 AND (?2 IS NULL OR holder = ?2)', name, holder ?? null),
});

function claimOf(db: Database, name: string): Claim | undefined {
  const found = db.get<Claim>('SELECT holder, text, until FROM claim WHERE name = ?', name);
  return found && { ...found };
}

function makeRoom(db: Database, now: number, most: number): void {
  const count = (): number => db.get<{ count: number }>('SELECT count(*) AS count FROM claim')!.count;
  if (count() < most) return;
  db.run('DELETE FROM claim WHERE until <= ?', now);
  if (count() >= most) throw new StateFailure('full', `the store has ${most} claims`);
}
