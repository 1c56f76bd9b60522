import type { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { ClientCertificate } from '../../kernel/index.ts';
import { alternativeName, type NameKind } from '../../settings/compile/certificate-rules.ts';

/** By connection: a certificate is read once, at the first request. */
const read = new WeakMap<Socket, ClientCertificate>();

/** The certificate of a connection. Undefined: the client sent none, or the listener requests none. */
export function clientCertificateOf(socket: Socket): ClientCertificate | undefined {
  const known = read.get(socket);
  if (known || !(socket instanceof TLSSocket)) return known;
  // Asked for in place of `authorized`, which is true without a certificate when a session is resumed (Node 24).
  const certificate = socket.getPeerX509Certificate();
  if (!certificate) return undefined;
  const problem = socket.authorized ? undefined : String(socket.authorizationError);
  const found = { names: namesOf(certificate), problem };
  read.set(socket, found);
  return found;
}

/** Gives a turn of a WebSocket the certificate of its handshake. */
export function passCertificate(from: ClientCertificate | undefined, to: Socket): void {
  if (from) read.set(to, from);
}

const ALTERNATIVE = /([\w ]+):("(?:[^"\\]|\\.)*"|[^,"]*)(?:, |$)/gy;

/** Node quotes a name that could pass for several (CVE-2021-44532): quoted names are left out. */
function namesOf({ subjectAltName = '', subject }: X509Certificate): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [, kind = '', name = ''] of subjectAltName.matchAll(ALTERNATIVE))
    if (isKind(kind) && name !== '' && !name.startsWith('"')) names.add(alternativeName(kind, name));
  const common = subject.split('\n').filter((line) => line.startsWith('CN='));
  // If there are several, it is unknown which one the authority has checked.
  if (common.length === 1) names.add(`CN:${common[0]!.slice('CN='.length)}`);
  return names;
}

const isKind = (kind: string): kind is NameKind => ['DNS', 'URI', 'email', 'IP Address'].includes(kind);
