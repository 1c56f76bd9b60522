import { MAX_ANSWERS, type KeptAnswer } from '../../../../core/ports/idempotency.ts';
import { checkAnswer } from '../rules/checks.ts';
import type { Database } from './database.ts';

export class SqliteIdempotency {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  find(actor: string, key: string, now: number): KeptAnswer | undefined {
    const found = this.#db.get<KeptAnswer>(
      'SELECT * FROM idem WHERE actor = ? AND key = ? AND until > ?',
      actor,
      key,
      now,
    );
    return found && { ...found };
  }

  keep(answer: KeptAnswer, now: number): void {
    checkAnswer(answer);
    const { actor, key, sha256, status, body, until } = answer;
    this.#db.transaction(() => {
      this.#db.run('DELETE FROM idem WHERE until <= ?', now);
      this.#db.insert('idem', { actor, key, sha256, status, body, until }, 'ON CONFLICT DO NOTHING');
      this.#db.run(
        `DELETE FROM idem WHERE rowid IN
         (SELECT rowid FROM idem ORDER BY until, rowid LIMIT max(0, (SELECT count(*) FROM idem) - ?))`,
        MAX_ANSWERS,
      );
    });
  }
}
