import type { IncomingMessage } from 'node:http';
import { networkOf } from '../../../core/kernel/network-of.ts';
import { createNetworkTest, isLoopback } from '../../../core/settings/compile/networks.ts';
import type { ServerSettings } from '../../../core/settings/compile/server-settings.ts';
import { digestOf } from '../../../core/settings/compile/api-keys.ts';
import type { Actor, Entity } from '../../../core/ports/entities.ts';
import type { Sessions } from '../../../core/process/console-port.ts';
import type { Bootstrap } from './bootstrap.ts';
import type { Failures } from './failures.ts';
import type { Objects } from './objects.ts';
import { ApiProblem } from './problems.ts';
import { isRole, type Role } from './roles.ts';
import type { OperationId } from './routes.ts';
import { isSame } from './secrets.ts';
import { cookieOf, CSRF_HEADER } from './session-cookie.ts';

export interface AdminIdentity {
  readonly actor: Actor;
  readonly role: Role;
  /** Undefined: all. */
  readonly scopes: readonly string[] | undefined;
  /** The networks that the token is limited to. Undefined: any. */
  readonly networks: readonly string[] | undefined;
  /** The one operation that the bootstrap token is for. */
  readonly only?: OperationId;
  /** Milliseconds since 1970; undefined: no end. */
  readonly expiresAt: number | undefined;
  readonly content: boolean;
  /** The token; undefined: none was needed. Seals what only the caller may read again. */
  readonly secret: string | undefined;
  readonly session?: string;
}

export const addressOf = ({ socket }: Pick<IncomingMessage, 'socket'>): string => socket.remoteAddress ?? '';

type Caller = Pick<IncomingMessage, 'headers' | 'socket'>;

interface IdentifyOptions {
  readonly admin: ServerSettings['admin'];
  readonly failures: Failures;
  readonly bootstrap: Bootstrap;
  readonly now: number;
  /** Rejects while the store does not answer. Undefined: there is no store. */
  readonly objects: (() => Promise<Objects>) | undefined;
  readonly sessions: Pick<Sessions, 'find'> | undefined;
}

/** Identifies the caller. Throws `unauthorized`, `forbidden` or `too_many_failures`. */
export async function identify(request: Caller, options: IdentifyOptions): Promise<AdminIdentity> {
  const { authorization } = request.headers;
  if (authorization === undefined) return (await ofSession(request, options)) ?? withoutToken(request, options.admin);
  const address = addressOf(request);
  const [, sent] = /^bearer +(\S{1,512}) *$/i.exec(authorization) ?? [];
  const isBlocked = options.failures.isFull(networkOf(address));
  // No client guesses 256 random bits, and a client of the same address must not keep others out. A token of the settings may be short: an operator chose it.
  if (isBlocked && !sent?.startsWith('gha_')) throw blocked();
  // This is no guess at a token.
  if (sent === undefined) throw unauthorized('Send a token as `Authorization: Bearer`.');
  const identity = await ofToken(sent, request, options);
  if (identity) return identity;
  if (isBlocked) throw blocked();
  options.failures.count(networkOf(address));
  throw unauthorized('The token is not valid.');
}

const blocked = (): ApiProblem =>
  new ApiProblem('too_many_failures', 'This address has sent 10 wrong tokens within a minute: wait a minute.');

const unauthorized = (detail: string): ApiProblem =>
  new ApiProblem('unauthorized', detail, { headers: { 'www-authenticate': 'Bearer' } });

/** Proxies write them: the person behind one is anywhere. */
const OF_PROXIES = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via'];

/** Without a token only connections to a loopback address are allowed, whatever address the settings resolved to. */
function withoutToken({ socket, headers }: Caller, { token, role, content }: ServerSettings['admin']): AdminIdentity {
  if (OF_PROXIES.some((name) => headers[name] !== undefined))
    throw unauthorized('A proxy has sent this: send a token as `Authorization: Bearer`.');
  if (token || !isLoopback(socket.localAddress ?? '') || !isLoopback(socket.remoteAddress ?? ''))
    throw unauthorized('Send a token as `Authorization: Bearer`.');
  return identityOf('loopback', role, socket.remoteAddress, { content });
}

