import { StateFailure } from '../../../../core/ports/failures.ts';
import { MAX_EVENTS, type OutboxEvent, type OutboxRef, type TakenEvent } from '../../../../core/ports/outbox.ts';
import { checkEvents, checkTaking } from '../rules/checks.ts';
import type { Database } from './database.ts';

export const outboxCalls = (db: Database) => ({
  addEvents(now: number, events: readonly OutboxEvent[]): void {
    checkEvents(events);
    db.transaction(() => {
      const { count } = db.get<{ count: number }>('SELECT count(*) AS count FROM outbox')!;
      if (count + events.length > MAX_EVENTS) throw new StateFailure('full', `the outbox has ${MAX_EVENTS} events`);
      for (const { id, to, body } of events)
        db.insert('outbox', { id, receiver: to, body, tries: 0, due: now }, 'ON CONFLICT DO NOTHING');
    });
  },
  takeEvents(now: number, to: readonly string[], most: number, ms: number): TakenEvent[] {
    checkTaking(to, most, ms);
    return db.transaction(() =>
      db
        .all<{ number: number } & Omit<TakenEvent, 'to'> & { receiver: string }>(
          'SELECT number, id, receiver, body, tries FROM outbox WHERE due <= ? AND receiver IN (SELECT value FROM json_each(?)) ORDER BY number LIMIT ?',
          now,
          JSON.stringify(to),
          most,
        )
        .map(({ number, id, receiver, body, tries }) => {
          db.run('UPDATE outbox SET tries = tries + 1, due = ? WHERE number = ?', now + ms, number);
          return { id, to: receiver, body, tries: tries + 1 };
        }),
    );
  },
  endEvents: (_now: number, events: readonly OutboxRef[]): void =>
    db.transaction(() => {
      for (const { id, to } of events) db.run('DELETE FROM outbox WHERE id = ? AND receiver = ?', id, to);
    }),
  eventAgain: (now: number, { id, to }: OutboxRef, ms: number): void =>
    void db.run('UPDATE outbox SET due = ? WHERE id = ? AND receiver = ?', now + ms, id, to),
  eventsWaiting: (_now: number): [string, number][] =>
    db
      .all<{ receiver: string; count: number }>('SELECT receiver, count(*) AS count FROM outbox GROUP BY receiver')
      .map(({ receiver, count }) => [receiver, count]),
});
