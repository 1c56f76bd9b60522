import { isSubnet, parseNetwork } from '../../../../core/settings/compile/networks.ts';
import type { Entity, EntityDoc } from '../../../../core/ports/entities.ts';
import { actorOf, checkMatch, reasonOf, type Call, type Handler } from '../call.ts';
import { tokenDoc } from '../identity.ts';
import { etagOf, IN_STORE } from '../objects.ts';
import { pageOf } from '../pages.ts';
import { ApiProblem } from '../problems.ts';
import { includesScope } from '../roles.ts';
import { invalidBody } from '../schemas.ts';
import { createToken } from '../secrets.ts';
import { metaOf, moment } from './object-answers.ts';

interface TokenBody {
  readonly id: string;
  readonly role: string;
  readonly expires_at?: string;
  readonly networks?: readonly string[];
  readonly scopes?: readonly string[];
  readonly content?: boolean;
  readonly reason?: string;
}

const LONGEST_MS = 90 * 86_400_000;
/** A call compares its token with each of these. */
const MAX_TOKENS = 1_000;

export const listTokens: Handler = ({ objects, query, clock }) => {
  const page = pageOf(objects.tokens(), ({ id }) => id, query);
  return { body: { ...page, items: page.items.map((token) => shown(token, clock.wall())) } };
};

export const getToken: Handler = (call) => {
  const token = find(call);
  return { body: shown(token, call.clock.wall()), headers: { etag: etagOf(token.version) } };
};

export const createTokenObject: Handler = async (call) => {
  const { objects, clock } = call;
  const now = clock.wall();
  const { id, role, networks, scopes, content, reason, validTo } = inherited(call.body as TokenBody, now, call);
  const tokens = objects.tokens();
  if (tokens.some((token) => token.id === id)) throw new ApiProblem('exists', `The token "${id}" exists.`);
  if (tokens.length >= MAX_TOKENS) throw new ApiProblem('store_full', `There are ${MAX_TOKENS} tokens: delete some.`);
  const secret = createToken();
  const doc: EntityDoc = {
    role,
    ...(networks && { networks }),
    ...(scopes && { scopes }),
    ...(content && { content }),
  };
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

interface NewToken extends TokenBody {
  readonly validTo: number;
}

/** The token with the end, the networks and the scopes of its creator where it names none. It gives no right that its creator does not have. */
function inherited(body: TokenBody, now: number, { identity }: Call): NewToken {
  const ownEnd = identity.expiresAt ?? Infinity;
  const validTo = body.expires_at === undefined ? Math.min(now + LONGEST_MS, ownEnd) : Date.parse(body.expires_at);
  const { scopes = identity.scopes, networks = identity.networks } = body;
  const token = { ...body, validTo, ...(scopes && { scopes }), ...(networks && { networks }) };
  check(token, now, identity);
  const { scopes: allowed, networks: reach } = identity;
  const isWithin = (scope: string): boolean => {
    const [resource = '', right] = scope.split(':');
    return includesScope(allowed, resource, right === 'write');
  };
  const wider = [
    ...(scopes?.every(isWithin) === false ? ['scopes'] : []),
    ...(reach && networks?.every((network) => isSubnet(network, reach)) === false ? ['networks'] : []),
    ...(validTo > ownEnd ? ['end'] : []),
    // The first token gets its rights from whoever holds the folder of the store.
    ...(body.content && !identity.content && identity.only === undefined ? ['right `content`'] : []),
  ];
  if (wider.length > 0)
    throw new ApiProblem('forbidden', `The ${wider.join(' and ')} of a new token must be within those of its creator.`);
  return token;
}

function check({ role, networks = [], scopes, validTo }: NewToken, now: number, { only }: Call['identity']): void {
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
  if (only !== undefined && (role !== 'admin' || scopes))
    errors.push({
      pointer: '/role',
      message: 'the bootstrap token creates a token with the role admin and all scopes',
    });
  if (errors.length > 0) throw invalidBody(errors);
}

function shown(token: Entity, now: number): object {
  const [own] = token.digests;
  const { role, networks, scopes, content } = tokenDoc(token);
  return {
    ...metaOf({ id: token.id, owner: IN_STORE, etag: etagOf(token.version), entity: token }),
    role,
    content,
    expires_at: moment(own?.validTo ?? 0),
    ...(networks && { networks }),
    ...(scopes && { scopes }),
    last4: own?.last4 ?? '',
    state: (own?.validTo ?? 0) > now ? 'active' : 'expired',
  };
}
