import { GatewayError, UpstreamError } from '../../plugin/index.ts';
import type { ProviderSetup } from '../definition.ts';
import type { UpstreamCaller } from '../provider.ts';
import { mintGoogleToken, TokenFault } from './google-oauth.ts';
import type { ServiceAccount } from './service-account.ts';

type Headers = Readonly<Record<string, string>>;

/** How an entry proves itself to Vertex. */
export interface Credentials {
  authorize(caller: UpstreamCaller): Headers | Promise<Headers>;
  forget?(): boolean;
}

/** Google tokens for a service account. */
export function serviceAccountCredentials(slug: string, account: ServiceAccount, setup: ProviderSetup): Credentials {
  // A refresh in the background has no caller who would see it fail.
  const mint = async () => {
    try {
      const minted = await mintGoogleToken(account, setup);
      setup.tokenFetched(slug, undefined);
      return minted;
    } catch (error) {
      setup.tokenFetched(slug, error);
      throw error;
    }
  };
  let last: { readonly token: string; readonly headers: Headers } | undefined;
  const headersFor = (token: string): Headers => {
    if (last?.token !== token) last = { token, headers: { authorization: `Bearer ${token}` } };
    return last.headers;
  };
  return {
    authorize() {
      const token = setup.tokens.get(account.tokenKey, mint);
      if (typeof token === 'string') return headersFor(token);
      return token.then(headersFor, (error: unknown) => {
        throw tokenError(slug, error);
      });
    },
    forget() {
      setup.tokens.forget(account.tokenKey);
      return true;
    },
  };
}

/** The failure is shared by all who waited; each learns which entry it was for. */
function tokenError(slug: string, error: unknown): UpstreamError {
  const reason = error instanceof TokenFault ? error.message : 'the token could not be made';
  return new UpstreamError('credentials_failed', `No Google token for the catalog entry @${slug}: ${reason}`, {
    provider: slug,
    cause: error,
  });
}

/** The caller's own OAuth token, with or without `Bearer`. @param name how errors name the place: `The catalog entry @x` */
export function callerCredentials(name: string, slug: string): Credentials {
  const required = (what: string) =>
    new GatewayError(
      'upstream_credentials_required',
      `${name} needs your own Google OAuth token in \`Authorization\`: ${what}.`,
      {
        provider: slug,
      },
    );
  return {
    authorize({ upstreamToken }) {
      const token = upstreamToken?.reveal().replace(/^bearer(?: +|$)/i, '') ?? '';
      if (token === '') throw required('there is none');
      // A space means another scheme (`Basic …`), anything else cannot stand in a header.
      if (!/^[\x21-\x7e]+$/.test(token)) throw required('what is there is not a bearer token');
      return { authorization: `Bearer ${token}` };
    },
  };
}
