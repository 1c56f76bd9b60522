import { GOOGLE_TOKEN_URI } from './google-oauth.ts';

/** An endpoint that exchanges a credential for a token. */
export interface Endpoint {
  readonly url: string;
  /** The operator listed it, which also allows plain http and loopback there. */
  readonly listed: boolean;
}

/** Token endpoints that the operator allows besides Google's: `egress.token_uris` of server.yaml. */
type Listed = ReadonlySet<string>;

// A replaced credentials file must not be able to send secrets and signed assertions to another host. So each address in such a
// file must be exactly Google's, or one that the operator has listed.

/** The address of the same endpoint in old key files. */
const OLD_TOKEN_URI = 'https://accounts.google.com/o/oauth2/token';

/** The token endpoint of service accounts and users. Default: Google's. */
export function tokenEndpoint(value: unknown, listed: Listed): Endpoint | undefined {
  if (value === undefined || value === GOOGLE_TOKEN_URI || value === OLD_TOKEN_URI) {
    return { url: GOOGLE_TOKEN_URI, listed: false };
  }
  return listedEndpoint(value, listed);
}

/**
 * The host of a Google API: the global one, or a regional one (`sts.us-east1.rep.googleapis.com`, and the older form
 * `us-east1-sts.googleapis.com`). Only Google controls names under googleapis.com.
 */
const hostOf = (api: string): string =>
  `(?:${api}|${api}\\.[a-z0-9-]{1,40}\\.rep|[a-z0-9-]{1,40}-${api})\\.googleapis\\.com`;

const STS = new RegExp(`^https://${hostOf('sts')}/v1/token$`);
const IMPERSONATION = new RegExp(
  `^https://${hostOf('iamcredentials')}/v1/projects/-/serviceAccounts/[A-Za-z0-9._@-]{1,200}:generateAccessToken$`,
);

/** The endpoint of the Security Token Service, which exchanges other issuers' tokens (RFC 8693). */
export function stsEndpoint(value: unknown, listed: Listed): Endpoint | undefined {
  return googleEndpoint(STS, value, listed);
}

/** The endpoint of the IAM Credentials API for one service account. */
export function impersonationEndpoint(value: unknown, listed: Listed): Endpoint | undefined {
  return googleEndpoint(IMPERSONATION, value, listed);
}

function googleEndpoint(form: RegExp, value: unknown, listed: Listed): Endpoint | undefined {
  if (typeof value === 'string' && form.test(value)) return { url: value, listed: false };
  return listedEndpoint(value, listed);
}

function listedEndpoint(value: unknown, listed: Listed): Endpoint | undefined {
  return typeof value === 'string' && listed.has(value) ? { url: value, listed: true } : undefined;
}
