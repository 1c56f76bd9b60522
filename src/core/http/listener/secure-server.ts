import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import type { SecureContextOptions } from 'node:tls';
import type { TlsIdentity } from '../../settings/read/tls-files.ts';
import { Handshakes, type HandshakeSetup } from './handshakes.ts';

export interface SecureSetup extends HandshakeSetup {
  readonly tls: TlsIdentity | undefined;
}

export const createListener = (
  options: ServerOptions,
  { tls, ...setup }: SecureSetup,
  answer: RequestListener,
): Server => (tls ? new SecureServer(options, { ...setup, tls }, answer) : createServer(options, answer));

/** Gives new connections the certificate of the settings. Open ones keep theirs. */
export function applyCertificate(server: Server, tls: TlsIdentity | undefined): void {
  if (server instanceof SecureServer && tls) server.apply(tls);
}

export const isSecure = (server: Server): boolean => server instanceof SecureServer;

class SecureServer extends HttpsServer {
  readonly #handshakes: Handshakes;
  #tls: TlsIdentity;

  constructor(
    options: ServerOptions,
    { tls, ...setup }: SecureSetup & { readonly tls: TlsIdentity },
    answer: RequestListener,
  ) {
    super(
      {
        ...options,
        ...contextOf(tls),
        ALPNProtocols: ['http/1.1'],
        // The gateway refuses a client without a certificate itself, with an error of its API.
        requestCert: tls.clientCa !== undefined,
        rejectUnauthorized: false,
      },
      answer,
    );
    this.#tls = tls;
    this.#handshakes = new Handshakes(this, setup);
  }

  apply(tls: TlsIdentity): void {
    if (isSame(tls, this.#tls)) return;
    this.#tls = tls;
    this.setSecureContext(contextOf(tls));
  }

  /** node:http knows a connection only when its handshake has ended. */
  override closeAllConnections(): void {
    this.#handshakes.end();
    super.closeAllConnections();
  }
}

const isSame = (one: TlsIdentity, other: TlsIdentity): boolean =>
  one.cert === other.cert && one.key.reveal() === other.key.reveal() && one.clientCa === other.clientCa;

function contextOf({ cert, key, clientCa }: TlsIdentity): SecureContextOptions {
  return { cert, key: key.reveal(), minVersion: 'TLSv1.2', ...(clientCa !== undefined && { ca: clientCa }) };
}
