import type { BootRow } from '../../../../core/ports/boots.ts';
import type { Handler } from '../call.ts';

/** The gateways on the store, from the oldest start, and which of them answers. A store of one gateway has no rows: it shows itself. */
export const listReplicas: Handler = async ({ sources: { state, replica } }) => {
  const self = replica();
  const others = (await state?.store?.boots.live()) ?? [];
  const rows = [...others.filter(({ id }) => id !== self?.id), ...(self ? [self] : [])];
  const latest = Math.max(0, ...rows.map(({ version }) => version));
  const shown = (row: BootRow): object => ({
    id: row.id,
    host: row.host,
    role: row.role,
    release: row.release,
    settings_hash: row.configHash,
    version: row.version,
    lag: latest - row.version,
    started_at: new Date(row.startedAt).toISOString(),
    seen_at: new Date(row.seenAt).toISOString(),
    refused_reload: row.refused ? { at: new Date(row.refused.at).toISOString(), problem: row.refused.text } : null,
    answers: row.id === self?.id,
  });
  const sorted = rows.toSorted((one, other) => one.startedAt - other.startedAt || (one.id < other.id ? -1 : 1));
  return { body: { items: sorted.map(shown), rolled_back: state?.rolledBack?.reason ?? null } };
};
