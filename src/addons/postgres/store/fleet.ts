import { MAX_BOOTS, type BootRow, type Boots, type LiveBoots } from '../../../core/ports/boots.ts';
import { mostClaims, type Claim, type Claims } from '../../../core/ports/claims.ts';
import { LEASE_MS } from '../../../core/ports/counters.ts';
import { MAX_EVENTS, type Outbox, type TakenEvent } from '../../../core/ports/outbox.ts';
import type { StoreTools } from '../connect/store-tools.ts';

const REFUSED = 'CASE WHEN refused IS NULL THEN NULL ELSE refused::json END AS refused';

export const bootsOf = ({ connections, rules, now }: StoreTools): Boots => ({
  async seen(boot, shown) {
    rules.checks.checkShown(boot, shown);
    return connections.call<LiveBoots>('boot_shown', { boot, shown, live: LEASE_MS, ...now() });
  },
  async live() {
    const rows = await connections.one<BootRow & { readonly refused: BootRow['refused'] | null }>(
      `SELECT id, host, role, version AS release, config_hash AS "configHash", started_at AS "startedAt", shown_at AS "seenAt",
         shown_version AS version, ${REFUSED} FROM boot WHERE shown_at > ${now().now ?? 'store_now()'} - ${LEASE_MS}
       ORDER BY started_at, id LIMIT ${MAX_BOOTS}`,
    );
    return rows.map((row) => ({ ...row, refused: row.refused ?? undefined }));
  },
  ended: async (id) =>
    void (await connections.one(`UPDATE boot SET shown_at = 0 WHERE id = ${connections.literal(id)}`)),
});

export const claimsOf = ({ connections, rules, now }: StoreTools): Claims => ({
  async take(wish) {
    rules.checks.checkClaim(wish);
    return connections.call<Claim>('claim_take', { text: '', ...wish, most: mostClaims(wish.name), ...now() });
  },
  async find(name) {
    const [found] = await connections.one<Claim>(
      `SELECT holder, text, until FROM claim WHERE name = ${connections.literal(name)} AND until > ${now().now ?? 'store_now()'}`,
    );
    return found && { ...found };
  },
  async end(name, holder) {
    const ofHolder = holder === undefined ? '' : ` AND holder = ${connections.literal(holder)}`;
    await connections.one(`DELETE FROM claim WHERE name = ${connections.literal(name)}${ofHolder}`);
  },
});

export const outboxOf = ({ connections, rules, now }: StoreTools): Outbox => ({
  async add(events) {
    rules.checks.checkEvents(events);
    await connections.call('outbox_add', { events, most: MAX_EVENTS, ...now() });
  },
  async take(to, most, ms) {
    rules.checks.checkTaking(to, most, ms);
    return connections.call<TakenEvent[]>('outbox_take', { to, most, ms, ...now() });
  },
  async done(events) {
    const refs = connections.literal(JSON.stringify(events));
    await connections.one(
      `DELETE FROM outbox WHERE number IN (SELECT number FROM outbox
         JOIN jsonb_to_recordset(${refs}) AS r(id text, "to" text) ON outbox.id = r.id AND receiver = r."to" ORDER BY number FOR UPDATE OF outbox)`,
    );
  },
  async again({ id, to }, ms) {
    await connections.one(
      `UPDATE outbox SET due = ${now().now ?? 'store_now()'} + ${ms} WHERE id = ${connections.literal(id)} AND receiver = ${connections.literal(to)}`,
    );
  },
  async waiting() {
    const rows = await connections.one<{ receiver: string; count: number }>(
      'SELECT receiver, count(*) AS count FROM outbox GROUP BY receiver ORDER BY receiver',
    );
    return new Map(rows.map(({ receiver, count }) => [receiver, count]));
  },
});
