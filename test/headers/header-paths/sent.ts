import { GatewayError, Secret } from '../../../src/plugin/index.ts';
import type { Exchange, Operation, Target } from '../../../src/core/kernel/index.ts';
import { HttpExchange } from '../../../src/core/http/gateway/exchange.ts';
import { HeaderNames } from '../../../src/core/http/gateway/header-names.ts';
import { placeOf } from '../../../src/core/translate/translation-job.ts';
import { inboundContext } from '../../../src/addons/explain/explain/inbound.ts';
import type { UpstreamInput, Way } from './upstreams.ts';
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { CONNECTION_HEADERS } from '../../../src/core/providers/connection-headers.ts';

/** Requests with every possible header: one per operation and prefix of the gateway's headers. */
export class MarkedRequests {
  readonly #known: UpstreamInput;
  readonly #exchanges = new Map<string, HttpExchange>();

  constructor(known: UpstreamInput) {
    this.#known = known;
  }

  get prefixes(): readonly string[] {
    return this.#known.server.headerPrefixes;
  }

  of(operation: Operation, prefix: string): HttpExchange {
    const key = `${prefix} ${operation.id}`;
    let exchange = this.#exchanges.get(key);
    if (!exchange) this.#exchanges.set(key, (exchange = this.#make(operation, prefix)));
    return exchange;
  }

  #make(operation: Operation, prefix: string): HttpExchange {
    const { settings, server, clock } = this.#known;
    const { method, path } = operation;
    const { req } = inboundContext({ method, path, headers: {}, body: Buffer.alloc(0) });
    req.headers = everyHeader(prefix);
    const snapshot = { hash: settings.hash, headerNames: new HeaderNames([prefix]), server };
    return new HttpExchange(req, { operation, clientFormat: operation.format, params: {}, snapshot, clock });
  }
}

/** A header of the request that occurs in the outbound request. */
export interface FoundMark {
  /** Name of the request's header. */
  readonly mark: string;
  /** Header of the outbound request; undefined: its URL. */
  readonly as: string | undefined;
}

/** The marks that an outbound request would contain, found by the functions that encode and authorize it. */
export async function sentBy(
  exchange: Exchange,
  way: Pick<Way, 'resolved' | 'entry'>,
  { target, upstreamToken }: { target: Target; upstreamToken: string | undefined },
): Promise<readonly FoundMark[]> {
  const { headers, origin, path } = placeOf({ exchange, resolved: way.resolved, attempt: { target } }, undefined);
  const credentials = await credentialsOf(way, upstreamToken);
  // Credentials override other headers, as in `send`.
  const sent = Object.entries({ ...headers, ...credentials });
  return [
    ...marksIn(origin + path).map((mark) => ({ mark, as: undefined })),
    ...sent.flatMap(([as, value]) => marksIn(value).map((mark) => ({ mark, as }))),
  ];
}

async function credentialsOf(
  { entry }: Pick<Way, 'entry'>,
  upstreamToken: string | undefined,
): Promise<Readonly<Record<string, string>>> {
  try {
    const token = upstreamToken === undefined ? undefined : new Secret(upstreamToken, 'caller');
    return await entry.provider.authorize({ upstreamToken: token });
  } catch (error) {
    // The entry is not opened, or needs the caller's own token: it adds no mark.
    if (error instanceof GatewayError) return {};
    throw error;
  }
}

/** No text of the settings contains it. */
const NONCE = randomBytes(8).toString('hex');

/** A text that identifies its header in any output; valid in a header, a token and a list. */
export const mark = (name: string): string => `{${NONCE}:${name}}`;

const MARK = new RegExp(`\\{${NONCE}:([^{}]+)\\}`, 'g');

/** Names of the marks in a text. */
export const marksIn = (text: string): readonly string[] =>
  text.includes(NONCE) ? [...text.matchAll(MARK)].map(([, name]) => name!) : [];

const valueOf = (name: string | symbol): string | undefined =>
  typeof name === 'symbol' || CONNECTION_HEADERS.has(name) ? undefined : mark(name);

/**
 * Headers of a request that has every possible header, each marked with its name. A mark in the output shows which
 * header was read, so no list of headers is needed. Connection headers are absent: the gateway never reads them. A listing
 * has one header of the gateway's, because a request without any is not asked for them by name.
 */
export const everyHeader = (prefix: string): IncomingHttpHeaders =>
  new Proxy<IncomingHttpHeaders>(
    {},
    {
      get: (_, name) => valueOf(name),
      has: (_, name) => valueOf(name) !== undefined,
      ownKeys: () => [`${prefix}any`],
      getOwnPropertyDescriptor(_, name) {
        const value = valueOf(name);
        return value === undefined ? undefined : { value, configurable: true, enumerable: true, writable: true };
      },
    },
  );
