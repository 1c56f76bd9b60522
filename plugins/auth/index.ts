import {
  bearer,
  definePlugin,
  googleKeys,
  holdsKeyShape,
  portkeyHint,
  UPLOAD_ID,
  type Caller,
  type ClientCertificate,
  type Exchange,
  type GatewayContext,
  type KeyRing,
} from '../../src/core/kernel/index.ts';
import { GatewayError, NotMine, Secret } from '../../src/plugin/index.ts';

/** Finds the caller by the gateway key, in any of the headers that SDKs use for it, or by the certificate of its connection. */
export default definePlugin({
  name: 'auth',
  level: 'entry',
  needs: ['keys'],
  provides: ['caller'],
  explain({ exchange: { caller, upstreamToken } }) {
    if (!caller) return undefined;
    const own = upstreamToken ? ', with its own token for the upstream' : '';
    return {
      does: `key ${caller.keyId}${own}`,
      details: { key: caller.keyId, upstreamToken: upstreamToken !== undefined },
    };
  },
  create({ host }) {
    return {
      step(ctx) {
        const { exchange } = ctx;
        const { certificates } = host.keys;
        const certificate = certificates?.verify(exchange.request.clientCertificate);
        const authorization = bearer(exchange.request.headers.authorization);
        const found = findCaller(host.keys, ctx, { authorization, certificate });
        if (certificate) certificates?.allow(found.caller, certificate);
        exchange.caller = found.caller;
        // An Authorization that is not the gateway key is the caller's own credential for the upstream.
        if (
          authorization !== undefined &&
          authorization !== found.key &&
          mayForward(host.keys, exchange, authorization)
        )
          exchange.upstreamToken = new Secret(authorization, 'caller');
        return undefined;
      },
    };
  },
});

interface Credentials {
  readonly authorization: string | undefined;
  readonly certificate: ClientCertificate | undefined;
}

interface FoundCaller {
  readonly caller: Caller;
  /** Undefined: the certificate identifies the caller. */
  readonly key?: string;
}

function findCaller(keys: KeyRing, ctx: GatewayContext, { authorization, certificate }: Credentials): FoundCaller {
  const { request } = ctx.exchange;
  const google = googleKeys(request.headers);
  if (google.length > MAX_WORDS)
    throw new GatewayError('invalid_api_key', `x-goog-api-key has more than ${MAX_WORDS} keys.`);
  const candidates = [request.header('api-key'), authorization, request.headers['x-api-key']?.toString(), ...google];
  let found: FoundCaller | undefined;
  let presented = false;
  for (let at = 0; at < candidates.length; at += 1) {
    const key = candidates[at];
    if (!key || key === found?.key) continue;
    presented = true;
    const caller = found ? undefined : keys.find(key, request.remoteAddress);
    if (caller) found = { caller, key };
    else if (isDeadKey(keys, request.remoteAddress, key)) throw deadKey();
  }
  if (found) return found;
  const uploader = google.length > 0 ? findUploader(keys, ctx, google) : undefined;
  if (uploader) return { caller: uploader };
  const caller = certificate && keys.certificates?.find(certificate, request.remoteAddress);
  if (caller) return { caller };
  throw presented
    ? new NotMine('The gateway key is not valid.')
    : new NotMine(
        `No gateway key: send it in ${request.headerName('api-key')}, Authorization: Bearer, x-api-key or x-goog-api-key.${portkeyHint(request)}`,
        'missing_api_key',
      );
}

/** The caller that has begun an upload, by the credential in the upload's address. It serves for requests of this upload alone. */
function findUploader(keys: KeyRing, ctx: GatewayContext, grants: readonly string[]): Caller | undefined {
  const { operation, request } = ctx.exchange;
  const id = operation?.id === 'files.create' ? new URLSearchParams(ctx.querystring).get(UPLOAD_ID) : null;
  if (id === null) return undefined;
  for (const grant of grants) {
    const caller = keys.uploads?.find(grant, id, request.remoteAddress);
    if (caller) return caller;
  }
  return undefined;
}

/** Whether a word has the format of a gateway key and is none (revoked, cut, mistyped): no upstream may read it. */
function isDeadKey(keys: KeyRing, address: string, credential: string): boolean {
  const words = wordsOf(credential).filter(holdsKeyShape);
  return words.length > MAX_WORDS || words.some((word) => !keys.find(word, address));
}

const deadKey = (): GatewayError =>
  new GatewayError(
    'invalid_api_key',
    'The request contains a gateway key that is not valid: it may be revoked or truncated.',
  );

/**
 * No second gateway key is forwarded, whatever its scheme. Keys that the operator chose have no recognizable format, so
 * every word is looked up, and a credential with more than `MAX_WORDS` words is rejected.
 */
function mayForward(keys: KeyRing, { request }: Exchange, credential: string): boolean {
  if (keys.find(credential, request.remoteAddress)) return false;
  const words = wordsOf(credential);
  if (words.length > MAX_WORDS)
    throw new GatewayError(
      'invalid_api_key',
      `Authorization has more than ${MAX_WORDS} words: the gateway cannot search all of them for gateway keys, so it does not forward them.`,
    );
  // A credential of one word has been looked up above.
  return !words.some((word) => word !== credential && keys.find(word, request.remoteAddress));
}

/** The most words looked up in a credential. Those of Digest (RFC 7616) and OAuth 1.0 (RFC 5849) have about 20. */
const MAX_WORDS = 32;

/** The words between separators, and the user and password of `Basic` (RFC 7617): clients put keys in all of these. */
function wordsOf(credential: string): readonly string[] {
  // Most tokens of vendors are one word with a full stop, which no base64 has.
  if (/^[^\s,;:"']*\.[^\s,;:"']*$/.test(credential)) return [credential];
  const words = splitWords(credential);
  return words.flatMap((word) => [word, ...(BASE64.test(word) ? splitWords(fromBase64(word)).filter(isText) : [])]);
}

const BASE64 = /^[A-Za-z0-9+/_-]{8,}={0,2}$/;

const splitWords = (text: string): readonly string[] => text.split(/[\s,;:"']+/).filter((word) => word !== '');

/** Buffer decodes both base64 alphabets. */
const fromBase64 = (word: string): string => Buffer.from(word, 'base64').toString('latin1');

/** An opaque vendor token is also valid base64, but its bytes are no text and must not count as words. */
const isText = (word: string): boolean => /^[\x21-\x7e]+$/.test(word);
