import { readKnownRow, type AuditRow } from '../../../../core/ports/audit.ts';
import type { Handler } from '../call.ts';
import { cut, readCursor } from '../pages.ts';
import { ApiProblem } from '../problems.ts';

export const listAudit: Handler = async ({ objects, query }) => {
  const after = readCursor(query);
  if (after !== undefined && !/^\d{1,15}$/.test(after))
    throw new ApiProblem('invalid_query', '`cursor` is not the `next` of a page.');
  const { limit } = query;
  const wanted = {
    before: after === undefined ? undefined : Number(after),
    kind: query.one('object_kind'),
    id: query.one('object_id'),
  };
  const rows = await objects.store.audit.rows({ ...wanted, limit });
  // The port answers with `MAX_AUDIT_ROWS` at most, so a second query finds whether there is one more.
  const last = rows.at(-1);
  const more =
    last && rows.length === limit ? await objects.store.audit.rows({ ...wanted, before: last.seq, limit: 1 }) : [];
  const page = cut([...rows, ...more], ({ seq }) => String(seq), limit);
  return { body: { ...page, items: page.items.map(shown) } };
};

export const verifyAudit: Handler = async ({ objects, query }) => {
  const head = query.one('head');
  const known = head === undefined ? undefined : readKnownRow(head);
  if (head !== undefined && !known) throw new ApiProblem('invalid_query', '`head` is not SEQ:HASH of an audit row.');
  return { body: await objects.store.audit.verify(known) };
};

const json = (text: string | undefined): unknown => (text === undefined ? null : JSON.parse(text));

const shown = ({
  seq,
  at,
  actor,
  role,
  address,
  action,
  kind,
  id,
  before,
  after,
  reason,
  prev,
  hash,
}: AuditRow): object => ({
  seq,
  at: new Date(at).toISOString(),
  actor,
  role,
  address: address ?? null,
  action,
  kind,
  id,
  before: json(before),
  after: json(after),
  reason: reason ?? null,
  prev,
  hash,
});
