import { parseNetwork } from '../../../settings/compile/networks.ts';
import type { Entity, EntityDoc } from '../../../state/entities.ts';
import { actorOf, checkMatch, reasonOf, type Call, type Handler } from '../call.ts';
import { tokenDoc } from '../identity.ts';
import { etagOf, IN_STORE } from '../objects.ts';
import { pageOf } from '../pages.ts';
import { ApiProblem } from '../problems.ts';
import { includesScope } from '../roles.ts';
import { invalidBody } from '../schemas.ts';
import { createToken } from './secrets.ts';
import { metaOf, moment } from './object-answers.ts';

interface TokenBody {
  readonly id: string;
  readonly role: string;
  readonly expires_at?: string;
  readonly networks?: readonly string[];
  readonly scopes?: readonly string[];
  readonly reason?: string;
}

const LONGEST_MS = 90 * 86_400_000;
/** A call compares its token with each of these. */
const MAX_TOKENS = 1_000;

export const listTokens: Handler = ({ objects, query, clock }) => {
  const { items, next } = pageOf(objects.tokens(), ({ id }) => id, query);
  return { body: { items: items.map((token) => shown(token, clock.wall())), ...(next !== undefined && { next }) } };
};

export const getToken: Handler = (call) => {
  const token = find(call);
  return { body: shown(token, call.clock.wall()), headers: { etag: etagOf(token.version) } };
};

export const createTokenObject: Handler = async (call) => {
  const body = call.body as TokenBody;
  const { objects, clock } = call;
  const now = clock.wall();
  const validTo = body.expires_at === undefined ? now + LONGEST_MS : Date.parse(body.expires_at);
  check(body, { now, validTo }, call);
  const tokens = objects.tokens();
  if (tokens.some(({ id }) => id === body.id)) throw new ApiProblem('exists', `The token "${body.id}" exists.`);
  if (tokens.length >= MAX_TOKENS) throw new ApiProblem('store_full', `There are ${MAX_TOKENS} tokens: delete some.`);
  const secret = createToken();
  const { id, role, networks, scopes, reason } = body;
  const doc: EntityDoc = { role, ...(networks && { networks }), ...(scopes && { scopes }) };
  const digests = [{ slot: 0, digest: secret.digest, last4: secret.last4, validFrom: now, validTo }];
  const change = { op: 'put', kind: 'tokens', id, doc, digests, ifVersion: 0, reason: reasonOf(call, reason) } as const;
  const version = call.query.dryRun ? 0 : await objects.store.entities.write([change], actorOf(call));
  const entity = { ...change, version, sealed: [], updatedBy: actorOf(call).id, updatedAt: now };
  const token = call.query.dryRun ? null : secret.text;
  return { body: { token, object: shown(entity, now) }, headers: { etag: etagOf(version) } };
};

export const deleteToken: Handler = async (call) => {
  const token = find(call);
  checkMatch(call, etagOf(token.version));
  const change = {
    op: 'delete',
    kind: 'tokens',
    id: token.id,
    ifVersion: token.version,
    reason: reasonOf(call),
  } as const;
  if (!call.query.dryRun) await call.objects.store.entities.write([change], actorOf(call));
  return {};
};

function find({ objects, id }: Call): Entity {
  const token = objects.tokens().find((one) => one.id === id);
  if (!token) throw new ApiProblem('not_found', 'There is no token with this id.');
  return token;
}

/** A token gives no right that its creator does not have. */
function check(
  { role, networks = [], scopes }: TokenBody,
  { now, validTo }: { readonly now: number; readonly validTo: number },
  { identity }: Call,
): void {
  const errors = [];
  // RFC 3339 allows leap seconds, `Date.parse` does not.
  if (!(validTo > now) || validTo > now + LONGEST_MS)
    errors.push({ pointer: '/expires_at', message: 'a token ends in the future, and at most 90 days from now' });
  for (const [index, network] of networks.entries())
    if (!parseNetwork(network))
      errors.push({
        pointer: `/networks/${index}`,
        message: 'a network is an address and a prefix, such as 10.0.0.0/8',
      });
  if (identity.only !== undefined && (role !== 'admin' || scopes))
    errors.push({
      pointer: '/role',
      message: 'the bootstrap token creates a token with the role admin and all scopes',
    });
  if (errors.length > 0) throw invalidBody(errors);
  const allowed = identity.scopes;
  if (!allowed) return;
  const isWithin = (scope: string): boolean => {
    const [resource = '', right] = scope.split(':');
    return includesScope(allowed, resource, right === 'write');
  };
  if (!scopes || !scopes.every(isWithin))
    throw new ApiProblem('forbidden', 'The scopes of a new token must be among those of its creator.');
}

function shown(token: Entity, now: number): object {
  const [own] = token.digests;
  const { role, networks, scopes } = tokenDoc(token);
  return {
    ...metaOf({ id: token.id, owner: IN_STORE, etag: etagOf(token.version), entity: token }),
    role,
    expires_at: moment(own?.validTo ?? 0),
    ...(networks && { networks }),
    ...(scopes && { scopes }),
    last4: own?.last4 ?? '',
    state: (own?.validTo ?? 0) > now ? 'active' : 'expired',
  };
}
