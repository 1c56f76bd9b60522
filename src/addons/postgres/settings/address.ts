export interface DatabaseAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** Empty: the server asks for none. */
  readonly password: string;
  readonly database: string;
  /** Packets do not leave the machine, so that a connection without TLS is safe. */
  readonly isLoopback: boolean;
}

const DEFAULT_PORT = 5432;

/**
 * Reads `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. A text: the reason why it is no such address, without any part of it that may be secret.
 *
 * Parameters are refused: `pg` lets `sslmode` of an address override the TLS options that a program gives (pg-connection-string).
 */
export function readAddress(text: string): DatabaseAddress | string {
  if (!URL.canParse(text)) return `${NO_ADDRESS}: it cannot be parsed`;
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(text);
  if (protocol !== 'postgres:' && protocol !== 'postgresql:') return `${NO_ADDRESS}: it begins otherwise`;
  if (search !== '' || hash !== '')
    return 'the address has parameters: remove them. TLS is verified without `sslmode`, and `ca` names an authority of your own';
  const [user, secret, database] = [username, password, pathname.slice(1)].map(decoded);
  if (user === undefined || secret === undefined || database === undefined)
    return 'the address has a `%` that is no escape: write `%25` for it';
  if (hostname === '' || user === '' || database === '' || database.includes('/'))
    return `${NO_ADDRESS}: a user, a host or a database is missing`;
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return {
    host,
    port: port === '' ? DEFAULT_PORT : Number(port),
    user,
    password: secret,
    database,
    isLoopback: /^(?:localhost|::1|127(?:\.\d{1,3}){3})$/.test(host),
  };
}

// A message with `USER:PASSWORD@` in an address would be hidden as a secret.
const NO_ADDRESS = 'the address is not `postgres://HOST:PORT/DATABASE` with USER:PASSWORD@ before the host';

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** For messages: without the user and the password. */
export const nameOfAddress = ({ host, port, database }: DatabaseAddress): string =>
  `postgres://${host.includes(':') ? `[${host}]` : host}:${port}/${database}`;