const identityOf = (
  id: string,
  role: Role,
  address: string | undefined,
  more: Partial<AdminIdentity> = {},
): AdminIdentity => ({
  actor: { id, role, address },
  role,
  scopes: undefined,
  networks: undefined,
  expiresAt: undefined,
  content: false,
  secret: undefined,
  ...more,
});

async function ofToken(sent: string, request: Caller, options: IdentifyOptions): Promise<AdminIdentity | undefined> {
  const { admin, bootstrap, now, objects } = options;
  const address = addressOf(request);
  if (admin.token && isSame(sent, admin.token.reveal()))
    return identityOf('admin.token', admin.role, address, { content: admin.content, secret: sent });
  if (sent.startsWith('ghb_')) {
    const isOpen =
      isLoopback(address) && objects && !hasAdmin((await objects()).tokens(), now) && (await bootstrap.accepts(sent));
    return isOpen ? identityOf('bootstrap', 'admin', address, { secret: sent, only: 'tokens.create' }) : undefined;
  }
  if (!sent.startsWith('gha_') || !objects) return undefined;
  // Found by its digest: how long that takes says nothing about other tokens.
  const token = (await objects()).tokenOf(digestOf(sent));
  return token && ofStored(token, { sent, address, now });
}

/** A session ends with its token, and has its rights as they are now. Undefined: the call has none. */
async function ofSession(request: Caller, options: IdentifyOptions): Promise<AdminIdentity | undefined> {
  const { admin, now, objects, sessions } = options;
  const csrf = request.headers[CSRF_HEADER];
  const cookie = cookieOf(request.headers.cookie);
  const session = cookie !== undefined && typeof csrf === 'string' && (await sessions?.find(cookie, csrf));
  if (!session) return undefined;
  const address = addressOf(request);
  const { tokenDigest, expiresAt } = session;
  if (admin.token && isSame(tokenDigest, digestOf(admin.token.reveal())))
    return identityOf('admin.token', admin.role, address, { content: admin.content, expiresAt, session: cookie });
  const token = (await objects?.())?.tokenOf(tokenDigest);
  if (!token) return undefined;
  const own = ofStored(token, { sent: undefined, address, now });
  return { ...own, expiresAt: Math.min(own.expiresAt ?? Infinity, expiresAt), session: cookie };
}

function ofStored(
  token: Entity,
  { sent, address, now }: { sent: string | undefined; address: string; now: number },
): AdminIdentity {
  const { role, networks, scopes, content } = tokenDoc(token);
  const expiresAt = token.digests[0]?.validTo ?? 0;
  if (now >= expiresAt) throw unauthorized('The token has expired.');
  if (networks && !createNetworkTest(networks)(address))
    throw new ApiProblem('forbidden', 'The token may not be used from this address.');
  return identityOf(`token:${token.id}`, role, address, { scopes, networks, content, expiresAt, secret: sent });
}

interface TokenDoc {
  readonly role: Role;
  readonly networks?: readonly string[];
  readonly scopes?: readonly string[];
  readonly content: boolean;
}

/** A document that this API has not written gives the least rights. */
export function tokenDoc({ doc: { role, networks, scopes, content } }: Pick<Entity, 'doc'>): TokenDoc {
  const texts = (value: unknown): readonly string[] | undefined =>
    Array.isArray(value) ? value.filter((one) => typeof one === 'string') : undefined;
  const [ofNetworks, ofScopes] = [texts(networks), texts(scopes)];
  return {
    role: isRole(role) ? role : 'viewer',
    content: content === true,
    ...(ofNetworks && { networks: ofNetworks }),
    ...(ofScopes && { scopes: ofScopes }),
  };
}

/** A token that may create others is valid. */
export const hasAdmin = (tokens: readonly Entity[], now: number): boolean =>
  tokens.some((token) => tokenDoc(token).role === 'admin' && (token.digests[0]?.validTo ?? 0) > now);
