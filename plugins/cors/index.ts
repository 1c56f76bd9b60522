import { definePlugin, parseSeconds, type Exchange, type InboundRequest } from '../../src/core/kernel/index.ts';
import type { Reply } from '../../src/plugin/index.ts';

interface CorsOptions {
  readonly origins?: readonly string[];
  readonly methods?: readonly string[];
  readonly headers?: readonly string[];
  readonly expose?: readonly string[];
  readonly credentials?: boolean;
  readonly max_age?: number | string;
}

const METHODS = ['GET', 'POST', 'DELETE'];
const MAX_AGE = '10m';
const LONGEST_MS = 86_400_000;
const TOKEN = "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$";

/**
 * Lets web pages of the listed origins read replies (CORS, https://fetch.spec.whatwg.org/#http-cors-protocol). Stands before
 * `errors`: a page can read errors too, and a preflight, which has no key, is answered before `auth`.
 */
export default definePlugin({
  name: 'cors',
  level: 'entry',
  options: {
    type: 'object',
    additionalProperties: false,
    properties: {
      origins: {
        type: 'array',
        items: {
          type: 'string',
          pattern: '^https?://([a-z0-9.-]+|\\[[0-9a-f:.]+\\])(:[0-9]{1,5})?$',
          examples: ['https://chat.example.com'],
        },
        maxItems: 200,
        uniqueItems: true,
        default: [],
        description:
          'Origins of the pages, exactly as browsers send them: scheme, host in lower case, and the port unless it is the default. There is no `*`.',
      },
      methods: {
        type: 'array',
        items: { type: 'string', pattern: '^[A-Z]{1,20}$', examples: ['GET'] },
        minItems: 1,
        maxItems: 20,
        default: METHODS,
        description: 'Methods that pages may use.',
      },
      headers: {
        type: 'array',
        items: { type: 'string', pattern: TOKEN },
        maxItems: 100,
        description: 'Request headers that pages may send. Default: any, because SDKs send many of their own.',
      },
      expose: {
        type: 'array',
        items: { type: 'string', pattern: TOKEN },
        maxItems: 100,
        default: [],
        description:
          'Reply headers that pages may read, besides those of the gateway: its `x-gateway-*`, request ids, rate limits, and the headers that guide retries.',
      },
      credentials: {
        type: 'boolean',
        default: false,
        description: 'Pages may send cookies and client certificates. Gateway keys in headers need it not.',
      },
      max_age: {
        type: ['integer', 'string'],
        minimum: 0,
        maximum: 86_400,
        pattern: '^[0-9]+(s|m|h)$',
        default: MAX_AGE,
        examples: [MAX_AGE, 600],
        description:
          'Time for which a browser keeps the answer to a preflight, at most `24h`. A number without a unit counts seconds. Chrome keeps none for more than `2h`.',
      },
    },
  },
  explain({ exchange: { request, reply } }, { origins }) {
    const { origin } = request.headers;
    if (origin === undefined) return undefined;
    if (!origins.includes(origin))
      return { does: `${shown(origin)} is not one of the origins: its pages cannot read the reply` };
    const isAnswered = isPreflight(request) && reply?.status === 204;
    return { does: isAnswered ? `answers the preflight of ${origin}` : `lets pages of ${origin} read the reply` };
  },
  create({ options }) {
    const { origins, credentials } = options;
    const allowed = new Set(origins);
    const preflight = preflightHeaders(options);
    const exposed = exposedNames(options.expose ?? []);
    return async function cors({ exchange }, next) {
      const { request } = exchange;
      const { origin } = request.headers;
      const isAllowed = origin !== undefined && allowed.has(origin);
      const isAnswered = isAllowed && isPreflight(request) && hasNoRoute(exchange);
      if (isAnswered) {
        exchange.error = undefined;
        exchange.reply = { status: 204, headers: preflight(request), body: Buffer.alloc(0), stream: false };
      } else await next();
      const { reply } = exchange;
      if (!reply) return;
      const own = isAnswered ? reply.headers : withoutCors(reply);
      // Caches must not give one page the reply to another one.
      own['vary'] = withOrigin(own['vary']);
      if (!isAllowed) return;
      own['access-control-allow-origin'] = origin;
      if (credentials) own['access-control-allow-credentials'] = 'true';
      if (!isAnswered) own['access-control-expose-headers'] = exposed(request);
    };
  },
});

const isPreflight = ({ method, headers }: InboundRequest): boolean =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;

/** No operation has the method OPTIONS. Any other refusal, such as that of a gateway that drains, is not the plugin's to take back. */
const hasNoRoute = ({ error }: Exchange): boolean =>
  error?.code === 'method_not_allowed' || error?.code === 'not_found';

const ANY_TOKENS = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/;

/** The answer to a preflight. The browser itself compares the lists with the request that it wants to send. */
function preflightHeaders({ methods = METHODS, headers, max_age: maxAge = MAX_AGE }: CorsOptions) {
  const maxAgeMs = parseSeconds(maxAge);
  if (maxAgeMs > LONGEST_MS) throw new RangeError('`max_age` must be at most 24h');
  const fixed = {
    'access-control-allow-methods': methods.join(', '),
    'access-control-max-age': String(maxAgeMs / 1000),
  };
  return (request: InboundRequest): Record<string, string> => {
    const asked = request.headers['access-control-request-headers'];
    const may = headers?.join(', ') ?? (typeof asked === 'string' && ANY_TOKENS.test(asked) ? asked : '');
    return {
      ...fixed,
      vary: 'Access-Control-Request-Headers',
      ...(may !== '' && { 'access-control-allow-headers': may }),
    };
  };
}

/** CORS headers of an upstream are for its own pages, not for those of the gateway. */
function withoutCors({ headers }: Reply): Record<string, string> {
  for (const name of Object.keys(headers)) if (name.startsWith('access-control-')) delete headers[name];
  return headers;
}

function withOrigin(vary: string | undefined): string {
  if (vary === undefined || vary === '') return 'Origin';
  return /(?:^|[,\s])(?:origin|\*)(?:$|[,\s])/i.test(vary) ? vary : `${vary}, Origin`;
}

/** Names that the gateway writes under its own prefix. */
const PREFIXED = [
  'request-id',
  'trace-id',
  'explain-id',
  'provider',
  'model',
  'prompt',
  'last-used-option-index',
  'target-name',
  'retry-attempt-count',
  'cache-status',
  'dropped-params',
  'defaulted-params',
  'token-count',
  'config-hash',
  'cost-usd',
];

const LIMITS = ['requests', 'tokens'].flatMap((of) =>
  ['limit', 'remaining', 'reset'].flatMap((part) => [`x-ratelimit-${part}-${of}`, `anthropic-ratelimit-${of}-${part}`]),
);

/** Request ids, rate limits and retries, in the APIs of all clients. */
const PLAIN = [
  'x-request-id',
  'request-id',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'server-timing',
  'openai-processing-ms',
  ...LIMITS,
];

/** The value of Access-Control-Expose-Headers, kept for each prefix of the gateway's headers. */
function exposedNames(more: readonly string[]): (request: InboundRequest) => string {
  const known = new Map<string, string>();
  return (request) => {
    // One name tells the prefix, of which the settings have a few.
    const prefix = request.headerName('');
    let names = known.get(prefix);
    if (names === undefined)
      known.set(prefix, (names = [...PREFIXED.map((name) => prefix + name), ...PLAIN, ...more].join(', ')));
    return names;
  };
}

const shown = (origin: string): string => JSON.stringify(origin.slice(0, 200));
