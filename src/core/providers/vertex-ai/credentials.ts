import { GatewayError, UpstreamError } from '../../../plugin/index.ts';
import type { ProviderSetup } from '../definition.ts';
import type { UpstreamCaller } from '../provider.ts';
import { TokenFault } from './google-oauth.ts';
import type { TokenSource } from './token-source.ts';

type AuthHeaders = Readonly<Record<string, string>>;

const BEARER = 'Bearer ';

const NO_HEADERS: AuthHeaders = Object.freeze({});

export interface Credentials {
  authorize(caller: UpstreamCaller): AuthHeaders | Promise<AuthHeaders>;
  /** @param refused headers that `authorize` returned. True: it returns different ones from now on. */
  forget?(refused: AuthHeaders): boolean;
  readonly ofCaller?: boolean;
  readonly tokenKey?: string | undefined;
  /** Additional headers without secrets. */
  readonly headers?: AuthHeaders;
  /** Awaited before the first request. Throws TokenFault. */
  open?(): Promise<void>;
}

/** Credentials with the tokens of one source, cached and renewed by the token store. */
export function tokenCredentials(slug: string, source: TokenSource, setup: ProviderSetup): Credentials {
  // Reported here, because a refresh in the background has no caller who would see the error.
  const mint = async () => {
    try {
      const minted = await source.mint();
      setup.tokenFetched(slug, undefined);
      return minted;
    } catch (error) {
      setup.tokenFetched(slug, error);
      throw error;
    }
  };
  let last: { readonly token: string; readonly headers: AuthHeaders } | undefined;
  const headersFor = (token: string): AuthHeaders => {
    if (last?.token !== token) last = { token, headers: { authorization: BEARER + token } };
    return last.headers;
  };
  const { quotaProjectId } = source;
  return {
    authorize() {
      const token = setup.tokens.get(source.key, mint);
      if (typeof token === 'string') return headersFor(token);
      return token.then(headersFor, (error: unknown) => {
        throw tokenError(slug, error);
      });
    },
    forget({ authorization = '' }) {
      return setup.tokens.refuse(source.key, authorization.slice(BEARER.length));
    },
    tokenKey: source.key,
    // Google's libraries also send the quota project with every call, where the credential names one.
    ...(quotaProjectId !== undefined && { headers: Object.freeze({ 'x-goog-user-project': quotaProjectId }) }),
    ...(source.check && { open: () => source.check!() }),
  };
}

export function foundCredentials(slug: string, find: () => Promise<TokenSource>, setup: ProviderSetup): Credentials {
  let found: Credentials | undefined;
  const opened = (): Credentials => {
    if (found) return found;
    throw new GatewayError('internal_error', `The credentials of the catalog entry @${slug} have not been opened.`);
  };
  return {
    authorize: (caller) => opened().authorize(caller),
    forget: (refused) => opened().forget?.(refused) ?? false,
    get tokenKey() {
      return found?.tokenKey;
    },
    get headers() {
      return found?.headers ?? NO_HEADERS;
    },
    async open() {
      const credentials = tokenCredentials(slug, await find(), setup);
      await credentials.open?.();
      found = credentials;
    },
  };
}

export function keyCredentials(apiKey: string): Credentials {
  const headers = Object.freeze({ 'x-goog-api-key': apiKey });
  return { authorize: () => headers };
}

/** The error of a failed token call, with the entry's slug: entries may share the call. */
export function tokenError(slug: string, error: unknown): UpstreamError {
  const reason = error instanceof TokenFault ? error.message : 'the token could not be created';
  return new UpstreamError('credentials_failed', `No Google token for the catalog entry @${slug}: ${reason}`, {
    provider: slug,
    cause: error,
  });
}

/** The caller's own OAuth token, with or without `Bearer`. @param name the subject of error messages: `The catalog entry @x` */
export function callerCredentials(name: string, slug: string): Credentials {
  const required = (problem: string): GatewayError => {
    const message = `${name} needs your own Google OAuth token in \`Authorization\`: ${problem}.`;
    return new GatewayError('upstream_credentials_required', message, { provider: slug });
  };
  return {
    ofCaller: true,
    authorize({ upstreamToken }) {
      const token = upstreamToken?.reveal().replace(/^bearer(?: +|$)/i, '') ?? '';
      if (token === '') throw required('there is none');
      // A space means another scheme (`Basic …`); other characters are not allowed in a header.
      if (!/^[\x21-\x7e]+$/.test(token)) throw required('its value is not a bearer token');
      return { authorization: BEARER + token };
    },
  };
}
