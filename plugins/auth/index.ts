import {
  definePlugin,
  GatewayError,
  Secret,
  type Caller,
  type Exchange,
  type KeyRing,
} from '../../src/plugin/index.ts';

/** Finds the caller by the gateway key, wherever the client's SDK put it. */
export default definePlugin({
  name: 'auth',
  level: 'entry',
  options: { type: 'object', additionalProperties: false, properties: {} },
  needs: ['keys'],
  provides: ['caller'],
  explain({ exchange: { caller, upstreamToken } }) {
    if (!caller) return undefined;
    const own = upstreamToken ? ', with a token of its own for the upstream' : '';
    return {
      does: `key ${caller.keyId}${own}`,
      details: { key: caller.keyId, upstreamToken: upstreamToken !== undefined },
    };
  },
  create({ host }) {
    return function auth({ exchange }, next) {
      const authorization = bearer(exchange.request.headers.authorization);
      const found = findCaller(host.keys, exchange, authorization);
      exchange.caller = found.caller;
      // What is left in Authorization is the caller's own credential for the upstream; a second gateway key never travels.
      const left = authorization !== undefined && authorization !== found.key;
      if (left && !host.keys.find(authorization, exchange.request.remoteAddress))
        exchange.upstreamToken = new Secret(authorization, 'caller');
      return next();
    };
  },
});

function findCaller(
  keys: KeyRing,
  exchange: Exchange,
  authorization: string | undefined,
): { caller: Caller; key: string } {
  const { request } = exchange;
  const candidates = [request.header('api-key'), authorization, single(request.headers['x-api-key'])];
  let presented = false;
  for (const key of candidates) {
    if (!key) continue;
    presented = true;
    const caller = keys.find(key, request.remoteAddress);
    if (caller) return { caller, key };
  }
  throw presented
    ? new GatewayError('invalid_api_key', 'The gateway key is not valid.')
    : new GatewayError(
        'missing_api_key',
        `No gateway key: send it in ${request.headerName('api-key')}, Authorization: Bearer or x-api-key.`,
      );
}

/** The token of an Authorization header, with or without `Bearer` (service.md, section 5). */
function bearer(header: string | undefined): string | undefined {
  const token = header?.replace(/^bearer(?: +|$)/i, '').trim();
  return token === '' ? undefined : token;
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
